import type { TenantId } from "../../../../platform/access/index.ts";
import { type Fragment, hasKey, lines, type Sql } from "../../../../platform/db/index.ts";
import { leaseBytesMax, selectWithinBytes } from "../../../../platform/paging/index.ts";
import { strictPriorityS } from "../../pools/index.ts";
import { noRequirementsJson } from "../domain/queue-item.ts";
import type { ItemRetry } from "../domain/retry-policy.ts";
import { type AwaitedRow, withAwaitedItems } from "./awaited-items.ts";
import type { Capacities } from "./lease-request.ts";

/** Parameters of a lease statement. */
export interface LeaseParams {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly delivery: "pull" | "push";
  /** Recipients whose items are leased; "" means items without a recipient. */
  readonly recipientIds: readonly string[];
  /** Restricts the lease to these items. */
  readonly ids?: readonly string[] | undefined;
  /** Assigns the leased items to this recipient. */
  readonly assignTo?: string | undefined;
  readonly count: number;
  /** Skips lower ranks, where the caller knows that only dead index entries are left. */
  readonly fromRank?: number | undefined;
  /** The most items that recipients may hold, including the new ones; the caller locks their capacities. */
  readonly bounds?: Capacities | undefined;
  /** How many of the items no worker has requested yet. They leave half of each capacity to other workers. */
  readonly ahead?: number | undefined;
  /** How many requests share the items; 1 by default. Each may get an item of any size. */
  readonly requests?: number | undefined;
  /** The number of the offer that the lease accepts; the item is offered to its recipient instead of ready. */
  readonly offerNumber?: number | undefined;
  /** Leaves out items with requirements. */
  readonly plainOnly?: boolean | undefined;
  readonly leaseS: number;
  /** Start of the leases, by the database's clock; undefined for the start of the transaction. */
  readonly at?: Date | undefined;
  /** Whether each item takes a slot in its concurrency group; the caller locks the groups. */
  readonly takesSlots?: boolean;
  /** The waiting time that one point of priority is worth. */
  readonly ageingMs: number;
  /** The secret from which the tokens of this statement are derived, one for each item. */
  readonly tokenSecret: string;
  readonly shard: number;
}

/** A leased item. */
export interface LeasedRow {
  readonly id: string;
  readonly poolId: string;
  readonly recipientId: string;
  readonly type: string;
  readonly key: string;
  readonly attributes: Record<string, never>;
  readonly payload: Record<string, never>;
  readonly priority: number;
  readonly attempt: number;
  readonly leaseToken: string;
  readonly leaseUntil: Date;
  readonly rank: number;
  /** Its own retries; null if it follows its pool. */
  readonly retry: ItemRetry | null;
  /** Whether it was routed to wait for other items. */
  readonly waited: boolean;
  /** These items, if there are any. */
  readonly after?: readonly AwaitedRow[];
}

/** The queue and recipients to lease from. */
export type LeaseScope = Pick<
  LeaseParams,
  "tenantId" | "poolId" | "delivery" | "recipientIds" | "offerNumber" | "plainOnly"
>;

/**
 * Leases the first unlocked items by rank, unless the queue is paused or its pool disabled. Large items are fewer: the rest
 * stays ready. Leases use the database's clock, so that all nodes agree on their expiry. It is one statement, counts included.
 * Locked items are leased by their places: one that has just been changed is left out.
 */
