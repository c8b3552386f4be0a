import type { TenantId } from "../platform/access/index.ts";
import type { Clock } from "../platform/clock/clock.ts";
import type { Database } from "../platform/db/index.ts";
import type { EventContext } from "./operations/index.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
}

/** Runs work for a tenant in a transaction, and afterwards what must follow the commit. */
export async function inTenant<T>(
  { db, clock }: Dependencies,
  tenantId: TenantId,
  work: (context: EventContext) => Promise<T>,
): Promise<T> {
  const nowMs = clock.now();
  return db.transaction((sql) => work({ tenantId, sql, nowMs, afterCommit: sql.afterCommit }));
}
