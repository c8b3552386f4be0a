import type { TenantId } from "../../../platform/access/index.ts";
import { type Fragment, lines, type Sql } from "../../../platform/db/index.ts";
import { type ConstraintKind, type GroupRef, type GroupState, groupKey } from "./domain/group.ts";

/** Names one group of one tenant. */
export interface GroupName {
  readonly tenantId: TenantId;
  readonly kind: ConstraintKind;
  readonly groupId: string;
}

/** A group with the tenant and the pool that it belongs to. */
export interface OwnedGroup extends GroupName {
  readonly environmentId: string;
  readonly poolId: string;
  readonly state: GroupState;
  /** Whether there is a row of it. */
  readonly stored: boolean;
}

/** Something changed between the look and the lock: the transaction is to be run again. */
export class Raced extends Error {}

/**
 * Whether a transaction is to be run again. Admission and retries of dead letters lock the groups that exist before they
 * insert new ones; passGroups locks and inserts in one order. Where the two meet in groups of both sorts, PostgreSQL may
 * end one of them as a deadlock.
 */
export function isRace(error: unknown): boolean {
  return error instanceof Raced || (error as { code?: unknown } | null)?.code === "40P01";
}

const triesMax = 8;

/** Runs a transaction again for as long as it loses a race, within reason. */
export async function retryRaces<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (!isRace(error) || tries === triesMax) throw error;
    }
  }
}

interface GroupRow {
  readonly tenantId: TenantId;
  readonly kind: ConstraintKind;
  readonly groupId: string;
  readonly environmentId: string;
  readonly poolId: string;
  readonly itemId: string;
  readonly itemStarted: boolean | null;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly tatMs: number;
  readonly slots: number;
  readonly inUse: number;
  readonly clearedAt: Date | null;
}

/**
 * Reads groups; with a lock they stay as they are until the transaction ends. Those never used are left out.
 * They are locked in one order everywhere, so that nobody waits in a ring.
 */
export async function readGroups(
  sql: Sql,
  names: readonly GroupName[],
  lock: boolean,
): Promise<ReadonlyMap<string, OwnedGroup>> {
  if (names.length === 0) return new Map();
  const rows = await sql<GroupRow[]>`
    select g.* from (${namesOf(sql, names)}) wanted cross join lateral (
      select g.tenant_id, g.kind, g.group_id, g.environment_id, g.pool_id, g.item_id, g.since, g.until, g.tat_ms,
        g.in_use, g.cleared_at,
        -- The limit as the pool has it now: one that was lowered holds at once.
        case when g.kind = 'concurrency' then coalesce((
          select (p.config -> 'admission' -> 'concurrency' ->> 'limit')::int from pools p
          where p.tenant_id = g.tenant_id and p.id = g.pool_id), g.slots) else g.slots end as slots,
        case when g.item_id <> '' then (
          select i.state = 'leased' from queue_items i
          where i.tenant_id = g.tenant_id and i.id = g.item_id) end as item_started
      from admission_groups g
      where g.tenant_id = wanted.tenant_id and g.kind = wanted.kind and g.group_id = wanted.group_id
      limit 1 ${lock ? sql`for update` : sql``}
    ) g`;
  return new Map(rows.map((row) => [groupKey(row), ownedGroup(row)]));
}

/** The groups that the items named by other groups belong to: they change hands together with those. */
export async function groupsOfHolders(sql: Sql, names: readonly GroupName[]): Promise<GroupName[]> {
  if (names.length === 0) return [];
  const rows = await sql<
    { tenantId: TenantId; singletonGroup: string; debounceGroup: string; concurrencyGroup: string }[]
  >`
    select holder.* from (${namesOf(sql, names)}) wanted cross join lateral (
      select i.tenant_id, i.singleton_group, i.debounce_group, i.concurrency_group
      from admission_groups g join queue_items i on i.tenant_id = g.tenant_id and i.id = g.item_id
      where g.tenant_id = wanted.tenant_id and g.kind = wanted.kind and g.group_id = wanted.group_id
        and i.state in ('pending', 'held', 'ready', 'leased')
      limit 1
    ) holder`;
  return rows.flatMap(groupNamesOf);
}

/** Locks the items that have a place or wait in groups that are locked, in the order of their ids, so that they stay as they are. */
export async function lockHolders(tx: Sql, names: readonly GroupName[]): Promise<void> {
  if (names.length === 0) return;
  await tx`
    with holder as materialized (
      select distinct g.tenant_id, g.item_id from (${namesOf(tx, names)}) wanted cross join lateral (
        select g.tenant_id, g.item_id from admission_groups g
        where g.tenant_id = wanted.tenant_id and g.kind = wanted.kind and g.group_id = wanted.group_id
          and g.item_id <> ''
        limit 1
      ) g
    )
    select i.id from (select * from holder order by tenant_id collate "C", item_id collate "C") h cross join lateral (
      select i.id from queue_items i where i.tenant_id = h.tenant_id and i.id = h.item_id limit 1 for update
    ) i`;
}

