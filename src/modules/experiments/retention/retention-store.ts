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

/** Deletes one batch of exposures; returns how many. */
export async function deleteExposures(sql: Sql, tenantId: TenantId, id: string, limit: number): Promise<number> {
  const deleted = await sql`
    delete from experiment_exposures where ctid = any(array(
      select ctid from experiment_exposures where tenant_id = ${tenantId} and experiment_id = ${id} limit ${limit}))`;
  return deleted.count;
}

/** Deletes one batch of scores; returns how many. */
export async function deleteScores(sql: Sql, tenantId: TenantId, id: string, limit: number): Promise<number> {
  const deleted = await sql`
    delete from experiment_scores where ctid = any(array(
      select ctid from experiment_scores where tenant_id = ${tenantId} and experiment_id = ${id} limit ${limit}))`;
  return deleted.count;
}

/** Notes that an experiment has neither exposures nor scores any more. */
export async function markForgotten(sql: Sql, tenantId: TenantId, id: string, now: Date): Promise<void> {
  await sql`update experiments set forgotten_at = ${now} where tenant_id = ${tenantId} and id = ${id}`;
}
