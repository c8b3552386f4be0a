import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";

/** The number of rows that each pool's counts are spread over. */
export const shardCount = 16;

/** Increments of a pool's counts. */
export interface CountChange {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly depth?: number;
  readonly accepted?: number;
  readonly leased?: number;
  readonly waitMs?: number;
  readonly completed?: number;
  readonly failed?: number;
  readonly deadLettered?: number;
}

const zeroCounts = { depth: 0, accepted: 0, leased: 0, waitMs: 0, completed: 0, failed: 0, deadLettered: 0 };

/**
 * Adds to pools' counts in the caller's transaction, in a fixed order. Counts are last in the global lock order (groups,
 * items, counts), so a transaction that holds a count row waits for no other lock.
 */
export async function addCounts(tx: Sql, changes: readonly CountChange[], shard: number): Promise<void> {
  const sums = new Map<string, Required<CountChange>>();
  for (const change of changes) {
    const { tenantId, poolId, depth = 0, accepted = 0, leased = 0, waitMs = 0 } = change;
    const { completed = 0, failed = 0, deadLettered = 0 } = change;
    const key = `${tenantId}${poolId}`;
    const sum = sums.get(key) ?? { ...zeroCounts, tenantId, poolId };
    sums.set(key, {
      tenantId,
      poolId,
      depth: sum.depth + depth,
      accepted: sum.accepted + accepted,
      leased: sum.leased + leased,
      waitMs: sum.waitMs + waitMs,
      completed: sum.completed + completed,
      failed: sum.failed + failed,
      deadLettered: sum.deadLettered + deadLettered,
    });
  }
  const rows = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
  if (rows.length === 0) return;
  const input = rows.map(({ tenantId, poolId, waitMs, deadLettered, ...rest }) => ({
    ...rest,
    tenant_id: tenantId,
    pool_id: poolId,
    wait_ms: Math.round(waitMs),
    dead_lettered: deadLettered,
  }));
  await tx`
    with input as (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json) as input(
        tenant_id text, pool_id text, depth bigint, accepted bigint, leased bigint, wait_ms bigint, completed bigint, failed bigint,
        dead_lettered bigint)
    ), deeper as (
      insert into queue_depths (tenant_id, pool_id, shard, depth)
      select tenant_id, pool_id, ${shard}, depth from input where depth <> 0
      on conflict (tenant_id, pool_id, shard) do update set depth = queue_depths.depth + excluded.depth
    )
    insert into queue_daily_counts (tenant_id, pool_id, day, shard, accepted, leased, wait_ms, completed, failed,
      dead_lettered)
    select tenant_id, pool_id, (now() at time zone 'utc')::date, ${shard}, accepted, leased, wait_ms, completed, failed, dead_lettered
    from input where accepted <> 0 or leased <> 0 or completed <> 0 or failed <> 0 or dead_lettered <> 0
    on conflict (tenant_id, pool_id, day, shard) do update set
      accepted = queue_daily_counts.accepted + excluded.accepted, leased = queue_daily_counts.leased + excluded.leased, wait_ms = queue_daily_counts.wait_ms + excluded.wait_ms,
      completed = queue_daily_counts.completed + excluded.completed, failed = queue_daily_counts.failed + excluded.failed,
      dead_lettered = queue_daily_counts.dead_lettered + excluded.dead_lettered`;
}
