import type { TenantId } from "../../../platform/access/index.ts";
import { joinSelected, type Sql } from "../../../platform/db/index.ts";

export interface RetentionPool {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly retentionDays: number;
}

/** A pool with the time before which its failed letters are expired. */
export interface Cutoff {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly failedBefore: Date;
}

/** The SQL of the retention of dead letters. It covers all tenants, because one job runs for all of them. */
export function retentionStore(sql: Sql) {
  return {
    /** The next pools after `last`, ordered by tenant and id. */
    async poolsAfter(last: RetentionPool | undefined, defaultDays: number, limit: number): Promise<RetentionPool[]> {
      return sql<RetentionPool[]>`
        select tenant_id, id as pool_id, coalesce((config->'dlq'->>'retentionDays')::float8, ${defaultDays}) as retention_days
        from pools where (tenant_id, id) > (${last?.tenantId ?? ""}, ${last?.poolId ?? ""})
        order by tenant_id, id limit ${limit}`;
    },

    /** Deletes expired letters with their items and decisions; returns their number. */
    async removeFailed(cutoffs: readonly Cutoff[], limit: number): Promise<number> {
      const [row] = await sql<{ count: number }[]>`
        with pool as (${unnested(cutoffs)}),
        picked as (
          select due.* from pool cross join lateral (
            select letter.tenant_id, letter.pool_id, letter.queue_item_id from dead_letters letter
            join queue_items item on item.tenant_id = letter.tenant_id and item.id = letter.queue_item_id
              and item.pool_id = letter.pool_id and item.state = 'dead_lettered'
            where letter.tenant_id = pool.tenant and letter.pool_id = pool.pool and letter.state = 'failed'
              and letter.last_failed_at < failed_before
            order by letter.last_failed_at limit ${limit} for update of item skip locked) due
          limit ${limit}
        ), letters as (
          delete from dead_letters using picked
          where dead_letters.tenant_id = picked.tenant_id and dead_letters.pool_id = picked.pool_id
            and dead_letters.queue_item_id = picked.queue_item_id and state = 'failed'
          returning picked.tenant_id, picked.queue_item_id
        ), items as (
          delete from queue_items using letters where queue_items.tenant_id = letters.tenant_id and id = queue_item_id
        )
        select count(*) from letters`;
      return row!.count;
    },

    /** Deletes letters whose items were retried and have ended; returns their number. */
    async removeEnded(cutoffs: readonly Cutoff[], limit: number): Promise<number> {
      const ended = sql`
        from (${unnested(cutoffs)}) pools
        join dead_letters letter on letter.tenant_id = tenant and pool_id = pool and last_failed_at < failed_before
        where not exists (select from queue_items item where item.tenant_id = letter.tenant_id and item.id = queue_item_id)
        limit ${limit} for update of letter skip locked`;
      const key = ["tenant_id", "pool_id", "queue_item_id"];
      return (await sql`delete from dead_letters using ${joinSelected(sql, "dead_letters", ended, key)}`).count;
    },
  };

  function unnested(cutoffs: readonly Cutoff[]) {
    return sql`
      select * from unnest(${cutoffs.map((each) => each.tenantId)}::text[], ${cutoffs.map((each) => each.poolId)}::text[],
        ${cutoffs.map((each) => each.failedBefore.toISOString())}::timestamptz[]) as pools(tenant, pool, failed_before)`;
  }
}