/** The groups of an item that are given back when it ends. */
export function groupNamesOf(item: {
  readonly tenantId: TenantId;
  readonly singletonGroup: string;
  readonly debounceGroup: string;
  readonly concurrencyGroup: string;
}): GroupName[] {
  const names: GroupName[] = [];
  const { tenantId } = item;
  if (item.singletonGroup !== "") names.push({ tenantId, kind: "singleton", groupId: item.singletonGroup });
  if (item.debounceGroup !== "") names.push({ tenantId, kind: "debounce", groupId: item.debounceGroup });
  if (item.concurrencyGroup !== "") names.push({ tenantId, kind: "concurrency", groupId: item.concurrencyGroup });
  return names;
}

/** Keeps groups as they now are; answers how many rows that were. A new one that somebody else made meanwhile is not one. */
export async function saveGroups(tx: Sql, groups: readonly OwnedGroup[], nowMs: number): Promise<number> {
  if (groups.length === 0) return 0;
  const fresh = groups.filter(({ stored }) => !stored);
  const known = groups.filter(({ stored }) => stored);
  const [inserted, updated] = await Promise.all([
    fresh.length === 0 ? undefined : insertGroups(tx, fresh, nowMs),
    known.length === 0 ? undefined : updateGroups(tx, known, nowMs),
  ]);
  return (inserted ?? 0) + (updated ?? 0);
}

async function insertGroups(tx: Sql, groups: readonly OwnedGroup[], nowMs: number): Promise<number> {
  const done = await tx`${makeGroups(tx, groups, nowMs)}`;
  return done.count;
}

/** Written as an insert, which finds each row by its key; for an update the planner may read the table end to end. */
async function updateGroups(tx: Sql, groups: readonly OwnedGroup[], nowMs: number): Promise<number> {
  const done = await tx`
    insert into admission_groups (${groupColumns(tx)}) ${rowsOf(tx, groups, nowMs)}
    on conflict (tenant_id, kind, group_id) do update set item_id = excluded.item_id, since = excluded.since,
      until = excluded.until, tat_ms = excluded.tat_ms, slots = excluded.slots, in_use = excluded.in_use,
      updated_at = excluded.updated_at, cleared_at = null, cleared_by = '', cleared_reason = ''`;
  return done.count;
}

/**
 * A part of a statement that makes the groups which are not there yet; the others stay as they are, and nobody who has
 * them locked is waited for.
 */
export function makeGroups(sql: Sql, groups: readonly OwnedGroup[], nowMs: number): Fragment {
  return sql`
    insert into admission_groups (${groupColumns(sql)}) ${rowsOf(sql, groups, nowMs)} on conflict do nothing`;
}

/**
 * Takes places in groups that have room for them, whatever else they hold, without a look at them first. Fails with
 * `noRoom` when one of them has none, or has to be looked at: nothing is to be kept then.
 */
export async function passGroups(tx: Sql, groups: readonly OwnedGroup[], nowMs: number): Promise<void> {
  if (groups.length > 0) await tx`with ${roomIn(tx, groups, nowMs)} select room from room`;
}

/**
 * The beginning of a statement that takes places: `room` is true, or else the statement fails.
 *
 * There is room where nobody else has the place of a singleton or waits in a debounce group; and where all before are
 * paid for in a throttle, or another one still has its turn after these, by which the fraction of a millisecond that is
 * cut off its times makes no difference.
 */
export function roomIn(sql: Sql, groups: readonly OwnedGroup[], nowMs: number): Fragment {
  const behindMs = sql`greatest(g.tat_ms - ${nowMs}::float8, 0)`;
  return sql`
    passed as (
      insert into admission_groups as g (${groupColumns(sql)}) ${rowsOf(sql, groups, nowMs)}
      on conflict (tenant_id, kind, group_id) do update set item_id = excluded.item_id, since = excluded.since,
        until = excluded.until + make_interval(secs => floor(${behindMs}) / 1000),
        tat_ms = excluded.tat_ms + ${behindMs}, updated_at = excluded.updated_at
      where g.cleared_at is null and case g.kind
        when 'throttle' then ${behindMs} = 0
          or excluded.until + make_interval(secs => ceil(${behindMs}) / 1000) <= excluded.updated_at
        else g.item_id = '' or g.until <= excluded.updated_at
        end
      returning 1
    ), room as (
      select 1 / (count(*) = ${groups.length})::int = 1 as room from passed
    )`;
}

/** Whether an error is of passGroups, and says that a group has no room. */
export function noRoom(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "22012";
}

function groupColumns(sql: Sql): Fragment {
  return sql`
    tenant_id, kind, group_id, environment_id, pool_id, item_id, since, until, tat_ms, slots, in_use, updated_at`;
}

/**
 * Groups as rows, in order. Every column costs something before its first row, so those that are the same for all, and
 * those that no group among them uses, are not sent as such.
 */
