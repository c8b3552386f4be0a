import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PoolId } from "./domain/pool.ts";
import type { RecipientId, RecipientLoad } from "./domain/recipient.ts";
import type { RecipientPause } from "./domain/recipient-pause.ts";

/** Reads the current load of recipients and the state learned from their outcomes. */
export interface RecipientLoadReader {
  /** Returns loads by recipient. Recipients that never had work may be missing. */
  readLoads(
    sql: Sql,
    tenantId: TenantId,
    poolId: PoolId,
    recipientIds: readonly RecipientId[],
  ): Promise<ReadonlyMap<RecipientId, RecipientLoad>>;
}

/**
 * Closes the queue of a pool, so that no node can queue items in it any more. Returns false, and closes nothing, if the pool
 * has queued or leased items.
 */
export type CloseQueue = (sql: Sql, tenantId: TenantId, poolId: PoolId) => Promise<boolean>;

/** The number of rows over which the queue spreads a pool's depth counter. */
const depthShards = 16;

/** Reads loads from the tables of the queue. */
export const recipientLoadStore: RecipientLoadReader = {
  async readLoads(sql, tenantId, poolId, recipientIds) {
    const rows = await sql<(Omit<RecipientLoad, "pause"> & NullablePause & { id: RecipientId })[]>`
      select wanted.id, s.last_assigned_at, s.ejected_until, s.deprioritized_until,
        p.cause, p.reason, p.actor, p.anomaly_id, p.paused_at as since, p.resume_at as until,
        (select count(*)::int from queue_items q where q.tenant_id = ${tenantId} and q.pool_id = ${poolId}
          and q.recipient_id = wanted.id and q.state = 'leased') as in_flight
      from unnest(${recipientIds as RecipientId[]}::text[]) as wanted(id)
      left join recipient_states s
        on s.tenant_id = ${tenantId} and s.pool_id = ${poolId} and s.recipient_id = wanted.id
      left join recipient_pauses p on p.tenant_id = ${tenantId} and p.recipient_id = wanted.id`;
    return new Map(
      rows.map(({ id, cause, reason, actor, anomalyId, since, until, ...load }) => {
        const pause = cause === null ? null : { cause, reason, actor, anomalyId, since, until };
        return [id, { ...load, pause: pause as RecipientPause | null }];
      }),
    );
  },
};

/** The columns of a pause; all null without one. */
type NullablePause = { readonly [K in keyof RecipientPause]: RecipientPause[K] | null };

/** Closes the depth counters of a pool. Every statement that queues items increments one of them. */
export const closeEmptyQueue: CloseQueue = async (sql, tenantId, poolId) => {
  // Locks every counter, so that the check sees the items of all statements that have begun to queue some.
  await sql`
    insert into queue_depths (tenant_id, pool_id, shard, depth)
    select ${tenantId}, ${poolId}, shard, 0 from generate_series(0, ${depthShards - 1}::int) shard order by shard
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
