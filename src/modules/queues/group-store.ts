import type { TenantId } from "../../platform/access/index.ts";
import type { Fragment, Sql } from "../../platform/db/index.ts";
import { type ConstraintKind, type GroupState, groupKey } from "./domain/admission-group.ts";

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

/** Reads groups; with a lock they stay as they are until the transaction ends. Those never used are left out. */
export async function readGroups(
  sql: Sql,
  names: readonly GroupName[],
  lock: boolean,
): Promise<ReadonlyMap<string, OwnedGroup>> {
  if (names.length === 0) return new Map();
  const rows = await sql<GroupRow[]>`
    with wanted as (${namesOf(sql, names)})
    select g.tenant_id, g.kind, g.group_id, g.environment_id, g.pool_id, g.item_id, g.since, g.until, g.tat_ms,
      g.in_use, g.cleared_at,
      -- The limit as the pool has it now: one that was lowered holds at once.
      coalesce((select (p.config -> 'admission' -> 'concurrency' ->> 'limit')::int from pools p
        where g.kind = 'concurrency' and p.tenant_id = g.tenant_id and p.id = g.pool_id), g.slots) as slots,
      (select i.state = 'leased' from queue_items i where i.tenant_id = g.tenant_id and i.id = g.item_id) as item_started
    from admission_groups g join wanted using (tenant_id, kind, group_id)
    ${lock ? sql`order by g.tenant_id, g.kind, g.group_id for update of g` : sql``}`;
  return new Map(rows.map((row) => [groupKey(row), ownedGroup(row)]));
}

/** The groups that the items named by other groups belong to: they change hands together with those. */
export async function groupsOfHolders(sql: Sql, names: readonly GroupName[]): Promise<GroupName[]> {
  if (names.length === 0) return [];
  const rows = await sql<
    { tenantId: TenantId; singletonGroup: string; debounceGroup: string; concurrencyGroup: string }[]
  >`
    with wanted as (${namesOf(sql, names)})
    select i.tenant_id, i.singleton_group, i.debounce_group, i.concurrency_group
    from admission_groups g join wanted using (tenant_id, kind, group_id)
    join queue_items i on i.tenant_id = g.tenant_id and i.id = g.item_id
    where i.state in ('pending', 'held', 'ready', 'leased')`;
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
    insert into admission_groups (tenant_id, kind, group_id, environment_id, pool_id, item_id, since, until, tat_ms,
      slots, in_use, updated_at)
    select tenant_id, kind, group_id, environment_id, pool_id, item_id, since, until, tat_ms, slots, in_use, updated_at
    from (${rowsOf(tx, groups, nowMs)}) as input order by tenant_id, kind, group_id
    on conflict do nothing`;
  return done.count;
}

async function updateGroups(tx: Sql, groups: readonly OwnedGroup[], nowMs: number): Promise<number> {
  const done = await tx`
    update admission_groups g set item_id = input.item_id, since = input.since, until = input.until,
      tat_ms = input.tat_ms, slots = input.slots, in_use = input.in_use, updated_at = input.updated_at,
      cleared_at = null, cleared_by = '', cleared_reason = ''
    from (${rowsOf(tx, groups, nowMs)}) as input
    where g.tenant_id = input.tenant_id and g.kind = input.kind and g.group_id = input.group_id`;
  return done.count;
}

function rowsOf(sql: Sql, groups: readonly OwnedGroup[], nowMs: number): Fragment {
  const texts = (value: (group: OwnedGroup) => string) => groups.map(value);
  const numbers = (value: (state: GroupState) => number | undefined) => groups.map(({ state }) => value(state) ?? null);
  return sql`
    select tenant_id, kind, group_id, environment_id, pool_id, item_id, to_timestamp(since_ms / 1000) as since,
      to_timestamp(until_ms / 1000) as until, tat_ms, slots, in_use, ${new Date(nowMs)}::timestamptz as updated_at
    from unnest(
      ${texts(({ tenantId }) => tenantId)}::text[], ${texts(({ kind }) => kind)}::text[],
      ${texts(({ groupId }) => groupId)}::text[], ${texts(({ environmentId }) => environmentId)}::text[],
      ${texts(({ poolId }) => poolId)}::text[], ${texts(({ state }) => state.itemId)}::text[],
      ${numbers(({ sinceMs }) => sinceMs)}::float8[], ${numbers(({ untilMs }) => untilMs)}::float8[],
      ${numbers(({ tatMs }) => tatMs)}::float8[], ${numbers(({ slots }) => slots)}::int[],
      ${numbers(({ inUse }) => inUse)}::int[]
    ) as rows(tenant_id, kind, group_id, environment_id, pool_id, item_id, since_ms, until_ms, tat_ms, slots, in_use)`;
}

function namesOf(sql: Sql, names: readonly GroupName[]): Fragment {
  return sql`
    select distinct * from unnest(${names.map(({ tenantId }) => tenantId)}::text[],
      ${names.map(({ kind }) => kind)}::text[], ${names.map(({ groupId }) => groupId)}::text[])
      as names(tenant_id, kind, group_id)`;
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
