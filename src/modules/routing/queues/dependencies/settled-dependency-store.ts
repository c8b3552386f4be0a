import type { TenantId } from "../../../../platform/access/index.ts";
import type { Fragment, Sql } from "../../../../platform/db/index.ts";
import type { DependencyOutcome, Resumption } from "../domain/dependency.ts";
import { type ItemKey, keyRows } from "./dependency-store.ts";

export type { ItemKey } from "./dependency-store.ts";

/** An item that waits for others. */
export interface WaitingItem extends ItemKey {
  readonly poolId: string;
}

/** An item with the outcomes of ended items that it waits for. */
export interface SettledItem extends ItemKey {
  readonly outcomes: readonly DependencyOutcome[];
  /** Null if the item does not wait any more, for example because it was cancelled. */
  readonly waiting: { readonly poolId: string; readonly resume: Resumption } | null;
}

/** Finds items for which the outcomes of others are stored. */
export async function findSettled(sql: Sql, limit: number): Promise<SettledItem[]> {
  return sql`
    with settled as (
      select tenant_id, item_id, array_agg(outcome) as outcomes from (
        select tenant_id, item_id, outcome from queue_dependencies where outcome is not null
        order by tenant_id, item_id limit ${limit}) first
      group by tenant_id, item_id
    )
    select s.tenant_id, s.item_id as id, s.outcomes,
      (select json_build_object('poolId', q.pool_id, 'resume', q.resume) from queue_items q
       where q.tenant_id = s.tenant_id and q.id = s.item_id and q.state = 'held' and q.hold_reason = 'dependency')
        as waiting
    from settled s`;
}

/** Locks items that still wait for others, in the global lock order; returns them. */
export async function lockWaitingItems(tx: Sql, items: readonly ItemKey[]): Promise<ItemKey[]> {
  return tx`
    select q.tenant_id, q.id from (
      select * from (${keyRows(tx, items)}) n order by tenant_id collate "C", id collate "C"
    ) n cross join lateral (
      select q.tenant_id, q.id, q.state, q.hold_reason from queue_items q
      where q.tenant_id = n.tenant_id and q.id = n.id limit 1 for update
    ) q
    where q.state = 'held' and q.hold_reason = 'dependency'`;
}

/**
 * Deletes the dependencies of items that have an outcome. A failure that cancels its item stays: it may have been stored after
 * the outcomes were read.
 */
export async function deleteSettled(tx: Sql, items: readonly ItemKey[]): Promise<void> {
  await deleteWhere(
    tx,
    items,
    tx`d.outcome is not null and (d.outcome = 'completed' or not exists (
      select from queue_items q
      where q.tenant_id = d.tenant_id and q.id = d.item_id and q.state = 'held' and q.hold_reason = 'dependency'
        and q.resume ->> 'onFailure' = 'cancel'))`,
  );
}

export async function deleteDependencies(tx: Sql, items: readonly ItemKey[]): Promise<void> {
  await deleteWhere(tx, items, tx`true`);
}

/** Deletes those dependencies `d` of items that meet a condition. Rows are locked in the global lock order. */
async function deleteWhere(tx: Sql, items: readonly ItemKey[], condition: Fragment): Promise<void> {
  await tx`
    with locked as materialized (
      select d.tenant_id, d.item_id, d.on_id
      from (${keyRows(tx, items)}) n join queue_dependencies d on d.tenant_id = n.tenant_id and d.item_id = n.id
      where ${condition}
      order by d.tenant_id, d.item_id, d.on_id for update of d
    )
    delete from queue_dependencies d using locked l
    where d.tenant_id = l.tenant_id and d.item_id = l.item_id and d.on_id = l.on_id`;
}

/** Ends the wait of locked items without dependencies. Some are held for another reason then. Returns their pools. */
export async function releaseItems(tx: Sql, items: readonly ItemKey[]) {
  if (items.length === 0) return [];
  return tx<{ tenantId: TenantId; poolId: string }[]>`
    with free as (
      select q.tenant_id, q.id, to_timestamp((q.resume ->> 'atMs')::float8 / 1000) as due_at,
        q.resume ->> 'reason' as reason
      from (${keyRows(tx, items)}) n join queue_items q on q.tenant_id = n.tenant_id and q.id = n.id
      where not exists (
        select from queue_dependencies d where d.tenant_id = q.tenant_id and d.item_id = q.id)
    )
    update queue_items q set
      state = case when f.due_at > now() then case f.reason when 'not_before' then 'pending' else 'held' end
        else 'ready' end,
      hold_reason = case when f.due_at > now() then f.reason else '' end,
      due_at = greatest(f.due_at, now())
    from free f where q.tenant_id = f.tenant_id and q.id = f.id
    returning q.tenant_id, q.pool_id`;
}
