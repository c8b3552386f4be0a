import type { JsonValue } from "@bufbuild/protobuf";
import type { TenantId } from "../../../../platform/access/index.ts";
import { distinctRecords, type Fragment, hasKey, type Sql } from "../../../../platform/db/index.ts";
import type { GroupMember } from "../../admission/index.ts";
import { type ItemFailure, type ItemState, isEndState } from "../domain/queue-item.ts";
import type { ItemRetry } from "../domain/retry-policy.ts";
import { archiveItems } from "../history/history-store.ts";

/** A requested state transition of one item. */
export interface ItemTransition {
  readonly tenantId: TenantId;
  readonly id: string;
  /** The pool the item must be in. Undefined for any pool: the item may have been redirected. */
  readonly poolId?: string | undefined;
  /**
   * The state the item must be in: leased under this token (and expired, if `overdue`), waiting, waiting or leased
   * ("unfinished"), or ready without a recipient ("unassigned").
   */
  readonly from: { readonly token: string; readonly overdue?: boolean } | "waiting" | "unfinished" | "unassigned";
  readonly to: ItemState;
  /** Delay until the item is due, by the database's clock. */
  readonly dueInMs?: number | undefined;
  readonly holdReason?: string;
  readonly supersededById?: string;
  readonly failure?: ItemFailure;
  /** Reassigns the item; "" leaves it without a recipient. */
  readonly recipientId?: string;
  readonly delivery?: "pull" | "push";
  /** The result of a completed item; undefined for none. */
  readonly result?: JsonValue | undefined;
}

/** An item after its transition, with its previous recipient and state. */
export interface TransitionedItem {
  /** Index of the transition, from 0. Two transitions with different tokens can name the same item. */
  readonly nth: number;
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  readonly recipientId: string;
  readonly fromState: ItemState;
  readonly hadSlot: boolean;
  readonly leasedAt: Date | null;
  readonly attempt: number;
  readonly revived: boolean;
  /** Whether other items wait for this one; null for almost all items. */
  readonly blocks: boolean | null;
  readonly failures: readonly ItemFailure[];
  readonly singletonGroup: string;
  readonly debounceGroup: string;
  readonly concurrencyGroup: string;
  /** The key of the item's decision; empty if it has none. */
  readonly key: string;
  /** The experiments that an ended item is in; null for none. */
  readonly experiments: readonly { readonly id: string }[] | null;
}

export type EndedItem = Pick<TransitionedItem, "tenantId" | "id" | "blocks">;

/**
 * Transitions the items that are in the expected state; other items stay unchanged and are left out of the result.
 * Rows are locked in the global lock order to avoid deadlocks. They are looked up one by one, because for a join the
 * planner may scan all waiting items. Items that end move to the history, except dead letters, which can be retried.
 */
