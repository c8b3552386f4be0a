import type { Sql } from "../../../platform/db/index.ts";
import { addToHistory, type HistorySource } from "../../history-source.ts";
import { type PoolReader, usablePools } from "../pools/index.ts";

/** Creates the history of queues. It is derived from the counters that items change anyway, so that items cost nothing more. */
export function createQueueHistory(pools: Pick<PoolReader, "requireKnownPool">): HistorySource {
  return {
    kind: "pool",
    async resolve(context, poolId) {
      await pools.requireKnownPool(context, poolId);
      return poolId;
    },
    visible: ({ sql, tenantId, principal }, environmentId) =>
      sql`select id from pools where ${usablePools(sql, tenantId, principal, environmentId)}`,
    sample: sampleQueues,
  };
}

/**
 * Adds a minute of all queues to the history: what waits and is in progress now, and by how much the daily counts have grown since
 * the last sample. Pools in which nothing waits and nothing happens are left out. Retention keeps the daily counts of yesterday.
 */
async function sampleQueues(tx: Sql, minute: Date): Promise<void> {
  const today = tx`(now() at time zone 'utc')::date`;
  const grown = (column: string) => tx`
    (sum(d.${tx(column)}) - coalesce(max(s.${tx(column)}), 0))::int as ${tx(column)},
    coalesce(sum(d.${tx(column)}) filter (where d.day = ${today}), 0) as ${tx(`${column}_today`)}`;
  // An id begins with its time, in ten digits of the base 32.
  const bornAtMs = tx`(
    select sum((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(oldest.id, n, 1)) - 1)::bigint << (5 * (10 - n)))
    from generate_series(1, 10) n)`;
  await tx`
    with flows as materialized (
      select d.tenant_id, d.pool_id, ${grown("accepted")}, ${grown("completed")}, ${grown("failed")}, ${grown("dead_lettered")}
      from queue_daily_counts d
      left join queue_sampled_counts s on s.tenant_id = d.tenant_id and s.pool_id = d.pool_id and s.day >= ${today} - 1
      where d.day >= coalesce(s.day, ${today})
      group by d.tenant_id, d.pool_id
    ), changed as materialized (
      select * from flows where accepted <> 0 or completed <> 0 or failed <> 0 or dead_lettered <> 0
    ), sampled as (
      insert into queue_sampled_counts (tenant_id, pool_id, day, accepted, completed, failed, dead_lettered)
      select tenant_id, pool_id, ${today}, accepted_today, completed_today, failed_today, dead_lettered_today from changed
      on conflict (tenant_id, pool_id) do update set day = excluded.day, accepted = excluded.accepted,
        completed = excluded.completed, failed = excluded.failed, dead_lettered = excluded.dead_lettered
    ), depths as (
      select tenant_id, pool_id, sum(depth)::int as waiting from queue_depths group by 1, 2 having sum(depth) > 0
    ), parts as (
      select depths.*, 0 as in_progress,
        greatest(0, coalesce(extract(epoch from now()) - ${bornAtMs} / 1000, 0))::int as oldest_age_s,
        0 as accepted, 0 as completed, 0 as failed, 0 as dead_lettered
      from depths left join lateral (
        select q.id from queue_items q where q.tenant_id = depths.tenant_id and q.pool_id = depths.pool_id
          and q.state in ('pending', 'held', 'ready')
        order by q.id limit 1
      ) oldest on true
      union all
      select tenant_id, pool_id, 0, count(*)::int, 0, 0, 0, 0, 0 from queue_items where state = 'leased' group by 1, 2
      union all
      select tenant_id, pool_id, 0, 0, 0, greatest(accepted, 0), greatest(completed, 0), greatest(failed, 0),
        greatest(dead_lettered, 0)
      from changed
    )
    ${addToHistory(
      tx,
      minute,
      tx`select 'pool' as source, tenant_id, pool_id as source_id, sum(waiting)::int as waiting,
          sum(in_progress)::int as in_progress, sum(oldest_age_s)::int as oldest_age_s, sum(accepted)::int as started,
          sum(completed)::int as completed, sum(failed)::int as failed, sum(dead_lettered)::int as dead_lettered
        from parts group by tenant_id, pool_id`,
    )}`;
}
