import type { CloseQueue } from "../pools/index.ts";
import { shardCount } from "./transitions/queue-counts.ts";

/** Closes the queue of a pool by its depth counters. Every statement that queues items increments one of them. */
export const closeEmptyQueue: CloseQueue = async (sql, tenantId, poolId) => {
  // Locks every counter, so that the check sees the items of all statements that have begun to queue some.
  await sql`
    insert into queue_depths (tenant_id, pool_id, shard, depth)
    select ${tenantId}, ${poolId}, shard, 0 from generate_series(0, ${shardCount - 1}::int) shard order by shard
    on conflict (tenant_id, pool_id, shard) do update set depth = queue_depths.depth`;
  const [row] = await sql<{ found: boolean }[]>`
    select
      exists (select from queue_items where tenant_id = ${tenantId} and pool_id = ${poolId}
        and state in ('pending', 'held', 'ready'))
      or exists (select from queue_items where tenant_id = ${tenantId} and pool_id = ${poolId} and state = 'leased')
      as found`;
  if (row!.found) return false;
  await sql`
    update queue_depths set depth = 0, closed = true where tenant_id = ${tenantId} and pool_id = ${poolId}`;
  return true;
};
