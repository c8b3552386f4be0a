import type { TenantId } from "../../platform/access/index.ts";
import type { Fragment, Sql } from "../../platform/db/index.ts";
import { type ConstraintKind, type GroupState, groupKey } from "./domain/admission-group.ts";
import { lines } from "./lines.ts";

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
  const done = await tx`
    insert into admission_groups (${groupColumns(tx)}) ${rowsOf(tx, groups, nowMs)}
    on conflict do nothing`;
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

function groupColumns(sql: Sql): Fragment {
  return sql`
    tenant_id, kind, group_id, environment_id, pool_id, item_id, since, until, tat_ms, slots, in_use, updated_at`;
}

/** Groups as rows, in order. */
function rowsOf(sql: Sql, unsorted: readonly OwnedGroup[], nowMs: number): Fragment {
  const groups = inOrder(unsorted);
  return sql`
    select tenant_id, kind, group_id, environment_id, pool_id, coalesce(item_id, '') as item_id,
      to_timestamp(since_ms::float8 / 1000) as since, to_timestamp(until_ms::float8 / 1000) as until,
      tat_ms::float8 as tat_ms, slots::int as slots, in_use::int as in_use,
      ${new Date(nowMs)}::timestamptz as updated_at
    from rows from (
      string_to_table(${lines(groups, ({ tenantId }) => tenantId)}, E'\\n', ''),
      string_to_table(${lines(groups, ({ kind }) => kind)}, E'\\n', ''),
      string_to_table(${lines(groups, ({ groupId }) => groupId)}, E'\\n', ''),
      string_to_table(${lines(groups, ({ environmentId }) => environmentId)}, E'\\n', ''),
      string_to_table(${lines(groups, ({ poolId }) => poolId)}, E'\\n', ''),
      string_to_table(${lines(groups, ({ state }) => state.itemId)}, E'\\n', ''),
      string_to_table(${lines(groups, ({ state }) => state.sinceMs)}, E'\\n', ''),
      string_to_table(${lines(groups, ({ state }) => state.untilMs)}, E'\\n', ''),
      string_to_table(${lines(groups, ({ state }) => state.tatMs)}, E'\\n', ''),
      string_to_table(${lines(groups, ({ state }) => state.slots)}, E'\\n', ''),
      string_to_table(${lines(groups, ({ state }) => state.inUse)}, E'\\n', '')
    ) with ordinality as rows(tenant_id, kind, group_id, environment_id, pool_id, item_id, since_ms, until_ms, tat_ms,
      slots, in_use, nth) order by nth`;
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
