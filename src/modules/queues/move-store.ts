import type { TenantId } from "../../platform/access/index.ts";
import type { Sql } from "../../platform/db/index.ts";
import type { ItemFailure, ItemState } from "./domain/queue-item.ts";

/** One item on its way from one state to another. */
export interface Move {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  /** Where it must come from: from whoever has (or has had) this lease, from among those that wait, or from either. */
  readonly from: { readonly token: string; readonly overdue?: boolean } | "waiting" | "unfinished";
  readonly to: ItemState;
  readonly dueAtMs?: number | undefined;
  readonly holdReason?: string;
  readonly survivorId?: string;
  readonly failure?: ItemFailure;
  /** Gives the item to somebody else. */
  readonly recipientId?: string;
  readonly delivery?: "pull" | "push";
}

/** An item that was moved: whose it was, where it came from, and what it has been through. */
export interface Moved {
  /** Which of the moves it was, from 0: two that hold different tokens may want the same item. */
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
  readonly failures: readonly ItemFailure[];
  readonly singletonGroup: string;
  readonly debounceGroup: string;
  readonly concurrencyGroup: string;
}

/**
 * Moves items that stand where the move expects them; the others are left as they are and out of the answer.
 * Rows are locked in one order, so that two that move the same items wait and never in a ring.
 */
export async function moveItems(tx: Sql, moves: readonly Move[], nowMs: number): Promise<Moved[]> {
  if (moves.length === 0) return [];
  const ended = new Date(nowMs);
  const rows = moves.map((move, nth) => ({
    nth,
    tenant_id: move.tenantId,
    id: move.id,
    pool_id: move.poolId,
    token: typeof move.from === "object" ? move.from.token : null,
    overdue: typeof move.from === "object" && move.from.overdue === true,
    waiting: move.from === "waiting" || move.from === "unfinished",
    leased: move.from === "unfinished",
    state: move.to,
    due_at: move.dueAtMs === undefined ? null : new Date(move.dueAtMs),
    hold_reason: move.holdReason ?? "",
    survivor_id: move.survivorId ?? "",
    recipient_id: move.recipientId ?? null,
    delivery: move.delivery ?? null,
    failure: move.failure ?? null,
    ended_at: endStates.has(move.to) ? ended : null,
  }));
  return tx<Moved[]>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as input(
        nth int, tenant_id text, id text, pool_id text, token text, overdue boolean, waiting boolean, leased boolean,
        state text, due_at timestamptz, hold_reason text, survivor_id text, recipient_id text, delivery text, failure jsonb, ended_at timestamptz)
    ), locked as (
      select n.nth, q.tenant_id, q.id, q.state as from_state, q.has_slot as had_slot, q.leased_at, q.recipient_id
      from queue_items q join input n on q.tenant_id = n.tenant_id and q.id = n.id and q.pool_id = n.pool_id
      where (n.token is not null and q.state = 'leased' and q.lease_token = n.token
          and (not n.overdue or q.lease_until < now()))
        or (n.waiting and q.state in ('pending', 'held', 'ready'))
        or (n.leased and q.state = 'leased')
      order by q.tenant_id, q.id for update of q
    )
    update queue_items q set
      state = n.state, due_at = n.due_at, hold_reason = n.hold_reason, survivor_id = n.survivor_id,
      recipient_id = coalesce(n.recipient_id, q.recipient_id),
      delivery = coalesce(n.delivery, q.delivery), ended_at = n.ended_at, lease_token = '',
      lease_until = null, has_slot = q.has_slot and n.state = 'ready',
      failures = case when n.failure is null then q.failures
        else q.failures || (n.failure || jsonb_build_object('recipientId', q.recipient_id)) end
    from locked l join input n on l.nth = n.nth
    where q.tenant_id = l.tenant_id and q.id = l.id
    returning l.nth, q.tenant_id, q.id, q.pool_id, l.recipient_id, l.from_state, l.had_slot, l.leased_at, q.attempt, q.revived,
      q.failures, q.singleton_group, q.debounce_group, q.concurrency_group`;
}

const endStates: ReadonlySet<ItemState> = new Set([
  "completed",
  "dead_lettered",
  "cancelled",
  "expired",
  "drained",
  "superseded",
]);

/** Whether a state is an end. */
export function isEnd(state: ItemState): boolean {
  return endStates.has(state);
}

/** A place in a concurrency group that somebody may take. */
export interface FreePlaces {
  readonly tenantId: TenantId;
  readonly groupId: string;
  readonly count: number;
}

/** Gives free places to the items that wait for them, in their order; answers with those that go on. */
export async function promoteItems(
  tx: Sql,
  free: readonly FreePlaces[],
): Promise<{ tenantId: TenantId; id: string; poolId: string; concurrencyGroup: string }[]> {
  if (free.length === 0) return [];
  return tx`
    with free as (
      select * from unnest(${free.map(({ tenantId }) => tenantId)}::text[], ${free.map(({ groupId }) => groupId)}::text[],
        ${free.map(({ count }) => count)}::int[]) as free(tenant_id, group_id, places)
    ), next as (
      select i.tenant_id, i.id from free cross join lateral (
        select tenant_id, id from queue_items q
        where q.tenant_id = free.tenant_id and q.concurrency_group = free.group_id and q.state = 'held'
          and q.hold_reason = 'concurrency'
        order by q.rank, q.id limit free.places for update skip locked
      ) i
    )
    update queue_items q set state = 'ready', hold_reason = '', due_at = null, has_slot = true
    from next where q.tenant_id = next.tenant_id and q.id = next.id
    returning q.tenant_id, q.id, q.pool_id, q.concurrency_group`;
}

/** The groups that items belong to; read without a lock, since they never change. */
export async function groupsOfItems(
  sql: Sql,
  items: readonly { readonly tenantId: TenantId; readonly id: string }[],
): Promise<{ tenantId: TenantId; singletonGroup: string; debounceGroup: string; concurrencyGroup: string }[]> {
  if (items.length === 0) return [];
  return sql`
    select tenant_id, singleton_group, debounce_group, concurrency_group from queue_items
    where (tenant_id, id) in (
      select * from unnest(${items.map(({ tenantId }) => tenantId)}::text[], ${items.map(({ id }) => id)}::text[]))
      and (singleton_group <> '' or debounce_group <> '' or concurrency_group <> '')`;
}
