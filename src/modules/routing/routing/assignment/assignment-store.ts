import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { OfferedItem } from "../../queues/index.ts";

/** A pool in which items wait for a recipient. */
export interface WaitingPool {
  readonly tenantId: TenantId;
  readonly poolId: string;
}

/**
 * One page of the pools in which items wait for a decision: undecided items in any pool, and items without a recipient in
 * pools with recipients. Restricted to one tenant when it is given. `last` is undefined on the last page.
 */
export async function poolsWithUnassigned(
  sql: Sql,
  { after, limit, tenantId = "" }: { after: WaitingPool | undefined; limit: number; tenantId?: string | undefined },
): Promise<{ pools: readonly WaitingPool[]; last: WaitingPool | undefined }> {
  const pools = await sql<WaitingPool[]>`
    select p.tenant_id, p.id as pool_id from pools p
    where p.status in ('active', 'draining') ${tenantId === "" ? sql`` : sql`and p.tenant_id = ${tenantId}`}
      ${after === undefined ? sql`` : sql`and (p.tenant_id, p.id) > (${after.tenantId}, ${after.poolId})`} and (
      exists (select from queue_items q where q.tenant_id = p.tenant_id and q.pool_id = p.id and q.state = 'ready'
        and q.delivery = 'undecided')
      or p.strategy not in ('first_accept', 'manual')
        and exists (select from recipients r
          where r.tenant_id = p.tenant_id and r.pool_id = p.id and r.status = 'active')
        and exists (select from queue_items q where q.tenant_id = p.tenant_id and q.pool_id = p.id
          and q.state = 'ready' and q.recipient_id = ''))
    order by p.tenant_id, p.id limit ${limit}`;
  return { pools, last: pools.length < limit ? undefined : pools.at(-1) };
}

/** The items of a pool that wait for one recipient. */
export interface RecipientQueue extends WaitingPool {
  readonly recipientId: string;
}

/**
 * Scans one page of the recipients with ready items and returns the absent ones: paused, offline or removed. `last` is
 * undefined on the last page. The query skips from one recipient to the next, so its cost does not depend on the number of
 * items.
 */
export async function absentRecipients(sql: Sql, after: RecipientQueue | undefined, limit: number) {
  const { tenantId = "", poolId = "", recipientId = "" } = after ?? {};
  const rows = await sql<(RecipientQueue & { nth: number; absent: boolean })[]>`
    with recursive waited as (
      (select tenant_id, pool_id, recipient_id, 1 as nth from queue_items
       where state = 'ready' and (tenant_id, pool_id, recipient_id) > (${tenantId}, ${poolId}, ${recipientId})
       order by tenant_id, pool_id, recipient_id limit 1)
      union all
      select next.*, waited.nth + 1 from waited cross join lateral (
        select q.tenant_id, q.pool_id, q.recipient_id from queue_items q
        where q.state = 'ready'
          and (q.tenant_id, q.pool_id, q.recipient_id) > (waited.tenant_id, waited.pool_id, waited.recipient_id)
        order by q.tenant_id, q.pool_id, q.recipient_id limit 1) next
      where waited.nth < ${limit}
    )
    select * from (
      select w.tenant_id, w.pool_id, w.recipient_id, w.nth, w.recipient_id <> ''
        and coalesce(r.status, 'removed') in ('paused', 'offline', 'removed') as absent
      from waited w left join recipients r on r.tenant_id = w.tenant_id and r.id = w.recipient_id
    ) looked where absent or nth = ${limit}`;
  return { absent: rows.filter(({ absent }) => absent), last: rows.find(({ nth }) => nth === limit) };
}

/** Unassigns items that their recipients have not started, so that another recipient can be chosen. */
export async function unassignItems(sql: Sql, from: readonly RecipientQueue[], limit: number): Promise<void> {
  if (from.length === 0) return;
  await sql`
    with back as (
      select q.tenant_id, q.id from unnest(${from.map(({ tenantId }) => tenantId)}::text[],
        ${from.map(({ poolId }) => poolId)}::text[], ${from.map(({ recipientId }) => recipientId)}::text[])
        as absent(tenant_id, pool_id, recipient_id)
      join queue_items q on q.tenant_id = absent.tenant_id and q.pool_id = absent.pool_id
        and q.recipient_id = absent.recipient_id and q.state = 'ready'
      limit ${limit} for update of q skip locked
    )
    update queue_items q set recipient_id = '', delivery = 'pull'
    from back where q.tenant_id = back.tenant_id and q.id = back.id`;
}