export async function leaseItems(sql: Sql, params: LeaseParams): Promise<LeasedRow[]> {
  const {
    tenantId,
    poolId,
    recipientIds,
    ids,
    assignTo,
    count,
    fromRank,
    bounds,
    offerNumber,
    requests = 1,
    leaseS,
    ageingMs,
    tokenSecret,
    shard,
  } = params;
  const now = params.at === undefined ? sql`now()` : sql`${params.at}::timestamptz`;
  const bytesMax = leaseBytesMax + requests * itemBytesMax;
  // Besides its own data, an item can carry results of others.
  const isSmall = count * 2 * itemBytesMax <= bytesMax;
  const ready = sql`
    select q.ctid as place, q.id, q.rank ${isSmall ? sql`` : sql`, ${itemBytes(sql)} as bytes`} from queue_items q
    where ${isReady(sql, params)}
      ${fromRank === undefined ? sql`` : sql`and q.rank >= ${fromRank}`}`;
  const order = sql`order by q.rank, q.id limit ${mostPerRecipient(sql, params)} for update skip locked`;
  const picked =
    ids !== undefined && (bounds === undefined || recipientIds.length === 1)
      ? sql`${ready} and q.id = any(${ids as string[]}::text[])
          and q.recipient_id = any(${recipientIds as string[]}::text[]) and ${isQueueActive(sql, tenantId, poolId)} ${order}`
      : recipientIds.length === 1
        ? sql`${ready} and q.recipient_id = ${recipientIds[0]!}
          and ${isQueueActive(sql, tenantId, poolId)} ${order}`
        : sql`
        select each.* from ${wantedRecipients(sql, params)}
        cross join lateral (
          ${ready} ${ids === undefined ? sql`` : sql`and q.id = any(${ids as string[]}::text[])`}
            and q.recipient_id = wanted.recipient_id ${order}
        ) each
        where ${isQueueActive(sql, tenantId, poolId)}
        order by each.rank, each.id limit ${count}`;
  const all = sql`array(select place from picked)`;
  const first = selectWithinBytes(sql, sql`select * from picked`, sql`rank, id`, bytesMax);
  // Running totals cost 1 µs per item. PostgreSQL computes them only if the items are too large together, which is rare.
  const places = isSmall
    ? all
    : sql`case when (select sum(bytes) from picked) < ${bytesMax}::bigint then ${all}
        else array(select place from (${first}) first) end`;
  const rows = await sql<LeasedRow[]>`
    with picked as (${picked}), leased as (
      update queue_items q set state = 'leased',
        recipient_id = ${assignTo === undefined ? sql`q.recipient_id` : assignTo}, attempt = q.attempt + 1,
        leased_at = ${now}, lease_until = ${now} + make_interval(secs => ${leaseS}),
        ${offerNumber === undefined ? sql`` : sql`hold_reason = '', due_at = null,`}
        ${params.takesSlots === true ? sql`has_slot = q.concurrency_group <> '',` : sql``}
        lease_token = encode(substr(sha256((${tokenSecret} || q.id)::bytea), 1, 12), 'hex')
          || case when q.singleton_group || q.debounce_group || q.concurrency_group <> '' then 'g'
            when q.retry is null then 'p' else 'r' end
          || (q.attempt + 1)
      where q.ctid = any(${places})
      returning q.id, q.pool_id, q.recipient_id, q.priority, q.attempt, q.lease_token, q.lease_until, q.rank, q.type,
        q.key, q.attributes, q.payload, q.resume is not null as waited, q.retry
    ), waits as (
      select count(*) as n, coalesce(count(*) * floor(extract(epoch from now()) * 1000)
        - sum(${enqueuedAtMs(sql, sql`${ageingMs}::bigint`)}), 0) as ms from leased
    ), deeper as (
      insert into queue_depths (tenant_id, pool_id, shard, depth)
      select ${tenantId}, ${poolId}, ${shard}, -n from waits where n > 0
      on conflict (tenant_id, pool_id, shard) do update set depth = queue_depths.depth + excluded.depth
    ), counted as (
      insert into queue_daily_counts (tenant_id, pool_id, day, shard, leased, wait_ms)
      select ${tenantId}, ${poolId}, (now() at time zone 'utc')::date, ${shard}, n, ms from waits where n > 0
      on conflict (tenant_id, pool_id, day, shard) do update set
        leased = queue_daily_counts.leased + excluded.leased, wait_ms = queue_daily_counts.wait_ms + excluded.wait_ms
    )
    select * from leased l
    order by l.rank, l.id`;
  return withAwaitedItems(sql, tenantId, rows);
}

/** The attributes and the payload of an item take at most this much, as JSON. */
const itemBytesMax = 256 * 1024;

