import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import { type Page, readKeyset } from "../../../../platform/paging/index.ts";
import { withAwaitedItems } from "../leasing/awaited-items.ts";
import { isOpenOffer, isQueueActive, type LeasedRow } from "../leasing/lease-store.ts";

/** Whom offers are made to. */
export interface Offeree {
  readonly tenantId: TenantId;
  readonly poolId: string;
  /** "" for all recipients of the pool. */
  readonly recipientId: string;
}

/** Identifies an offer of an item to a recipient. */
export interface OfferRef extends Offeree {
  readonly itemId: string;
  readonly number: number;
}

/** An open offer, with the item that is offered. */
export interface OpenOffer extends Omit<LeasedRow, "waited" | "leaseToken" | "leaseUntil" | "rank"> {
  readonly offerNumber: number;
  readonly offeredAt: Date;
  readonly dueAt: Date;
}

/** Reads a page of the open offers of a pool; of one recipient unless it is empty. */
export async function listOpenOffers(sql: Sql, tenantId: TenantId, poolId: string, recipientId: string, page: Page) {
  const where = sql`
    tenant_id = ${tenantId} and pool_id = ${poolId} and state = 'held' and hold_reason = 'offer' and due_at > now()
      ${recipientId === "" ? sql`` : sql`and recipient_id = ${recipientId}`}`;
  const columns = sql`id, pool_id, recipient_id, offer_number, offered_at, due_at, type, key, attributes, payload,
    priority, attempt`;
  return readKeyset<OpenOffer>(sql, { columns, table: "queue_items", where }, page);
}

/** Finds those of the callers that have an open offer. */
export async function findOffered(sql: Sql, offerees: readonly Offeree[]): Promise<Offeree[]> {
  return sql`
    select n.* from unnest(${offerees.map(({ tenantId }) => tenantId)}::text[],
      ${offerees.map(({ poolId }) => poolId)}::text[], ${offerees.map(({ recipientId }) => recipientId)}::text[])
      as n(tenant_id, pool_id, recipient_id)
    where exists (
      select from queue_items q
      where q.tenant_id = n.tenant_id and q.pool_id = n.pool_id and q.recipient_id = n.recipient_id
        and q.state = 'held' and q.hold_reason = 'offer' and q.due_at > now())
    or n.recipient_id = '' and exists (
      select from queue_items q
      where q.tenant_id = n.tenant_id and q.pool_id = n.pool_id and q.state = 'held' and q.hold_reason = 'offer'
        and q.due_at > now())`;
}

/** Why an offer ended without acceptance. */
export interface OfferRefusal {
  readonly reasonCode: string;
  readonly reason: string;
  readonly by: string;
}

/**
 * Ends an open offer because its recipient declines it: the item has no recipient again, and its attempts stay as they are.
 * Returns false when the offer is not open.
 */
export async function declineOffer(tx: Sql, offer: OfferRef, why: OfferRefusal): Promise<boolean> {
  const { tenantId, poolId, itemId, recipientId, number } = offer;
  const rows = await tx`
    with locked as (
      select q.id, q.offered_at from queue_items q
      where q.tenant_id = ${tenantId} and q.id = ${itemId} and q.pool_id = ${poolId} and q.recipient_id = ${recipientId}
        and ${isOpenOffer(tx, number)}
      for update
    ), returned as (
      update queue_items q set ${returnsToQueue(tx)}, ${isRefusedBy(tx, tx`${recipientId}`)}
      from locked where q.tenant_id = ${tenantId} and q.id = locked.id
    )
    insert into queue_offers (tenant_id, item_id, number, pool_id, recipient_id, outcome, offered_at, ended_at,
      reason_code, reason, ended_by)
    select ${tenantId}, id, ${number}, ${poolId}, ${recipientId}, 'declined', offered_at, now(), ${why.reasonCode},
      ${why.reason}, ${why.by}
    from locked returning 1`;
  return rows.length > 0;
}

/** An offer that was not answered in time. */
export interface ExpiredOffer extends OfferRef {
  /** Whether the queue was paused or its pool disabled, so that the recipient could not accept it. */
  readonly withdrawn: boolean;
}

/**
 * Ends offers that have expired by the database's clock. A recipient that could not accept has not refused the item. Other
 * nodes skip the locked items, so each offer is ended once.
 */