/** A position in the lease order of a pool's items. */
export interface QueuePosition {
  readonly rank: number;
  readonly id: string;
}

/** An item that waits for a recipient, with the fields that decisions need. */
export interface UnassignedItem extends QueuePosition, Omit<OfferedItem, "id"> {
  /** Whether the item is due for another search; otherwise it only waits for a free place. */
  readonly due: boolean;
  /** The number of unsuccessful searches for a recipient. */
  readonly tries: number;
  /** Why the last search was unsuccessful; null when there was none. */
  readonly lastReason: string | null;
  /** Whether its rules were never evaluated because the budget of the routing call was exhausted. */
  readonly undecided: boolean;
  /** Recipients that refused the item since everyone was last considered; null when nobody did. */
  readonly refusedBy: readonly string[] | null;
  /** Seconds since the last refusal; null when there was none. */
  readonly refusedForS: number | null;
}

/** Parameters of a search for items without a recipient. */
export interface UnassignedSearch {
  readonly after: QueuePosition;
  /** The maximum number of undecided items, and of other items, to read. */
  readonly limit: number;
  /** Omits all but the undecided items. */
  readonly undecidedOnly: boolean;
  /** The pool's current snapshot. Items that were last tried with another snapshot are due. */
  readonly snapshot: string;
  /** Items whose last search failed for one of these reasons are included although they are not due. */
  readonly reasons: readonly string[];
}

/** The result of a search in a pool. */
export interface UnassignedPage {
  /**
   * Undecided items from the front of the queue, and other items that are due or match the reasons, each in order. The two
   * kinds alternate, so that neither can starve the other.
   */
  readonly items: readonly UnassignedItem[];
  /** The last position that was read; undefined at the end of the queue. */
  readonly last: QueuePosition | undefined;
  /** Whether more undecided items may wait. */
  readonly moreUndecided: boolean;
  /** Whether no item was read. */
  readonly isEmpty: boolean;
}

/** Reads one page of the items without a recipient, in order. */
export async function readUnassignedItems(
  sql: Sql,
  { tenantId, poolId }: WaitingPool,
  { after, limit, undecidedOnly, snapshot, reasons }: UnassignedSearch,
): Promise<UnassignedPage> {
  const own = sql`q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.state = 'ready' and q.recipient_id = ''`;
  const columns = sql`q.tenant_id, q.id, q.rank, q.delivery = 'undecided' as undecided, q.assign_reason,
    coalesce(q.assign_tries, 0) as tries`;
  const others = sql`
    union all (
      select ${columns},
        q.assign_after is null or q.assign_after <= now() or q.assign_snapshot is distinct from ${snapshot} as due
      from queue_items q
      where ${own} and q.delivery <> 'undecided' and (q.rank, q.id) > (${after.rank}::bigint, ${after.id})
      order by q.rank, q.id limit ${limit})`;
  const rows = await sql<(UnassignedItem & { wanted: boolean })[]>`
    with looked_at as (
      select *, due or assign_reason = any(${reasons as string[]}::text[]) as wanted from (
        (select ${columns}, true as due from queue_items q where ${own} and q.delivery = 'undecided'
         order by q.rank, q.id limit ${limit})
        ${undecidedOnly ? sql`` : others}
      ) q
    )
    select q.id, q.rank, q.due, q.tries, q.assign_reason as last_reason, q.undecided, coalesce(q.wanted, false) as wanted, d.type, d.key, d.attributes,
      d.requirements, d.decided_priority as priority, d.refused_by, d.refused_for_s
    from looked_at q left join lateral (
      select d.type, d.key, d.attributes, d.requirements, d.decided_priority, d.refused_by,
        extract(epoch from now() - d.refused_at)::float8 as refused_for_s
      from queue_items d
      where q.wanted and d.tenant_id = q.tenant_id and d.id = q.id limit 1) d on true
    order by q.undecided desc, q.rank, q.id`;
  const decided = rows.filter(({ undecided }) => !undecided);
  return {
    items: alternate(
      rows.filter(({ undecided }) => undecided),
      decided.filter(({ wanted }) => wanted),
    ),
    last: decided.length < limit ? undefined : decided.at(-1),
    moreUndecided: rows.length - decided.length === limit,
    isEmpty: rows.length === 0,
  };
}

function alternate<T>(ones: readonly T[], others: readonly T[]): T[] {
  const both: T[] = [];
  for (let nth = 0; nth < Math.max(ones.length, others.length); nth++) {
    both.push(...ones.slice(nth, nth + 1), ...others.slice(nth, nth + 1));
  }
  return both;
}