export async function transitionItems(
  tx: Sql,
  transitions: readonly ItemTransition[],
  nowMs: number,
): Promise<TransitionedItem[]> {
  if (transitions.length === 0) return [];
  const now = new Date(nowMs);
  const results = transitions.map(({ result }) => (result === undefined ? null : JSON.stringify(result)));
  const hasResults = results.some((result) => result !== null);
  const mayBeOffered = transitions.some(({ from }) => from === "waiting" || from === "unfinished");
  // Items that end together, or fail together, usually differ in nothing but the columns that are lists here.
  const shared = distinctRecords(
    transitions.map(({ tenantId, poolId, from, to, holdReason = "", supersededById = "", recipientId, delivery }) => ({
      tenant_id: tenantId,
      pool_id: poolId,
      overdue: typeof from === "object" && from.overdue === true,
      waiting: from === "waiting" || from === "unfinished",
      leased: from === "unfinished",
      unassigned: from === "unassigned",
      state: to,
      hold_reason: holdReason,
      superseded_by_id: supersededById,
      recipient_id: recipientId,
      delivery,
      ends: isEndState(to),
      leaves: leavesQueue(to),
    })),
  );
  return tx<TransitionedItem[]>`
    with input as (
      select * from unnest(
        ${transitions.map(({ id }) => id)}::text[], ${shared.places}::int[],
        ${transitions.map(({ from }) => (typeof from === "object" ? from.token : null))}::text[],
        ${transitions.map(({ dueInMs }) => dueInMs ?? null)}::float8[],
        ${transitions.map(({ failure }) => (failure === undefined ? null : JSON.stringify(failure)))}::text[]
        ${hasResults ? tx`, ${results}::text[]` : tx``}
      ) with ordinality as own(id, place, token, due_in_ms, failure ${hasResults ? tx`, result` : tx``}, nth)
      join rows from (
        json_to_recordset(${shared.json}::text::json) as (
          tenant_id text, pool_id text, overdue boolean, waiting boolean, leased boolean, unassigned boolean, state text,
          hold_reason text, superseded_by_id text, recipient_id text, delivery text, ends boolean, leaves boolean)
      ) with ordinality as shared on ordinality = place
    ), locked as materialized (
      select n.*, q.* from (select * from input order by tenant_id collate "C", id collate "C") n cross join lateral (
        select q.state as from_state, q.lease_token, q.lease_until, q.has_slot as had_slot, q.leased_at,
          q.recipient_id as held_by ${mayBeOffered ? tx`, q.pool_id as in_pool, q.hold_reason as held_for, q.offer_number, q.offered_at` : tx``}
        from queue_items q where q.tenant_id = n.tenant_id and q.id = n.id and q.pool_id = coalesce(n.pool_id, q.pool_id)
        limit 1 for update
      ) q
    ), matching as (
      select * from locked l where
        (l.token is not null and l.from_state = 'leased' and l.lease_token = l.token
          and (not l.overdue or l.lease_until < now()))
        or (l.waiting and l.from_state in ('pending', 'held', 'ready'))
        or (l.leased and l.from_state = 'leased')
        or (l.unassigned and l.from_state = 'ready' and l.held_by = '')
    ) ${mayBeOffered ? withdrawOffers(tx) : tx``}, changed as (
      update queue_items q set
        state = l.state, hold_reason = l.hold_reason,
        due_at = now() + make_interval(secs => case l.state when 'ready' then 0 else l.due_in_ms / 1000 end),
        recipient_id = coalesce(l.recipient_id, q.recipient_id), delivery = coalesce(l.delivery, q.delivery),
        ended_at = case when l.ends then ${now}::timestamptz end,
        lease_token = '', lease_until = null, has_slot = false,
        assign_tries = null, assign_reason = null, assign_snapshot = null, assign_after = null,
        failures = case when l.failure is null then q.failures
          else q.failures || (l.failure::jsonb || jsonb_build_object('recipientId', q.recipient_id)) end
      from matching l where ${hasKey(tx, "q", "l")} and not l.leaves
      returning (l.nth - 1)::int as nth, q.tenant_id, q.id, q.pool_id, l.held_by as recipient_id, l.from_state, l.had_slot,
        l.leased_at, q.attempt, q.revived, q.blocks, q.failures, q.singleton_group, q.debounce_group, q.concurrency_group,
        q.key, case when l.ends then q.evidence::json -> 'experiments' end as experiments
    ), ended as (
      delete from queue_items q using matching l where ${hasKey(tx, "q", "l")} and l.leaves
      returning q.*, (l.nth - 1)::int as nth, l.from_state, l.had_slot, l.state as end_state, l.superseded_by_id as replaced_by
        ${hasResults ? tx`, l.result` : tx``}
    ), ${archiveItems(tx, {
      state: tx`e.end_state`,
      endedAt: tx`${now}::timestamptz`,
      doneToken: tx`case e.end_state when 'completed' then e.lease_token else '' end`,
      supersededById: tx`e.replaced_by`,
      ...(hasResults && { result: tx`e.result::json` }),
    })}
    select * from changed
    union all
    select nth, tenant_id, id, pool_id, recipient_id, from_state, had_slot, leased_at, attempt, revived, blocks, failures,
      singleton_group, debounce_group, concurrency_group, key, evidence::json -> 'experiments' as experiments
    from ended`;
}

