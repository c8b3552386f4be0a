import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";

/** A pool in which items wait for a recipient. */
export interface WaitingPool {
  readonly tenantId: TenantId;
  readonly poolId: string;
}

/**
 * Pools in which items wait for a decision: undecided items in any pool, and items that nobody was chosen for in pools
 * with recipients. Those of one tenant when it is named. So many from a place on; `last` is where it stopped before the end.
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

/** A recipient of a pool for whom items wait. */
export interface WaitedFor extends WaitingPool {
  readonly recipientId: string;
}

/**
 * Goes through those for whom items can be handed out, so many from a place on, and answers with those who get none now;
 * `last` is where it stopped before the end. It leaps from one to the next: what it costs does not grow with the items.
 */
export async function absentRecipients(
  sql: Sql,
  after: WaitedFor | undefined,
  limit: number,
): Promise<{ absent: readonly WaitedFor[]; last: WaitedFor | undefined }> {
  const { tenantId = "", poolId = "", recipientId = "" } = after ?? {};
  const rows = await sql<(WaitedFor & { nth: number; absent: boolean })[]>`
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

/** Takes items back from recipients who have not begun them, so that somebody else can be found. */
export async function takeBackItems(sql: Sql, from: readonly WaitedFor[], limit: number): Promise<void> {
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

/** A place in the order in which a pool's items are handed out. */
export interface QueuePlace {
  readonly rank: number;
  readonly id: string;
}

/** An item that waits for a recipient, as decisions see it. */
export interface UnassignedItem extends QueuePlace {
  /** Whether it is time to try it again; otherwise it only waits for a free place. */
  readonly due: boolean;
  /** How often a recipient was sought for it in vain. */
  readonly tries: number;
  /** Why the last search was in vain; null when there was none. */
  readonly lastReason: string | null;
  /** Whether its rules were never applied: the call that routed it had no time left. */
  readonly undecided: boolean;
  readonly type: string;
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly requirements: Readonly<Record<string, unknown>>;
  readonly priority: number;
}

/** Which items are looked for. */
export interface UnassignedSearch {
  readonly after: QueuePlace;
  /** How many are looked at, of the undecided ones and of the others. */
  readonly limit: number;
  /** Leaves out all but the undecided ones. */
  readonly undecidedOnly: boolean;
  /** The snapshot of the pool that items are decided with: items that were last tried with another one are due. */
  readonly snapshot: string;
  /** Items that failed for these reasons are taken although they are not due. */
  readonly reasons: readonly string[];
}

/** What a look through a pool found. */
export interface UnassignedPage {
  /**
   * Undecided ones from the front of the queue, and others that are due or wanted, each in order. The two kinds alternate,
   * so that neither keeps the other waiting for as long as more of it come in.
   */
  readonly items: readonly UnassignedItem[];
  /** Where the look stopped before the end; undefined when it came to the end. */
  readonly last: QueuePlace | undefined;
  /** Whether more undecided ones may wait. */
  readonly moreUndecided: boolean;
  /** Whether there was nothing to look at. */
  readonly isEmpty: boolean;
}

/** Looks through items without a recipient, in order. */
export async function unassignedItems(
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
      d.requirements, d.priority
    from looked_at q left join decisions d on q.wanted and d.tenant_id = q.tenant_id and d.id = q.id
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

/** An item that got no recipient. */
export interface Postponed {
  readonly id: string;
  readonly tries: number;
  readonly reason: string;
  /** The snapshot of the pool that it was tried with. */
  readonly snapshot: string;
  readonly retryInS: number;
}

// All nodes decide the same items, and another one may have sent an item on to another pool since it was read: what was
// decided for one pool is written only to items that are still in it.

/** Has items wait before a recipient is sought for them again. They are decided: a worker of the whole pool may lease them. */
export async function postponeItems(sql: Sql, pool: WaitingPool, items: readonly Postponed[]): Promise<void> {
  if (items.length === 0) return;
  const { tenantId, poolId } = pool;
  await sql`
    with input as (
      select * from unnest(${items.map(({ id }) => id)}::text[], ${items.map(({ tries }) => tries)}::int[],
        ${items.map(({ reason }) => reason)}::text[], ${items.map(({ snapshot }) => snapshot)}::text[],
        ${items.map(({ retryInS }) => retryInS)}::float8[]) as input(id, tries, reason, snapshot, retry_in_s)
    ), locked as (
      select q.id from queue_items q join input on q.id = input.id
      where q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.state = 'ready' and q.recipient_id = ''
      order by q.id for update of q skip locked
    )
    update queue_items q set delivery = 'pull', assign_tries = input.tries, assign_reason = input.reason, assign_snapshot = input.snapshot,
      assign_after = now() + make_interval(secs => input.retry_in_s)
    from locked join input on input.id = locked.id where q.tenant_id = ${tenantId} and q.id = locked.id`;
}

/** Lets undecided items be handed out: whoever takes them is not for the service to choose. */
export async function releaseItems(sql: Sql, pool: WaitingPool, ids: readonly string[]): Promise<void> {
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

/** Holds undecided items for as long as a rule says, by the database's clock. */
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

/** Gives items to recipients of their pool; those that somebody else took or sent on meanwhile are left out of the answer. */
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
