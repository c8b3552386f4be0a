import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";

/** Experiments that ended before a time and still have exposures or scores, the earliest first. */
export async function findEnded(
  sql: Sql,
  endedBefore: Date,
  limit: number,
): Promise<{ readonly tenantId: TenantId; readonly id: string }[]> {
  return sql`
    select tenant_id, id from experiments
    where ended_at < ${endedBefore} and forgotten_at is null
    order by ended_at limit ${limit}`;
}

/** Notes that an experiment has neither exposures nor scores any more. */
export async function markForgotten(sql: Sql, tenantId: TenantId, id: string, now: Date): Promise<void> {
  await sql`update experiments set forgotten_at = ${now} where tenant_id = ${tenantId} and id = ${id}`;
}