export async function expireOffers(tx: Sql, limit: number): Promise<ExpiredOffer[]> {
  return tx<ExpiredOffer[]>`
    with due as (
      select q.tenant_id, q.id, q.pool_id, q.recipient_id, q.offer_number, q.offered_at,
        exists (select from queue_states s where s.tenant_id = q.tenant_id and s.pool_id = q.pool_id and s.paused)
        or exists (select from pools p where p.tenant_id = q.tenant_id and p.id = q.pool_id and p.status = 'disabled')
          as withdrawn
      from queue_items q
      where q.state in ('pending', 'held') and q.due_at <= now() and q.hold_reason = 'offer'
      order by q.due_at limit ${limit} for update skip locked
    ), returned as (
      update queue_items q set ${returnsToQueue(tx)}
      from due where q.tenant_id = due.tenant_id and q.id = due.id and due.withdrawn
    ), refused as (
      update queue_items q set ${returnsToQueue(tx)}, ${isRefusedBy(tx, tx`due.recipient_id`)}
      from due where q.tenant_id = due.tenant_id and q.id = due.id and not due.withdrawn
    ), ended as (
      insert into queue_offers (tenant_id, item_id, number, pool_id, recipient_id, outcome, offered_at, ended_at)
      select tenant_id, id, offer_number, pool_id, recipient_id, case when withdrawn then 'withdrawn' else 'expired' end,
        offered_at, now()
      from due
    )
    select tenant_id, pool_id, id as item_id, recipient_id, offer_number as number, withdrawn from due`;
}

/** SQL assignments: the item waits without a recipient. */
function returnsToQueue(sql: Sql): Fragment {
  return sql`state = 'ready', hold_reason = '', due_at = now(), recipient_id = '', delivery = 'pull', offered_at = null,
    assign_tries = null, assign_reason = null, assign_snapshot = null, assign_after = null`;
}

/** SQL assignments: the recipient has refused the item. */
function isRefusedBy(sql: Sql, recipientId: Fragment): Fragment {
  return sql`refused_by = array_append(array_remove(coalesce(q.refused_by, '{}'), ${recipientId}::text), ${recipientId}::text),
    refused_at = now()`;
}

/** Records the acceptance of an offer, in the transaction that leases its item. */
export async function recordAcceptance(tx: Sql, offer: OfferRef, attempt: number, by: string): Promise<void> {
  const { tenantId, poolId, itemId, recipientId, number } = offer;
  await tx`
    insert into queue_offers (tenant_id, item_id, number, pool_id, recipient_id, outcome, offered_at, ended_at, attempt,
      ended_by)
    select ${tenantId}, ${itemId}, ${number}, ${poolId}, ${recipientId}, 'accepted', q.offered_at, now(), ${attempt}, ${by}
    from queue_items q where q.tenant_id = ${tenantId} and q.id = ${itemId}`;
}

/**
 * Reads the lease that the acceptance of an offer began; undefined when it is no longer held. The attempt does not identify it:
 * a released item repeats its number.
 */
export async function findAcceptedLease(sql: Sql, offer: OfferRef): Promise<LeasedRow | undefined> {
  const { tenantId, poolId, itemId, recipientId, number } = offer;
  const lease = await sql<LeasedRow[]>`
    select q.id, q.pool_id, q.recipient_id, q.type, q.key, q.attributes, q.payload, q.priority, q.attempt, q.lease_token,
      q.lease_until, q.rank, q.resume is not null as waited
    from queue_offers o join queue_items q on q.tenant_id = o.tenant_id and q.id = o.item_id
    where o.tenant_id = ${tenantId} and o.item_id = ${itemId} and o.number = ${number} and o.pool_id = ${poolId}
      and o.recipient_id = ${recipientId} and o.outcome = 'accepted' and q.state = 'leased' and q.attempt = o.attempt
      and q.offer_number = o.number and q.recipient_id = o.recipient_id`.first();
  return lease && (await withAwaitedItems(sql, tenantId, [lease]))[0];
}

/** Why an open offer could not be accepted. */
export interface OfferStatus {
  readonly isOpen: boolean;
  readonly queueActive: boolean;
  /** The number of items that the recipient holds. */
  readonly held: number;
}

export async function readOfferStatus(sql: Sql, offer: OfferRef): Promise<OfferStatus> {
  const { tenantId, poolId, itemId, recipientId, number } = offer;
  const [row] = await sql<OfferStatus[]>`
    select
      exists (select from queue_items q where q.tenant_id = ${tenantId} and q.id = ${itemId} and q.pool_id = ${poolId}
        and q.recipient_id = ${recipientId} and ${isOpenOffer(sql, number)}) as is_open,
      ${isQueueActive(sql, tenantId, poolId)} as queue_active,
      (select count(*)::int from queue_items q where q.tenant_id = ${tenantId} and q.pool_id = ${poolId}
        and q.recipient_id = ${recipientId} and q.state = 'leased') as held`;
  return row!;
}
