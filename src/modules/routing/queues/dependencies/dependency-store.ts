import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import type { DependencyOutcome } from "../domain/dependency.ts";
import type { ItemState } from "../domain/queue-item.ts";

/** Identifies an item. */
export interface ItemKey {
  readonly tenantId: TenantId;
  readonly id: string;
}

/** An item that others can wait for. */
export interface DependencyState extends ItemKey {
  /** The item itself, or the last item of the chain that replaced it. */
  readonly lastId: string;
  readonly poolId: string;
  readonly state: ItemState;
}

/** The most links of a chain of replacements that are followed. */
const linksMax = 1000;

/** Reads the states of items. An item that another one replaced has the state of the last replacement. */
export async function readDependencies(sql: Sql, items: readonly ItemKey[]): Promise<DependencyState[]> {
  if (items.length === 0) return [];
  const itemWith = (tenantId: Fragment, id: Fragment) => sql`
    cross join lateral (
      select i.id as last_id, i.pool_id, i.state, i.superseded_by_id from all_items i
      where i.tenant_id = ${tenantId} and i.id = ${id} and i.delivery <> 'none' limit 1) i`;
  return sql`
    with recursive chain as (
      select n.tenant_id, n.id, i.*, 1 as links from (${keyRows(sql, items)}) n ${itemWith(sql`n.tenant_id`, sql`n.id`)}
      union all
      select c.tenant_id, c.id, i.*, c.links + 1 from chain c ${itemWith(sql`c.tenant_id`, sql`c.superseded_by_id`)}
      where c.state = 'superseded' and c.superseded_by_id <> '' and c.links < ${linksMax}
    )
    select distinct on (tenant_id, id) tenant_id, id, last_id, pool_id, state from chain
    order by tenant_id, id, links desc`;
}

/** Locks unfinished items and marks them as awaited; returns them. Rows are locked in the global lock order. */
export async function blockWith(tx: Sql, items: readonly ItemKey[]): Promise<ItemKey[]> {
  if (items.length === 0) return [];
  return tx`
    with locked as materialized (
      select q.tenant_id, q.id from (
        select * from (${keyRows(tx, items)}) n order by tenant_id collate "C", id collate "C"
      ) n cross join lateral (
        select q.tenant_id, q.id, q.state from queue_items q where q.tenant_id = n.tenant_id and q.id = n.id
        limit 1 for update
      ) q
      where q.state in ('pending', 'held', 'ready', 'leased')
    ), marked as (
      update queue_items q set blocks = true from locked l
      where q.tenant_id = l.tenant_id and q.id = l.id and q.blocks is not true
    )
    select tenant_id, id from locked`;
}

/** An item that waits for another one; with an outcome if that one has ended. */
export interface Dependency {
  readonly tenantId: TenantId;
  readonly itemId: string;
  readonly onId: string;
  readonly outcome?: DependencyOutcome | undefined;
}

/** Stores what items wait for. */
export async function insertDependencies(tx: Sql, dependencies: readonly Dependency[]): Promise<void> {
  if (dependencies.length === 0) return;
  await tx`
    insert into queue_dependencies (tenant_id, item_id, on_id, outcome)
    select * from unnest(
      ${dependencies.map(({ tenantId }) => tenantId)}::text[], ${dependencies.map(({ itemId }) => itemId)}::text[],
      ${dependencies.map(({ onId }) => onId)}::text[],
      ${dependencies.map(({ outcome }) => outcome ?? null)}::text[])
    on conflict do nothing`;
}

/** Records the outcome of ended items for those that wait for them. Rows are locked in one order to avoid deadlocks. */
export async function settleDependencies(
  tx: Sql,
  ended: readonly (ItemKey & { readonly outcome: DependencyOutcome })[],
): Promise<void> {
  if (ended.length === 0) return;
  await tx`
    with ended as (
      select * from unnest(${ended.map(({ tenantId }) => tenantId)}::text[], ${ended.map(({ id }) => id)}::text[],
        ${ended.map(({ outcome }) => outcome)}::text[]) as ended(tenant_id, id, outcome)
    ), locked as materialized (
      select d.tenant_id, d.item_id, d.on_id, e.outcome
      from ended e join queue_dependencies d on d.tenant_id = e.tenant_id and d.on_id = e.id
      order by d.tenant_id, d.item_id, d.on_id for update of d
    )
    update queue_dependencies d set outcome = l.outcome from locked l
    where d.tenant_id = l.tenant_id and d.item_id = l.item_id and d.on_id = l.on_id`;
}

/** A replaced item and the item that replaced it. */
export interface Replacement extends ItemKey {
  readonly supersededById: string;
}

/**
 * Has the items that wait for replaced items wait for the replacements. A replacement that waits for items itself, or has
 * ended, counts as a failure: otherwise items could wait for each other. An item that replaces what it waits for proceeds.
 * Dependencies are locked in the global lock order.
 */
export async function moveDependencies(tx: Sql, replaced: readonly Replacement[]): Promise<void> {
  if (replaced.length === 0) return;
  await tx`
    with replaced as (
      select * from unnest(${replaced.map(({ tenantId }) => tenantId)}::text[],
        ${replaced.map(({ id }) => id)}::text[], ${replaced.map(({ supersededById }) => supersededById)}::text[])
        as replaced(tenant_id, id, superseded_by_id)
    ), marked as (
      update queue_items q set blocks = true from (select distinct tenant_id, superseded_by_id from replaced) r
      where q.tenant_id = r.tenant_id and q.id = r.superseded_by_id and q.state in ('pending', 'held', 'ready', 'leased')
        and q.hold_reason <> 'dependency'
      returning q.tenant_id, q.id
    ), locked as materialized (
      select d.tenant_id, d.item_id, d.on_id, r.superseded_by_id
      from replaced r join queue_dependencies d on d.tenant_id = r.tenant_id and d.on_id = r.id
      order by d.tenant_id, d.item_id, d.on_id for update of d
    ), moved as (
      delete from queue_dependencies d using locked l
      where d.tenant_id = l.tenant_id and d.item_id = l.item_id and d.on_id = l.on_id
      returning d.tenant_id, d.item_id, l.superseded_by_id
    )
    insert into queue_dependencies (tenant_id, item_id, on_id, outcome)
    select distinct m.tenant_id, m.item_id, m.superseded_by_id,
      case when m.item_id = m.superseded_by_id then 'completed' when k.id is null then 'failed' end
    from moved m left join marked k on k.tenant_id = m.tenant_id and k.id = m.superseded_by_id
    on conflict do nothing`;
}

export function keyRows(sql: Sql, items: readonly ItemKey[]): Fragment {
  return sql`
    select distinct * from unnest(${items.map(({ tenantId }) => tenantId)}::text[], ${items.map(({ id }) => id)}::text[])
      as n(tenant_id, id)`;
}
