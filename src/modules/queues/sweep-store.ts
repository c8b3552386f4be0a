import type { TenantId } from "../../platform/access/index.ts";
import type { Sql } from "../../platform/db/index.ts";
import type { HoldReason } from "./domain/queue-item.ts";

/** A lease that has ended without a word from its worker. */
export interface OverdueLease {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  readonly leaseToken: string;
}

/** Finds leases that have ended, by the database's clock. */
export async function overdueLeases(sql: Sql, limit: number): Promise<OverdueLease[]> {
  return sql`
    select tenant_id, id, pool_id, lease_token from queue_items
    where state = 'leased' and lease_until < now() and delivery <> 'none' order by lease_until limit ${limit}`;
}

/** Ends what only counted as in flight and of which no outcome was told in time; answers how many. */
export async function endUntold(sql: Sql, nowMs: number, limit: number): Promise<number> {
  const ended = await sql`
    update queue_items set state = 'completed', ended_at = ${new Date(nowMs)}, lease_until = null
    where ctid = any(array(
      select ctid from queue_items where state = 'leased' and lease_until < now() and delivery = 'none'
      order by lease_until limit ${limit} for update skip locked))`;
  return ended.count;
}

/** An item whose time has come. */
export interface DueItem {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  readonly holdReason: HoldReason;
  readonly singletonGroup: string;
  readonly debounceGroup: string;
  readonly throttleGroup: string;
  readonly concurrencyGroup: string;
}

/** Lets items go on that nothing else holds; answers with their pools. */
export async function readyDueItems(
  sql: Sql,
  nowMs: number,
  limit: number,
): Promise<{ tenantId: TenantId; poolId: string }[]> {
  return sql`
    with due as (
      select tenant_id, id from queue_items
      where state in ('pending', 'held') and due_at <= ${new Date(nowMs)} and debounce_group = ''
        and concurrency_group = ''
      order by due_at limit ${limit} for update skip locked
    )
    update queue_items q set state = 'ready', hold_reason = '', due_at = null
    from due where q.tenant_id = due.tenant_id and q.id = due.id
    returning q.tenant_id, q.pool_id`;
}

/** Finds items whose time has come but who have to ask their groups. */
export async function dueInGroups(sql: Sql, nowMs: number, limit: number): Promise<DueItem[]> {
  return sql`
    select tenant_id, id, pool_id, hold_reason, singleton_group, debounce_group, throttle_group, concurrency_group
    from queue_items
    where state in ('pending', 'held') and due_at <= ${new Date(nowMs)}
      and (debounce_group <> '' or concurrency_group <> '')
    order by due_at limit ${limit}`;
}

/** Locks those that are still due, in one order; the others are left out. */
export async function lockDue(tx: Sql, items: readonly DueItem[], nowMs: number): Promise<ReadonlySet<string>> {
  const rows = await tx<{ id: string }[]>`
    select q.id from queue_items q
    where (q.tenant_id, q.id) in (
      select * from unnest(${items.map(({ tenantId }) => tenantId)}::text[], ${items.map(({ id }) => id)}::text[]))
      and q.state in ('pending', 'held') and q.due_at <= ${new Date(nowMs)}
    order by q.tenant_id, q.id for update`;
  return new Set(rows.map(({ id }) => id));
}

/** How an item goes on. */
export interface Onward {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly state: "ready" | "held";
  readonly dueAtMs: number | undefined;
  readonly holdReason: string;
  readonly hasSlot: boolean;
}

/** Has locked items go on. */
export async function goOn(tx: Sql, items: readonly Onward[]): Promise<void> {
  await tx`
    update queue_items q set state = n.state, due_at = to_timestamp(n.due_at_ms / 1000), hold_reason = n.hold_reason,
      has_slot = n.has_slot = 1
    from unnest(
      ${items.map(({ tenantId }) => tenantId)}::text[], ${items.map(({ id }) => id)}::text[],
      ${items.map(({ state }) => state)}::text[], ${items.map(({ dueAtMs }) => dueAtMs ?? null)}::float8[],
      ${items.map(({ holdReason }) => holdReason)}::text[], ${items.map(({ hasSlot }) => Number(hasSlot))}::int[]
    ) as n(tenant_id, id, state, due_at_ms, hold_reason, has_slot)
    where q.tenant_id = n.tenant_id and q.id = n.id`;
}

/** When there is next something to do: an item falls due or a lease ends; undefined when nothing waits for a time. */
export async function nextMoment(sql: Sql, nowMs: number): Promise<number | undefined> {
  const [row] = await sql<{ dueAt: Date | null; leaseInMs: number | null }[]>`
    select (select min(due_at) from queue_items where state in ('pending', 'held') and due_at is not null) as due_at,
      (select extract(epoch from min(lease_until) - now()) * 1000 from queue_items where state = 'leased')::float8
        as lease_in_ms`;
  const moments = [row!.dueAt?.getTime(), row!.leaseInMs === null ? undefined : nowMs + row!.leaseInMs];
  const known = moments.filter((each) => each !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Items that have waited longer than they may. */
export async function outlivedItems(
  sql: Sql,
  nowMs: number,
  limit: number,
): Promise<{ tenantId: TenantId; id: string; poolId: string }[]> {
  const now = new Date(nowMs);
  return sql`
    (select tenant_id, id, pool_id from queue_items
     where own_ttl and state in ('pending', 'held', 'ready') and expires_at <= ${now}
     order by expires_at limit ${limit})
    union all
    (select oldest.tenant_id, oldest.id, oldest.pool_id
     from (select distinct tenant_id, pool_id from queue_depths where depth <> 0) pool
     cross join lateral (
       select q.tenant_id, q.id, q.pool_id, q.expires_at from queue_items q
       where q.tenant_id = pool.tenant_id and q.pool_id = pool.pool_id and q.state in ('pending', 'held', 'ready')
         and not q.own_ttl
       order by q.id limit 100
     ) oldest
     where oldest.expires_at <= ${now} limit ${limit})`;
}

/** Concurrency groups in which items wait, a page at a time. */
export async function groupsWithWaiters(
  sql: Sql,
  limit: number,
): Promise<{ tenantId: TenantId; poolId: string; concurrencyGroup: string }[]> {
  return sql`
    select distinct on (tenant_id, concurrency_group) tenant_id, pool_id, concurrency_group from queue_items
    where state = 'held' and hold_reason = 'concurrency'
    order by tenant_id, concurrency_group limit ${limit}`;
}

/** Removes what ended before a moment, with its decision; a bite at a time. Dead letters stay with their own module. */
export async function forgetEnded(sql: Sql, before: Date, limit: number): Promise<number> {
  const gone = await sql`
    with old as (
      select tenant_id, id from queue_items
      where ended_at < ${before} and state <> 'dead_lettered' limit ${limit} for update skip locked
    ), items as (
      delete from queue_items q using old where q.tenant_id = old.tenant_id and q.id = old.id
    )
    delete from decisions d using old where d.tenant_id = old.tenant_id and d.id = old.id`;
  return gone.count;
}
