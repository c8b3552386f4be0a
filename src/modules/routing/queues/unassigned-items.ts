import type { TenantId } from "../../../platform/access/index.ts";
import type { Sql } from "../../../platform/db/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { groupNamesOf, retryOnConflict } from "../admission/index.ts";
import type { DeadLetters, RefusedItem, RequeuedItem } from "../dead-letters/index.ts";
import type { PoolReader, PoolSnapshot } from "../pools/index.ts";
import {
  type AdmissionOf,
  type AdmissionRequests,
  admissionRequests,
  lockRound,
  readRequestedItems,
} from "./intake/dead-letter-readmission.ts";
import { applyTransitions, applyTransitionsUncounted } from "./transitions/item-transitions.ts";
import { addCounts, shardCount } from "./transitions/queue-counts.ts";
import { type ItemTransition, readItemExtras, type TransitionedItem } from "./transitions/transition-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "shares"> {
  readonly pools: Pick<PoolReader, "snapshot">;
  readonly admissionOf: AdmissionOf;
  readonly deadLetters: Pick<DeadLetters, "record" | "changePool">;
  readonly events: EventRecorder;
  readonly wake: (tenantId: string, poolId: string) => void;
  /** Called with the time at which an item is due. */
  readonly sweepBy: (atMs: number) => void;
}

/** Waiting items of one pool that have no recipient. */
export interface UnassignedBatch {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly ids: readonly string[];
}

/** Handles items for which their pool has no recipient. */
export interface UnassignedItems {
  /**
   * Redirects the items to another pool, if they are still in their pool and have no recipient. They leave the groups of
   * their pool and pass the constraints of the other pool like new items.
   */
  redirect(items: UnassignedBatch, toPoolId: string, nowMs: number): Promise<void>;
  /** Dead-letters the items, if they are still in their pool and have no recipient. */
  deadLetter(items: UnassignedBatch, reasonCode: string, maxRetries: number, nowMs: number): Promise<void>;
}

/** Dead-letter reason for an item that the target pool's constraints reject. */
const rejectedReason = "admission_rejected";

export function createUnassignedItems(dependencies: Dependencies): UnassignedItems {
  const { db, pools, shares, admissionOf, deadLetters, events, wake, sweepBy } = dependencies;

  /** Records dead letters and their events for items that were dead-lettered. */
  async function recordDeadLetters(
    tx: Sql,
    poolId: string,
    transitioned: readonly TransitionedItem[],
    why: DeadLetterReason,
    nowMs: number,
  ) {
    const { tenantId, reasonCode, maxRetries } = why;
    const letters = transitioned.map(({ id, failures }) => ({
      poolId,
      queueItemId: id,
      reasonCode,
      phase: "work" as const,
      attempts: failures,
      maxRetries,
      failedAt: new Date(nowMs),
    }));
    await deadLetters.record(tx, tenantId, letters);
    const entries = transitioned.map(({ id, attempt }) => ({
      tenantId,
      type: "queue.item.dead_lettered" as const,
      subject: id,
      data: { pool_id: poolId, recipient_id: "", attempt, reason_code: reasonCode, phase: "work" },
    }));
    await events.recordMany(tx, entries, nowMs);
  }

  async function redirectIn(
    tx: Sql,
    from: UnassignedBatch,
    { pool }: PoolSnapshot,
    requests: AdmissionRequests,
    collects: boolean,
    nowMs: number,
  ) {
    const { tenantId } = from;
    // Read without a lock. If an item changes its groups before it is locked, leave() detects it.
    const groups = await readItemExtras(
      tx,
      from.ids.map((id) => ({ tenantId, id })),
    );
    const round = await lockRound(tx, pool, requests, nowMs, groups.flatMap(groupNamesOf));
    const items = await lockUnassigned(tx, from);
    const found = new Map(items.map((item) => [item.id, item]));
    // An item that was not ready when the keys were evaluated has no request; the next scan handles it.
    const ids = from.ids.filter((id) => found.has(id) && requests.has(id));
    for (const id of ids) round.leave(id, groupNamesOf({ tenantId, ...found.get(id)! }));
    const { placed, refused } = round.admit(ids, ids.length);
    await changePool(tx, tenantId, pool.id, [...placed, ...refused.map(withoutGroups)], collects);
    const retried = ids.filter((id) => found.get(id)!.revived);
    await deadLetters.changePool(tx, tenantId, retried, from.poolId, pool.id);
    const { depth, freed } = await round.save();
    const { transitioned, counts } = await applyTransitionsUncounted(
      tx,
      refused.map(toEndTransition(tenantId, pool.id)),
      [],
      nowMs,
    );
    const rejected = transitioned.filter(({ nth }) => refused[nth]!.reason === "rejected");
    const why = { tenantId, reasonCode: rejectedReason, maxRetries: pool.config.dlq.maxRetries };
    await recordDeadLetters(tx, pool.id, rejected, why, nowMs);
    const changes = [
      { tenantId, poolId: from.poolId, depth: -ids.length },
      { tenantId, poolId: pool.id, depth: ids.length + depth, deadLettered: rejected.length },
    ];
    if (ids.length > 0) await addCounts(tx, [...changes, ...counts], nowMs % shardCount);
    return { placed, freed };
  }

  return {
    async redirect(from, toPoolId, nowMs) {
      const { tenantId, poolId, ids } = from;
      const snapshot = await pools.snapshot(tenantId, toPoolId);
      // The pool was deleted: the next decision chooses another target.
      if (snapshot === undefined) return;
      const items = await readRequestedItems(db.sql, tenantId, { poolId, state: "ready", ids });
      const requests = await admissionRequests(admissionOf, snapshot.pool, items, shares.forBackground(tenantId));
      const collects = takesAll(snapshot) && !takesAll(await pools.snapshot(tenantId, poolId));
      const { placed, freed } = await retryOnConflict(() =>
        db.transaction((tx) => redirectIn(tx, from, snapshot, requests, collects, nowMs)),
      );
      for (const { dueAtMs } of placed) if (dueAtMs !== undefined) sweepBy(dueAtMs);
      if (placed.length > 0) wake(tenantId, toPoolId);
      for (const each of freed) wake(each.tenantId, each.poolId);
    },

    async deadLetter({ tenantId, poolId, ids }, reasonCode, maxRetries, nowMs) {
      const freed = await db.transaction(async (tx) => {
        const items = ids.map((id) => ({ tenantId, id, poolId }));
        const groups = (await readItemExtras(tx, items)).flatMap(groupNamesOf);
        const transitions = items.map((item) => ({
          ...item,
          from: "unassigned" as const,
          to: "dead_lettered" as const,
        }));
        const done = await applyTransitions(tx, transitions, groups, nowMs, nowMs % shardCount, (dead) => [
          { tenantId, poolId, deadLettered: dead.length },
        ]);
        const why = { tenantId, reasonCode, maxRetries };
        await recordDeadLetters(tx, poolId, done.transitioned, why, nowMs);
        return done.freed;
      });
      for (const each of freed) wake(each.tenantId, each.poolId);
    },
  };
}