function rowsOf(sql: Sql, unsorted: readonly OwnedGroup[], nowMs: number): Fragment {
  const groups = inOrder(unsorted);
  const has = (...kinds: ConstraintKind[]) => groups.some(({ kind }) => kinds.includes(kind));
  const [held, debounced, throttled, limited] = [
    has("singleton", "debounce"),
    has("debounce"),
    has("throttle"),
    has("concurrency"),
  ];
  const timed = held || throttled;
  const { tenantId, environmentId, poolId } = groups[0]!;
  const ofOne = groups.every((each) => each.poolId === poolId && each.tenantId === tenantId);
  const none = sql``;
  const column = (value: (group: OwnedGroup) => string | number | undefined): Fragment =>
    sql`string_to_table(${lines(groups, value)}, E'\\n', '')`;
  return sql`
    select
      ${ofOne ? sql`${tenantId}::text as tenant_id` : sql`tenant_id`}, kind, group_id,
      ${ofOne ? sql`${environmentId}::text as environment_id` : sql`environment_id`},
      ${ofOne ? sql`${poolId}::text as pool_id` : sql`pool_id`},
      ${held ? sql`coalesce(item_id, '')` : sql`''`} as item_id,
      ${debounced ? sql`to_timestamp(since_ms::float8 / 1000)` : sql`null::timestamptz`} as since,
      ${timed ? sql`to_timestamp(until_ms::float8 / 1000)` : sql`null::timestamptz`} as until,
      ${throttled ? sql`tat_ms::float8` : sql`0`} as tat_ms,
      ${limited ? sql`slots::int` : sql`0`} as slots, ${limited ? sql`in_use::int` : sql`0`} as in_use,
      ${new Date(nowMs)}::timestamptz as updated_at
    from rows from (
      ${ofOne ? none : sql`${column((group) => group.tenantId)},`}
      ${ofOne ? none : sql`${column((group) => group.environmentId)},`}
      ${ofOne ? none : sql`${column((group) => group.poolId)},`}
      ${held ? sql`${column(({ state }) => state.itemId)},` : none}
      ${debounced ? sql`${column(({ state }) => state.sinceMs)},` : none}
      ${timed ? sql`${column(({ state }) => state.untilMs)},` : none}
      ${throttled ? sql`${column(({ state }) => state.tatMs)},` : none}
      ${limited ? sql`${column(({ state }) => state.slots)}, ${column(({ state }) => state.inUse)},` : none}
      ${column(({ kind }) => kind)}, ${column(({ groupId }) => groupId)}
    ) with ordinality as rows(
      ${ofOne ? none : sql`tenant_id, environment_id, pool_id,`} ${held ? sql`item_id,` : none}
      ${debounced ? sql`since_ms,` : none} ${timed ? sql`until_ms,` : none} ${throttled ? sql`tat_ms,` : none}
      ${limited ? sql`slots, in_use,` : none} kind, group_id, nth) order by nth`;
}

/** Names as rows, in order. Whoever joins them looks each up by its key, one after the other. */
function namesOf(sql: Sql, names: readonly GroupName[]): Fragment {
  const wanted = inOrder(names);
  return sql`
    select tenant_id, kind, group_id from rows from (
      string_to_table(${lines(wanted, ({ tenantId }) => tenantId)}, E'\\n'),
      string_to_table(${lines(wanted, ({ kind }) => kind)}, E'\\n'),
      string_to_table(${lines(wanted, ({ groupId }) => groupId)}, E'\\n')
    ) with ordinality as names(tenant_id, kind, group_id, nth) order by nth`;
}

/** Each group once, and in the one order in which all lock and insert them. */
function inOrder<Name extends GroupName>(names: readonly Name[]): Name[] {
  const known = new Map(names.map((name) => [`${name.tenantId}:${groupKey(name)}`, name]));
  return [...known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, name]) => name);
}

function ownedGroup(row: GroupRow): OwnedGroup {
  const { tenantId, kind, groupId, environmentId, poolId, itemId, tatMs, slots, inUse } = row;
  return {
    tenantId,
    kind,
    groupId,
    environmentId,
    poolId,
    stored: true,
    state: {
      kind,
      groupId,
      itemId,
      itemStarted: row.itemStarted === true,
      sinceMs: row.since?.getTime(),
      untilMs: row.until?.getTime(),
      tatMs,
      slots,
      inUse,
      clearedAtMs: row.clearedAt?.getTime(),
    },
  };
}

/** The current states of groups, by groupKey. Groups that were never used are left out. */
export async function readGroupStates(
  sql: Sql,
  tenantId: TenantId,
  refs: readonly GroupRef[],
): Promise<ReadonlyMap<string, GroupState>> {
  const names = refs.map((ref) => ({ ...ref, tenantId }));
  const owned = await readGroups(sql, names, false);
  return new Map([...owned].map(([key, { state }]) => [key, state]));
}
