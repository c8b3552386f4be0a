import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PoolId } from "./domain/pool.ts";
import type { RecipientId, RecipientLoad } from "./domain/recipient.ts";

/** Tells what recipients work on now, and what their work taught about them. */
export interface RecipientLoads {
  /** By recipient; one that never had work may be left out. */
  of(
    sql: Sql,
    tenantId: TenantId,
    poolId: PoolId,
    recipientIds: readonly RecipientId[],
  ): Promise<ReadonlyMap<RecipientId, RecipientLoad>>;
}

/** Whether items wait in a pool or are being worked on. */
export type HasWork = (sql: Sql, tenantId: TenantId, poolId: PoolId) => Promise<boolean>;

/** The loads as the queue's tables have them. */
export const storedLoads: RecipientLoads = {
  async of(sql, tenantId, poolId, recipientIds) {
    const rows = await sql<(RecipientLoad & { id: RecipientId })[]>`
      select wanted.id, s.last_assigned_at, s.ejected_until, s.deprioritized_until,
        (select count(*)::int from queue_items q where q.tenant_id = ${tenantId} and q.pool_id = ${poolId}
          and q.recipient_id = wanted.id and q.state = 'leased') as in_flight
      from unnest(${recipientIds as RecipientId[]}::text[]) as wanted(id)
      left join recipient_states s
        on s.tenant_id = ${tenantId} and s.pool_id = ${poolId} and s.recipient_id = wanted.id`;
    return new Map(rows.map(({ id, ...load }) => [id, load]));
  },
};

/** Whether a pool has work, as the queue's tables have it. */
export const storedWork: HasWork = async (sql, tenantId, poolId) => {
  const [row] = await sql<{ found: boolean }[]>`
    select
      exists (select from queue_items where tenant_id = ${tenantId} and pool_id = ${poolId}
        and state in ('pending', 'held', 'ready'))
      or exists (select from queue_items where tenant_id = ${tenantId} and pool_id = ${poolId} and state = 'leased')
      as found`;
  return row!.found;
};
