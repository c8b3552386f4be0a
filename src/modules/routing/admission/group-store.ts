import type { TenantId } from "../../../platform/access/index.ts";
import { type Fragment, lines, type Sql } from "../../../platform/db/index.ts";
import { type ConstraintKind, type GroupRef, type GroupState, groupKey } from "./domain/group.ts";

/** Identifies one group of one tenant. */
export type GroupName = Pick<GroupRow, "tenantId" | "kind" | "groupId">;

/** A group with the tenant and the pool that it belongs to. */
export interface OwnedGroup extends GroupName {
  readonly environmentId: string;
  readonly poolId: string;
  readonly state: GroupState;
  /** Whether the group has a row in the database. */
  readonly stored: boolean;
  /** When an item last used the group; absent if none did before. */
  readonly usedAtMs?: number;
}

/** A group or item changed between the read and the lock; the transaction must be retried. */
export class AdmissionConflict extends Error {}

/**
 * Whether a transaction must be retried. Admission and dead-letter retries lock existing groups before they insert new
 * ones; `claimPlaces` locks and inserts in a single order. When both run on existing and new groups, PostgreSQL may abort
 * one of them as a deadlock.
 */
export function isAdmissionConflict(error: unknown): boolean {
  return error instanceof AdmissionConflict || (error as { code?: unknown } | null)?.code === "40P01";
}

const attemptsMax = 8;

/** Runs a transaction and retries it after conflicts, up to `attemptsMax` attempts. */
export async function retryOnConflict<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!isAdmissionConflict(error) || attempt === attemptsMax) throw error;
    }
  }
}

/** The stored state of a group. */
export interface GroupRow extends GroupRef {
  readonly tenantId: TenantId;
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
  readonly updatedAt: Date;
}

/**
 * Reads groups, by `groupKey`; with `lock` they are locked until the transaction ends. Groups that were never used are
 * omitted. All transactions lock groups in the same order to avoid deadlocks.
 */
