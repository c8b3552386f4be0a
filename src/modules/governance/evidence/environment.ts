import type { Context } from "../../../chain/call.ts";
import { requireEnvironmentAccess } from "../../../platform/access/index.ts";
import { notFound, type Sql } from "../../../platform/db/index.ts";
import type { EnvironmentKind } from "./domain/requirements.ts";

/** An environment that the caller may use. */
export interface UsableEnvironment {
  readonly id: string;
  readonly key: string;
  readonly mode: EnvironmentKind;
}

/** Returns an environment, production for an empty id; throws if there is none or the caller may not use it. */
export async function requireEnvironment(context: Context, id: string): Promise<UsableEnvironment> {
  const { sql, tenantId } = context;
  const [found] = await sql<UsableEnvironment[]>`
    select id, key, mode from environments
    where tenant_id = ${tenantId} and status <> 'deleted' and ${id === "" ? sql`key = 'production'` : sql`id = ${id}`}`;
  if (found === undefined) throw notFound("environment");
  requireEnvironmentAccess(context, found.key);
  return found;
}

/** The time of the database, to the millisecond. It decides about leases, deadlines and expiry on every node alike. */
export async function databaseNow(sql: Sql): Promise<Date> {
  const [row] = await sql<{ now: Date }[]>`select date_trunc('milliseconds', clock_timestamp()) as now`;
  return row!.now;
}