function itemBytes(sql: Sql): Fragment {
  // Results of other items are counted at their most, without reading them.
  return sql`octet_length(q.payload) + octet_length(q.attributes) + case when q.resume is null then 0 else ${itemBytesMax} end`;
}

/** The recipients whose items are leased. With bounds, each has its capacity; null is no limit. */
function wantedRecipients(sql: Sql, { recipientIds, bounds }: LeaseParams): Fragment {
  if (bounds === undefined) return sql`unnest(${recipientIds as string[]}::text[]) as wanted(recipient_id)`;
  return sql`unnest(${recipientIds as string[]}::text[], ${recipientIds.map((id) => bounds.get(id) ?? null)}::int[])
    as wanted(recipient_id, capacity)`;
}

/** The most items to lease for one recipient: as many as it may still hold. */
function mostPerRecipient(sql: Sql, params: LeaseParams): Fragment {
  const { tenantId, poolId, count, ahead = 0, recipientIds, assignTo, bounds } = params;
  if (bounds === undefined) return sql`${count}`;
  const freePlaces = (recipient: Fragment, capacity: Fragment) =>
    sql`(select least(${count}::bigint, greatest(0, least(${count - ahead}::bigint, ${capacity} - held),
        ${ahead === 0 ? sql`0` : sql`${capacity} / 2 - held`}))
      from (select count(*) as held from queue_items h where h.tenant_id = ${tenantId} and h.pool_id = ${poolId}
        and h.recipient_id = ${recipient} and h.state = 'leased') h)`;
  if (recipientIds.length > 1) {
    return sql`case when wanted.capacity is null then ${count}::bigint
      else ${freePlaces(sql`wanted.recipient_id`, sql`wanted.capacity`)} end`;
  }
  const holder = assignTo ?? recipientIds[0] ?? "";
  const capacity = bounds.get(holder);
  return capacity === undefined ? sql`${count}` : freePlaces(sql`${holder}`, sql`${capacity}::bigint`);
}

/** The recipients that may hold another item; the caller locks their capacities. */
export async function readFreeRecipients(tx: Sql, params: LeaseParams): Promise<string[]> {
  const { tenantId, poolId } = params;
  const rows = await tx<{ recipientId: string }[]>`
    select wanted.recipient_id from ${wantedRecipients(tx, params)}
    where wanted.capacity is null or wanted.capacity > (
      select count(*) from queue_items h where h.tenant_id = ${tenantId} and h.pool_id = ${poolId}
        and h.recipient_id = wanted.recipient_id and h.state = 'leased')`;
  return rows.map(({ recipientId }) => recipientId);
}

/**
 * SQL expression: when an item was enqueued, from its rank. The order of its queue may have changed since; a rank outside of the
 * times up to the year 2109 is that of a strict order.
 */
function enqueuedAtMs(sql: Sql, ageingMs: Fragment): Fragment {
  const strictMs = sql`${strictPriorityS * 1000}::bigint`;
  return sql`(rank + priority * case when rank between 0 and ${strictMs} then ${ageingMs} else ${strictMs} end)`;
}

