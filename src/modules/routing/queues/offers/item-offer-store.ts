import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import type { ItemOffer, QueueItem } from "../domain/queue-item.ts";
import { isQueueActive } from "../leasing/lease-store.ts";

export interface NewOffer {
  readonly id: string;
  readonly recipientId: string;
  /** Whether everyone was considered again, so that earlier refusals no longer count. */
  readonly isNewRound: boolean;
}

/** An offer that was made. */
export interface MadeOffer {
  readonly id: string;
  readonly recipientId: string;
  readonly number: number;
  readonly expiresAt: Date;
}

/**
 * Offers waiting items without a recipient, by the database's clock. Returns the offers that were made, without items that
 * were taken or redirected meanwhile. Nothing is offered while the queue is paused, because nobody could accept it.
 */
export async function offerItems(
  tx: Sql,
  { tenantId, poolId }: { readonly tenantId: TenantId; readonly poolId: string },
  offers: readonly NewOffer[],
  timeoutS: number,
): Promise<MadeOffer[]> {
  if (offers.length === 0) return [];
  return tx<MadeOffer[]>`
    with input as (
      select * from unnest(${offers.map(({ id }) => id)}::text[], ${offers.map(({ recipientId }) => recipientId)}::text[],
        ${offers.map(({ isNewRound }) => isNewRound)}::boolean[]) as input(id, recipient_id, is_new_round)
    ), locked as (
      select q.id from queue_items q join input on q.id = input.id
      where q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.state = 'ready' and q.recipient_id = ''
        and ${isQueueActive(tx, tenantId, poolId)}
      order by q.id for update of q skip locked
    )
    update queue_items q set state = 'held', hold_reason = 'offer', recipient_id = input.recipient_id, delivery = 'pull',
      due_at = now() + make_interval(secs => ${timeoutS}), offered_at = now(),
      offer_number = coalesce(q.offer_number, 0) + 1,
      refused_by = case when input.is_new_round then null else q.refused_by end,
      assign_tries = null, assign_reason = null, assign_snapshot = null, assign_after = null
    from locked join input on input.id = locked.id where q.tenant_id = ${tenantId} and q.id = locked.id
    returning q.id, q.recipient_id, q.offer_number as number, q.due_at as expires_at`;
}

/**
 * Offers an item to the recipient that an operator chose, and withdraws its open offer to another one. Undefined when the
 * item is neither ready nor offered.
 */
export function offerItemTo(
  tx: Sql,
  { tenantId, poolId, id }: Pick<QueueItem, "tenantId" | "poolId" | "id">,
  to: { readonly recipientId: string; readonly timeoutS: number; readonly by: string },
) {
  return tx<MadeOffer[]>`
    with locked as (
      select q.* from queue_items q
      where q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.id = ${id}
        and (q.state = 'ready' or q.state = 'held' and q.hold_reason = 'offer')
      for update
    ), ${withdrawOffers(tx, to.by)}
    update queue_items q set state = 'held', hold_reason = 'offer', recipient_id = ${to.recipientId}, delivery = 'pull',
      due_at = now() + make_interval(secs => ${to.timeoutS}), offered_at = now(),
      offer_number = coalesce(q.offer_number, 0) + 1,
      assign_tries = null, assign_reason = null, assign_snapshot = null, assign_after = null
    from locked where q.tenant_id = locked.tenant_id and q.id = locked.id
    returning q.id, q.recipient_id, q.offer_number as number, q.due_at as expires_at`.first();
}

/**
 * Assigns a waiting item to a recipient without an offer; false when the item no longer waits. An open offer is withdrawn, and
 * the item is ready. An item that is held for another reason stays held.
 */
export async function assignItemTo(
  tx: Sql,
  { tenantId, poolId, id }: Pick<QueueItem, "tenantId" | "poolId" | "id">,
  to: { readonly recipientId: string; readonly delivery: string; readonly by: string },
): Promise<boolean> {
  const updated = await tx`
    with locked as (
      select q.* from queue_items q
      where q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.id = ${id} and q.state in ('pending', 'held', 'ready')
      for update
    ), ${withdrawOffers(tx, to.by)}
    update queue_items q set recipient_id = ${to.recipientId}, delivery = ${to.delivery},
      state = case locked.hold_reason when 'offer' then 'ready' else q.state end,
      hold_reason = case locked.hold_reason when 'offer' then '' else q.hold_reason end,
      due_at = case locked.hold_reason when 'offer' then now() else q.due_at end,
      assign_tries = null, assign_reason = null, assign_snapshot = null, assign_after = null
    from locked where q.tenant_id = locked.tenant_id and q.id = locked.id`;
  return updated.count > 0;
}

/** Common table expression: records that the open offers of `locked` items are withdrawn. */
function withdrawOffers(sql: Sql, by: string): Fragment {
  return sql`withdrawn as (
      insert into queue_offers (tenant_id, item_id, number, pool_id, recipient_id, outcome, offered_at, ended_at, ended_by)
      select tenant_id, id, offer_number, pool_id, recipient_id, 'withdrawn', offered_at, now(), ${by}
      from locked where state = 'held' and hold_reason = 'offer'
    )`;
}

const offersPerItemMax = 50;

/** Reads the latest offers of items, oldest first, ended and open ones. Items without offers are left out. */
export async function readItemOffers(sql: Sql, tenantId: TenantId, ids: readonly string[]) {
  if (ids.length === 0) return new Map<string, readonly ItemOffer[]>();
  const rows = await sql<(ItemOffer & { itemId: string })[]>`
    select * from (
      select ended.* from unnest(${ids as string[]}::text[]) as wanted(id) cross join lateral (
        select o.item_id, o.number, o.recipient_id, o.outcome as state, o.offered_at, null::timestamptz as expires_at,
          o.ended_at, o.reason_code, o.reason, o.ended_by
        from queue_offers o where o.tenant_id = ${tenantId} and o.item_id = wanted.id
        order by o.number desc limit ${offersPerItemMax}) ended
      union all
      select q.id, q.offer_number, q.recipient_id, 'open', q.offered_at, q.due_at, null, '', '', '' from queue_items q
      where q.tenant_id = ${tenantId} and q.id = any(${ids as string[]}::text[]) and q.state = 'held'
        and q.hold_reason = 'offer'
    ) offers order by number`;
  return Map.groupBy(rows, ({ itemId }) => itemId);
}