interface DeadLetterReason {
  readonly tenantId: TenantId;
  readonly reasonCode: string;
  readonly maxRetries: number;
}

interface LockedItem extends Pick<TransitionedItem, "id" | "singletonGroup" | "debounceGroup" | "concurrencyGroup"> {
  /** Whether the item was a dead letter before. */
  readonly revived: boolean;
}

/** Locks the items that are still in their pool without a recipient. Another node may have decided them first. */
async function lockUnassigned(tx: Sql, { tenantId, poolId, ids }: UnassignedBatch): Promise<LockedItem[]> {
  return tx<LockedItem[]>`
    select id, revived, singleton_group, debounce_group, concurrency_group from queue_items
    where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[]) and pool_id = ${poolId} and state = 'ready'
      and recipient_id = ''
    order by id for update`;
}

/** Whether the items of a pool collect the payloads of their debounce window. */
function takesAll(snapshot: PoolSnapshot | undefined): boolean {
  return snapshot?.pool.config.admission.debounce?.take === "all";
}

/** Moves locked items to another pool and its groups. With `collects`, they begin to collect payloads there. */
async function changePool(
  tx: Sql,
  tenantId: TenantId,
  poolId: string,
  placements: readonly RequeuedItem[],
  collects: boolean,
): Promise<void> {
  if (placements.length === 0) return;
  const rows = placements.map(({ queueItemId, holdReason, dueAtMs, ...rest }) => ({
    ...rest,
    id: queueItemId,
    hold_reason: holdReason,
    due_at_ms: dueAtMs ?? null,
  }));
  await tx`
    update queue_items q set pool_id = ${poolId}, state = placed.state, hold_reason = placed.hold_reason,
      due_at = case placed.state when 'ready' then q.due_at else to_timestamp(placed.due_at_ms / 1000) end,
      singleton_group = placed.singleton,
      debounce_group = placed.debounce, throttle_group = placed.throttle, concurrency_group = placed.concurrency,
      ${collects ? tx`payload = '{"payloads":[' || q.payload || ']}',` : tx``}
      assign_tries = null, assign_reason = null, assign_snapshot = null, assign_after = null
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as placed(
      id text, state text, hold_reason text, due_at_ms float8, singleton text, debounce text, throttle text,
      concurrency text)
    where q.tenant_id = ${tenantId} and q.id = placed.id`;
}

/** Places a refused item in the pool but in none of its groups, until it ends. */
function withoutGroups({ queueItemId }: RefusedItem): RequeuedItem {
  const groups = { singleton: "", debounce: "", throttle: "", concurrency: "" };
  return { queueItemId, state: "ready", holdReason: "", dueAtMs: undefined, ...groups };
}

/** Ends a refused item: a duplicate is superseded by the existing item, any other becomes a dead letter. */
function toEndTransition(tenantId: TenantId, poolId: string) {
  return ({ queueItemId: id, reason, existingItemId }: RefusedItem): ItemTransition => {
    const base = { tenantId, id, poolId, from: "unassigned" as const };
    return reason === "deduplicated"
      ? { ...base, to: "superseded", supersededById: existingItemId }
      : { ...base, to: "dead_lettered" };
  };
}