/** Whether an item could be leased, be it locked or not. */
export async function hasReadyItem(sql: Sql, params: LeaseParams): Promise<boolean> {
  const { tenantId, poolId, recipientIds } = params;
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select from unnest(${recipientIds}::text[]) as wanted(recipient_id) cross join lateral (
        select from queue_items q where ${isReady(sql, params)} and q.recipient_id = wanted.recipient_id
        order by q.rank, q.id limit 1) first
      where ${isQueueActive(sql, tenantId, poolId)}) as found`;
  return row!.found;
}

/** An item without a recipient, with the fields that rules use. */
export interface OfferedItem {
  readonly id: string;
  readonly type: string;
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly requirements: Readonly<Record<string, unknown>>;
  readonly priority: number;
}

/** Reads the first items of a pool by rank that have no recipient. */
export async function readOfferedItems(sql: Sql, tenantId: TenantId, poolId: string, limit: number) {
  return sql<OfferedItem[]>`
    select q.id, q.priority, q.type, q.key, q.attributes, q.requirements from queue_items q
    where q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.state = 'ready' and q.recipient_id = ''
      and q.delivery = 'pull' and q.expires_at > now()
    order by q.rank, q.id limit ${limit}`;
}

/** SQL condition: the item can be leased and has not expired. */
export function isReady(sql: Sql, { tenantId, poolId, delivery, offerNumber, plainOnly }: LeaseScope): Fragment {
  return sql`
    q.tenant_id = ${tenantId} and q.pool_id = ${poolId} and q.delivery = ${delivery} and q.expires_at > now()
      and ${offerNumber === undefined ? sql`q.state = 'ready'` : isOpenOffer(sql, offerNumber)}
      ${plainOnly === true ? sql`and q.requirements = ${noRequirementsJson}` : sql``}`;
}

/** SQL condition: the item is offered with this number, and the offer has not expired. */
export function isOpenOffer(sql: Sql, offerNumber: number): Fragment {
  return sql`q.state = 'held' and q.hold_reason = 'offer' and q.offer_number = ${offerNumber}
    and q.due_at > now()`;
}

/** SQL condition: the queue is not paused and its pool not disabled. Both are read by primary key only, which forces the right index. */
export function isQueueActive(sql: Sql, tenantId: TenantId, poolId: string): Fragment {
  return sql`
    (select s.paused from queue_states s where s.tenant_id = ${tenantId} and s.pool_id = ${poolId}) is not true
    and (select p.status from pools p where p.tenant_id = ${tenantId} and p.id = ${poolId}) is distinct from 'disabled'`;
}

/** Reads whether the queue is not paused and its pool not disabled. */
export async function readQueueActive(sql: Sql, tenantId: TenantId, poolId: string): Promise<boolean> {
  const [row] = await sql<{ active: boolean }[]>`select ${isQueueActive(sql, tenantId, poolId)} as active`;
  return row!.active;
}

/** Locks items until the transaction ends. */
export async function lockItems(tx: Sql, tenantId: TenantId, ids: readonly string[]): Promise<void> {
  await tx`
    select from queue_items where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[])
    order by id for update`;
}

/** Extends leases; returns those that were still held. */
export async function renewLeases(
  sql: Sql,
  renewals: readonly { tenantId: TenantId; poolId: string; id: string; token: string; leaseS: number }[],
): Promise<{ tenantId: string; id: string; leaseUntil: Date }[]> {
  return sql`
    with input as (
      select * from unnest(${renewals.map(({ tenantId }) => tenantId)}::text[], ${renewals.map(({ poolId }) => poolId)}::text[],
        ${renewals.map(({ id }) => id)}::text[], ${renewals.map(({ token }) => token)}::text[],
        ${renewals.map(({ leaseS }) => leaseS)}::int[]) as input(tenant_id, pool_id, id, token, lease_s)
    ), locked as materialized (
      select n.* from (select * from input order by tenant_id collate "C", id collate "C") n cross join lateral (
        select q.lease_token from queue_items q
        where q.tenant_id = n.tenant_id and q.id = n.id and q.pool_id = n.pool_id limit 1 for update
      ) q
      -- Only leased items have a token.
      where q.lease_token = n.token
    )
    update queue_items q set lease_until = greatest(q.lease_until, now() + make_interval(secs => l.lease_s))
    from locked l where ${hasKey(sql, "q", "l")}
    returning q.tenant_id, q.id, q.lease_until`;
}

/** Expires leases immediately; the sweep then returns the items to the queue, as for a crashed worker. */
export async function endLeases(sql: Sql, tenantId: TenantId, leases: readonly Pick<LeasedRow, "id" | "leaseToken">[]) {
  await sql`
    update queue_items q set lease_until = now() - interval '1 millisecond'
    from unnest(${leases.map(({ id }) => id)}::text[], ${leases.map(({ leaseToken }) => leaseToken)}::text[])
      as ended(id, lease_token)
    where q.tenant_id = ${tenantId} and q.id = ended.id and q.lease_token = ended.lease_token and q.state = 'leased'`;
}

/** A lease that no worker has received. */
export interface ReturnedLease {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly leaseToken: string;
  /** The waiting time per point of priority that the lease was counted with. */
  readonly ageingMs: number;
}

/**
 * Undoes leases: the items are ready again with their previous attempt number, and the counts are as before. It is not
 * a failed attempt. Leases that are no longer held are left out. Rows are locked in the global lock order and looked up
 * one by one, as for a completion.
 */
export async function giveBackLeases(sql: Sql, leases: readonly ReturnedLease[], shard: number): Promise<void> {
  const sorted = leases.toSorted((a, b) => (a.tenantId + a.id < b.tenantId + b.id ? -1 : 1));
  await sql`
    with locked as materialized (
      select q.*, n.ageing_ms::bigint as ageing_ms from (
        select * from rows from (
          string_to_table(${lines(sorted, ({ tenantId }) => tenantId)}, E'\\n'),
          string_to_table(${lines(sorted, ({ id }) => id)}, E'\\n'),
          string_to_table(${lines(sorted, ({ leaseToken }) => leaseToken)}, E'\\n'),
          string_to_table(${lines(sorted, ({ ageingMs }) => ageingMs)}, E'\\n')
        ) with ordinality as input(tenant_id, id, token, ageing_ms, nth) order by nth
      ) n cross join lateral (
        select q.ctid as place, q.tenant_id, q.id, q.pool_id, q.lease_token, q.leased_at, q.rank, q.priority
        from queue_items q where q.tenant_id = n.tenant_id and q.id = n.id limit 1 for update
      ) q
      where q.lease_token = n.token
    ), ready as (
      -- The time of the lease before this one is not known.
      update queue_items q set state = 'ready', attempt = q.attempt - 1, lease_token = '', lease_until = null,
        leased_at = case when q.attempt > 1 then q.leased_at end
      where q.ctid = any(array(select place from locked))
      returning q.tenant_id, q.id
    ), waits as (
      -- The day and the waiting time that the lease was counted with.
      select tenant_id, pool_id, (leased_at at time zone 'utc')::date as day, count(*) as n,
        sum(floor(extract(epoch from leased_at) * 1000) - ${enqueuedAtMs(sql, sql`ageing_ms`)}) as ms
      from locked join ready using (tenant_id, id) group by 1, 2, 3
    ), deeper as (
      insert into queue_depths (tenant_id, pool_id, shard, depth)
      select tenant_id, pool_id, ${shard}, sum(n) from waits group by 1, 2 order by 1, 2
      on conflict (tenant_id, pool_id, shard) do update set depth = queue_depths.depth + excluded.depth
    )
    insert into queue_daily_counts (tenant_id, pool_id, day, shard, leased, wait_ms)
    select tenant_id, pool_id, day, ${shard}, -n, -ms from waits order by 1, 2, 3
    on conflict (tenant_id, pool_id, day, shard) do update set
      leased = queue_daily_counts.leased + excluded.leased, wait_ms = queue_daily_counts.wait_ms + excluded.wait_ms`;
}

/** A lease of an item. */
export interface LeaseRef {
  readonly id: string;
  readonly leaseToken: string;
}

/** Finds the leases that are still held and have not expired by the database's clock. */
export async function findHeldLeases(sql: Sql, tenantId: TenantId, leases: readonly LeaseRef[]) {
  return sql<LeaseRef[]>`
    select q.id, q.lease_token
    from unnest(${leases.map(({ id }) => id)}::text[], ${leases.map(({ leaseToken }) => leaseToken)}::text[])
      as asked(id, lease_token)
    cross join lateral (
      select q.id, q.state, q.lease_token, q.lease_until from queue_items q
      where q.tenant_id = ${tenantId} and q.id = asked.id limit 1) q
    where q.state = 'leased' and q.lease_token = asked.lease_token and q.lease_until > now()`;
}
