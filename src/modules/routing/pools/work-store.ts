import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PoolId } from "./domain/pool.ts";
import type { Recipient, RecipientId, RecipientLoad } from "./domain/recipient.ts";
import type { RecipientPause } from "./domain/recipient-pause.ts";

/** Reads the current load of recipients and the state learned from their outcomes. */
export interface RecipientLoadReader {
  /** Returns loads by recipient. Recipients that never had work may be missing. */
  readLoads(
    sql: Sql,
    tenantId: TenantId,
    recipients: readonly Pick<Recipient, "id" | "poolId">[],
  ): Promise<ReadonlyMap<RecipientId, RecipientLoad>>;
}

/**
 * Closes the queue of a pool, so that no node can queue items in it any more. Returns false, and closes nothing, if the pool
 * has queued or leased items.
 */
export type CloseQueue = (sql: Sql, tenantId: TenantId, poolId: PoolId) => Promise<boolean>;

/** Reads loads from the tables of the queue. */
export const recipientLoadStore: RecipientLoadReader = {
  async readLoads(sql, tenantId, recipients) {
    const rows = await sql<(Omit<RecipientLoad, "pause"> & NullablePause & { id: RecipientId })[]>`
      select wanted.id, s.last_assigned_at, s.ejected_until, s.deprioritized_until,
        p.cause, p.reason, p.actor, p.anomaly_id, p.paused_at as since, p.resume_at as until,
        (select count(*)::int from queue_items q where q.tenant_id = ${tenantId} and q.pool_id = wanted.pool_id
          and q.recipient_id = wanted.id and q.state = 'leased') as in_flight
      from unnest(${recipients.map(({ id }) => id)}::text[], ${recipients.map(({ poolId }) => poolId)}::text[])
        as wanted(id, pool_id)
      left join recipient_states s
        on s.tenant_id = ${tenantId} and s.pool_id = wanted.pool_id and s.recipient_id = wanted.id
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