export async function readGroups(sql: Sql, names: readonly GroupName[], lock: boolean) {
  if (names.length === 0) return new Map<string, OwnedGroup>();
  const rows = await sql<GroupRow[]>`
    select g.* from (${namesOf(sql, names)}) wanted cross join lateral (
      select g.tenant_id, g.kind, g.group_id, g.environment_id, g.pool_id, g.item_id, g.since, g.until, g.tat_ms,
        g.in_use, g.cleared_at, g.updated_at,
        -- The pool's current limit, so that a lowered limit applies immediately.
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

/** The groups of the items that hold the named groups. They change together with the named ones. */
export async function groupsOfHolders(sql: Sql, names: readonly GroupName[]): Promise<GroupName[]> {
  if (names.length === 0) return [];
  const rows = await sql<GroupMember[]>`
    select holder.* from (${namesOf(sql, names)}) wanted cross join lateral (
      select g.tenant_id, g.item_id from admission_groups g
      where g.tenant_id = wanted.tenant_id and g.kind = wanted.kind and g.group_id = wanted.group_id
      limit 1
    ) g cross join lateral (
      select i.tenant_id, i.singleton_group, i.debounce_group, i.concurrency_group, i.state from queue_items i
      where i.tenant_id = g.tenant_id and i.id = g.item_id
      limit 1
    ) holder
    -- After the search by id, so that the plan cannot read all items of the tenant in these states.
    where holder.state in ('pending', 'held', 'ready', 'leased')`;
  return rows.flatMap(groupNamesOf);
}

/** Locks the items that hold a place or wait in the named groups, in order of their ids. The groups must be locked. */
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

/** An item with the groups that are released when it ends. */
export interface GroupMember {
  readonly tenantId: TenantId;
  readonly singletonGroup: string;
  readonly debounceGroup: string;
  readonly concurrencyGroup: string;
}

/** The groups of an item that are released when it ends. */
export function groupNamesOf(item: GroupMember): GroupName[] {
  const names: GroupName[] = [];
  const { tenantId } = item;
  if (item.singletonGroup !== "") names.push({ tenantId, kind: "singleton", groupId: item.singletonGroup });
  if (item.debounceGroup !== "") names.push({ tenantId, kind: "debounce", groupId: item.debounceGroup });
  if (item.concurrencyGroup !== "") names.push({ tenantId, kind: "concurrency", groupId: item.concurrencyGroup });
  return names;
}

/** Saves groups and returns the number of rows written. A new group that a concurrent transaction inserted first is not counted. */
export async function saveGroups(tx: Sql, groups: readonly OwnedGroup[], nowMs: number): Promise<number> {
  if (groups.length === 0) return 0;
  const fresh = groups.filter(({ stored }) => !stored);
  const known = groups.filter(({ stored }) => stored);
  const [inserted, updated] = await Promise.all([
    fresh.length === 0 ? undefined : insertMissingGroupsSql(tx, fresh, nowMs),
    known.length === 0 ? undefined : updateGroups(tx, known, nowMs),
  ]);
  return (inserted?.count ?? 0) + (updated?.count ?? 0);
}

/** An upsert finds each row by its key; for an update the planner may choose a sequential scan. */
function updateGroups(tx: Sql, groups: readonly OwnedGroup[], nowMs: number) {
  return tx`
    insert into admission_groups (${groupColumns(tx)}) ${rowsOf(tx, groups, nowMs)}
    on conflict (tenant_id, kind, group_id) do update set item_id = excluded.item_id, since = excluded.since,
      until = excluded.until, tat_ms = excluded.tat_ms, slots = excluded.slots, in_use = excluded.in_use,
      updated_at = excluded.updated_at, cleared_at = null, cleared_by = '', cleared_reason = ''`;
}

/**
 * Statement fragment that inserts the groups that do not exist yet. Existing groups stay unchanged, and their locks are
 * not waited for.
 */
export function insertMissingGroupsSql(sql: Sql, groups: readonly OwnedGroup[], nowMs: number): Fragment {
  return sql`
    insert into admission_groups (${groupColumns(sql)}) ${rowsOf(sql, groups, nowMs)} on conflict do nothing`;
}

/**
 * Claims places in groups without reading them first. Fails with an error that `isGroupFull` recognises when a group has
 * no free place or has to be read first; the caller must roll back then.
 */
export async function claimPlaces(tx: Sql, groups: readonly OwnedGroup[], nowMs: number): Promise<void> {
  if (groups.length > 0) await tx`with ${claimPlacesSql(tx, groups, nowMs)} select room from room`;
}

/**
 * The CTEs of a statement that claims places. `room` is true; the statement fails when a group has no free place.
 *
 * A singleton or debounce group has a free place when no other item holds it. A throttle group has one when its backlog is
 * zero, or when it still admits another item after these. In both cases the truncated fraction of a millisecond does not
 * matter.
 */
export function claimPlacesSql(sql: Sql, groups: readonly OwnedGroup[], nowMs: number): Fragment {
  const backlogMs = sql`greatest(g.tat_ms - ${nowMs}::float8, 0)`;
  return sql`
    passed as (
      insert into admission_groups as g (${groupColumns(sql)}) ${rowsOf(sql, groups, nowMs)}
      on conflict (tenant_id, kind, group_id) do update set item_id = excluded.item_id, since = excluded.since,
        until = excluded.until + make_interval(secs => floor(${backlogMs}) / 1000),
        tat_ms = excluded.tat_ms + ${backlogMs}, updated_at = excluded.updated_at
      where g.cleared_at is null and case g.kind
        when 'throttle' then ${backlogMs} = 0
          or excluded.until + make_interval(secs => ceil(${backlogMs}) / 1000) <= excluded.updated_at
        else g.item_id = '' or g.until <= excluded.updated_at
        end
      returning 1
    ), room as (
      select 1 / (count(*) = ${groups.length})::int = 1 as room from passed
    )`;
}

/** Whether `claimPlaces` failed because a group has no free place. */
export function isGroupFull(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "22012";
}

function groupColumns(sql: Sql): Fragment {
  return sql`
    tenant_id, kind, group_id, environment_id, pool_id, item_id, since, until, tat_ms, slots, in_use, updated_at`;
}

/**
 * Groups as rows, in lock order. Each column has a fixed cost, so columns with one common value and columns that no group
 * uses are sent as constants.
 */
function rowsOf(sql: Sql, unsorted: readonly OwnedGroup[], nowMs: number): Fragment {
  const groups = toLockOrder(unsorted);
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

/** Group names as rows, in lock order. A lateral join looks up each one by its key. */
function namesOf(sql: Sql, names: readonly GroupName[]): Fragment {
  const wanted = toLockOrder(names);
  return sql`
    select tenant_id, kind, group_id from rows from (
      string_to_table(${lines(wanted, ({ tenantId }) => tenantId)}, E'\\n'),
      string_to_table(${lines(wanted, ({ kind }) => kind)}, E'\\n'),
      string_to_table(${lines(wanted, ({ groupId }) => groupId)}, E'\\n')
    ) with ordinality as names(tenant_id, kind, group_id, nth) order by nth`;
}

/** Removes duplicates and sorts into the global lock order of groups. */
function toLockOrder<Name extends GroupName>(names: readonly Name[]): Name[] {
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
    usedAtMs: row.updatedAt.getTime(),
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

/** The current states of groups, by `groupKey`. Groups that were never used are omitted. */
export async function readGroupStates(sql: Sql, tenantId: TenantId, refs: readonly GroupRef[]) {
  const names = refs.map((ref) => ({ ...ref, tenantId }));
  const owned = await readGroups(sql, names, false);
  return new Map([...owned].map(([key, { state }]) => [key, state]));
}