/** An item for which no recipient was found. */
export interface PostponedItem {
  readonly id: string;
  readonly tries: number;
  readonly reason: string;
  /** The pool snapshot of the search. */
  readonly snapshot: string;
  readonly retryInS: number;
  /** Whether everyone was considered again, so that earlier refusals no longer count. */
  readonly isNewRound: boolean;
}

// All nodes decide the same items, and another node may have redirected an item to another pool since it was read.
// Therefore a decision is written only to items that are still in its pool.

/** Delays the next search for items. They count as decided. */
export async function postponeItems(sql: Sql, pool: WaitingPool, items: readonly PostponedItem[]): Promise<void> {
  if (items.length === 0) return;
  const { tenantId, poolId } = pool;
  await sql`
    with input as (
      select * from unnest(${items.map(({ id }) => id)}::text[], ${items.map(({ tries }) => tries)}::int[],
        ${items.map(({ reason }) => reason)}::text[], ${items.map(({ snapshot }) => snapshot)}::text[],
        ${items.map(({ retryInS }) => retryInS)}::float8[], ${items.map(({ isNewRound }) => isNewRound)}::boolean[])
        as input(id, tries, reason, snapshot, retry_in_s, is_new_round)
    ), locked as (
      select q.id from queue_items q join input on q.id = input.id
      where q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.state = 'ready' and q.recipient_id = ''
      order by q.id for update of q skip locked
    )
    update queue_items q set delivery = 'pull', assign_tries = input.tries, assign_reason = input.reason, assign_snapshot = input.snapshot,
      assign_after = now() + make_interval(secs => input.retry_in_s),
      refused_by = case when input.is_new_round then null else q.refused_by end
    from locked join input on input.id = locked.id where q.tenant_id = ${tenantId} and q.id = locked.id`;
}

/** Makes undecided items available for leasing, in pools where the service does not choose recipients. */
export async function makeLeasable(sql: Sql, pool: WaitingPool, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const { tenantId, poolId } = pool;
  await sql`
    with locked as (
      select q.id from queue_items q
      where q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.id = any(${ids as string[]}::text[])
        and q.state = 'ready' and q.recipient_id = '' and q.delivery = 'undecided'
      order by q.id for update of q skip locked
    )
    update queue_items q set delivery = 'pull' from locked where q.tenant_id = ${tenantId} and q.id = locked.id`;
}

/** An undecided item that a rule holds. */
export interface HeldItem {
  readonly id: string;
  readonly holdS: number;
}

/** Holds undecided items for the duration that a rule sets, by the database's clock. */
export async function holdItems(sql: Sql, pool: WaitingPool, items: readonly HeldItem[]): Promise<void> {
  if (items.length === 0) return;
  const { tenantId, poolId } = pool;
  await sql`
    with input as (
      select * from unnest(${items.map(({ id }) => id)}::text[], ${items.map(({ holdS }) => holdS)}::float8[])
        as input(id, hold_s)
    ), locked as (
      select q.id from queue_items q join input on q.id = input.id
      where q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.state = 'ready' and q.recipient_id = ''
        and q.delivery = 'undecided'
      order by q.id for update of q skip locked
    )
    update queue_items q set state = 'held', hold_reason = 'rule', delivery = 'pull',
      due_at = now() + make_interval(secs => input.hold_s)
    from locked join input on input.id = locked.id where q.tenant_id = ${tenantId} and q.id = locked.id`;
}

/** Assigns items to recipients of their pool. Returns the assigned ids, without items that were taken or redirected meanwhile. */
export async function assignItems(
  tx: Sql,
  { tenantId, poolId }: WaitingPool,
  assignments: readonly { readonly id: string; readonly recipientId: string; readonly delivery: string }[],
): Promise<ReadonlySet<string>> {
  const rows = await tx<{ id: string }[]>`
    with input as (
      select * from unnest(${assignments.map(({ id }) => id)}::text[], ${assignments.map(({ recipientId }) => recipientId)}::text[],
        ${assignments.map(({ delivery }) => delivery)}::text[]) as input(id, recipient_id, delivery)
    ), locked as (
      select q.id from queue_items q join input on q.id = input.id
      where q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.state = 'ready' and q.recipient_id = ''
      order by q.id for update of q skip locked
    )
    update queue_items q set recipient_id = input.recipient_id, delivery = input.delivery, assign_tries = null,
      assign_reason = null, assign_snapshot = null, assign_after = null
    from locked join input on input.id = locked.id where q.tenant_id = ${tenantId} and q.id = locked.id
    returning q.id`;
  return new Set(rows.map(({ id }) => id));
}