/** Common table expression: records that the open offers of `matching` items are withdrawn. */
function withdrawOffers(sql: Sql): Fragment {
  return sql`, withdrawn as (
      insert into queue_offers (tenant_id, item_id, number, pool_id, recipient_id, outcome, offered_at, ended_at)
      select tenant_id, id, offer_number, in_pool, held_by, 'withdrawn', offered_at, now() from matching
      where from_state = 'held' and held_for = 'offer'
      on conflict do nothing
    )`;
}

/** Whether an item moves to the history in a state. */
function leavesQueue(state: ItemState): boolean {
  return isEndState(state) && state !== "dead_lettered";
}

/** Finds the pools with items waiting for slots in concurrency groups. A skip scan visits each pool of a group once. */
export async function findPoolsWaitingFor(
  tx: Sql,
  groups: readonly { readonly tenantId: TenantId; readonly groupId: string }[],
): Promise<{ tenantId: TenantId; poolId: string }[]> {
  if (groups.length === 0) return [];
  const waiting = tx`
    q.state = 'ready' and q.concurrency_group <> ''`;
  return tx`
    with recursive freed as (
      select * from unnest(${groups.map(({ tenantId }) => tenantId)}::text[],
        ${groups.map(({ groupId }) => groupId)}::text[]) as freed(tenant_id, group_id)
    ), pool as (
      select f.tenant_id, f.group_id, first.pool_id from freed f cross join lateral (
        select q.pool_id from queue_items q
        where q.tenant_id = f.tenant_id and q.concurrency_group = f.group_id and ${waiting}
        order by q.pool_id limit 1) first
      union all
      select p.tenant_id, p.group_id, next.pool_id from pool p cross join lateral (
        select q.pool_id from queue_items q
        where q.tenant_id = p.tenant_id and q.concurrency_group = p.group_id and q.pool_id > p.pool_id and ${waiting}
        order by q.pool_id limit 1) next
    )
    select distinct tenant_id, pool_id from pool`;
}

/** What an item has that few have: its groups, and its own retries. */
export interface ItemExtras extends GroupMember {
  readonly id: string;
  readonly retry: ItemRetry | null;
}

/**
 * Reads the groups of items, and their own retries, without a lock. Only a dead-letter retry or a redirect to another pool changes an item's
 * groups. No earlier lease or wait survives a retry, and after a redirect the item is not found in its old pool.
 */
export async function readItemExtras(sql: Sql, items: readonly { readonly tenantId: TenantId; readonly id: string }[]) {
  if (items.length === 0) return [];
  return sql<ItemExtras[]>`
    select tenant_id, id, singleton_group, debounce_group, concurrency_group, retry from queue_items
    where (tenant_id, id) in (
      select * from unnest(${items.map(({ tenantId }) => tenantId)}::text[], ${items.map(({ id }) => id)}::text[]))
      and (singleton_group <> '' or debounce_group <> '' or concurrency_group <> '' or retry is not null)`;
}

/** How an item ended, for the holders of its earlier leases. */
export interface FinishedLease {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  /** The token that completed the item; empty when it was not completed. */
  readonly doneToken: string;
  readonly failures: readonly ItemFailure[];
}

/** Reads how items ended whose leases are no longer held. */
export async function readFinishedLeases(
  sql: Sql,
  items: readonly { readonly tenantId: TenantId; readonly id: string }[],
): Promise<FinishedLease[]> {
  if (items.length === 0) return [];
  return sql`
    select q.* from unnest(${items.map(({ tenantId }) => tenantId)}::text[], ${items.map(({ id }) => id)}::text[])
      as wanted(tenant_id, id) cross join lateral (
      select i.tenant_id, i.id, i.pool_id, i.done_token, i.failures from all_items i
      where i.tenant_id = wanted.tenant_id and i.id = wanted.id limit 1) q`;
}
