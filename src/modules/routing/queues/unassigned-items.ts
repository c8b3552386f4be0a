import type { TenantId } from "../../../platform/access/index.ts";
import type { Database, Sql } from "../../../platform/db/index.ts";
import type { EventLoopShares } from "../../../platform/scheduling/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { groupNamesOf, retryOnConflict } from "../admission/index.ts";
import type { DeadLetters, RefusedItem, RequeuedItem } from "../dead-letters/index.ts";
import type { PoolReader, PoolSnapshot } from "../pools/index.ts";
import {
  type AdmissionOf,
  type AdmissionRequests,
  admissionRequests,
  lockRound,
  requestedItems,
} from "./intake/dead-letter-readmission.ts";
import { move, moveUncounted } from "./transitions/item-transitions.ts";
import { addCounts, shardCount } from "./transitions/queue-counts.ts";
import { groupsOfItems, type Move, type Moved } from "./transitions/transition-store.ts";

interface Parts {
  readonly db: Database;
  readonly pools: Pick<PoolReader, "snapshot">;
  readonly shares: EventLoopShares;
  readonly admissionOf: AdmissionOf;
  readonly deadLetters: Pick<DeadLetters, "record">;
  readonly events: EventRecorder;
  readonly wake: (tenantId: string, poolId: string) => void;
  /** Told of the moment at which an item falls due. */
  readonly expect: (atMs: number) => void;
}

/** Waiting items of one pool that nobody takes. */
export interface Leftover {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly ids: readonly string[];
}

/** What becomes of items that nobody in their pool takes, however long they wait. */
export interface Leftovers {
  /**
   * Sends those on to another pool that are still in theirs and have no recipient. They leave the groups of their pool, and
   * pass the constraints of the other one like new items.
   */
  sendOn(leftover: Leftover, toPoolId: string, nowMs: number): Promise<void>;
  /** Puts those among the dead letters that are still in their pool and have no recipient. */
  bury(leftover: Leftover, reasonCode: string, maxRetries: number, nowMs: number): Promise<void>;
}

/** An item that the constraints of the pool it was sent to do not let in. */
const rejectedReason = "admission_rejected";

/** Makes it. */
export function createLeftovers(parts: Parts): Leftovers {
  const { db, pools, shares, admissionOf, deadLetters, events, wake, expect } = parts;

  /** Records items that were moved to the dead letters, and the events that tell of them. */
  async function buryMoved(tx: Sql, poolId: string, moved: readonly Moved[], why: DeathReason, nowMs: number) {
    const { tenantId, reasonCode, maxRetries } = why;
    const letters = moved.map(({ id, failures }) => ({
      poolId,
      queueItemId: id,
      reasonCode,
      phase: "work" as const,
      attempts: failures,
      maxRetries,
      failedAt: new Date(nowMs),
    }));
    await deadLetters.record(tx, tenantId, letters);
    const entries = moved.map(({ id, attempt }) => ({
      tenantId,
      type: "queue.item.dead_lettered" as const,
      subject: id,
      data: { pool_id: poolId, recipient_id: "", attempt, reason_code: reasonCode, phase: "work" },
    }));
    return events.recordMany(tx, entries, nowMs);
  }

  async function sendOnIn(tx: Sql, from: Leftover, { pool }: PoolSnapshot, requests: AdmissionRequests, nowMs: number) {
    const { tenantId } = from;
    // Without a lock: an item that gets into another group before it is locked is noticed then.
    const groups = await groupsOfItems(
      tx,
      from.ids.map((id) => ({ tenantId, id })),
    );
    const round = await lockRound(tx, pool, requests, nowMs, groups.flatMap(groupNamesOf));
    const items = await lockUnassigned(tx, from);
    const found = new Map(items.map((item) => [item.id, item]));
    // An item that was not ready when the keys were evaluated has no request, and is left for the next look.
    const ids = from.ids.filter((id) => found.has(id) && requests.has(id));
    for (const id of ids) round.leave(id, groupNamesOf({ tenantId, ...found.get(id)! }));
    const { placed, refused } = round.admit(ids, ids.length);
    await changePool(tx, tenantId, pool.id, [...placed, ...refused.map(outside)]);
    const { depth, freed } = await round.save();
    const { moved, counts } = await moveUncounted(tx, refused.map(endOf(tenantId, pool.id)), [], nowMs);
    const rejected = moved.filter(({ nth }) => refused[nth]!.reason === "rejected");
    const why = { tenantId, reasonCode: rejectedReason, maxRetries: pool.config.dlq.maxRetries };
    const told = await buryMoved(tx, pool.id, rejected, why, nowMs);
    const changes = [
      { tenantId, poolId: from.poolId, depth: -ids.length },
      { tenantId, poolId: pool.id, depth: ids.length + depth },
    ];
    if (ids.length > 0) await addCounts(tx, [...changes, ...counts], nowMs % shardCount);
    return { placed, freed, told };
  }

  return {
    async sendOn(from, toPoolId, nowMs) {
      const { tenantId, poolId, ids } = from;
      const snapshot = await pools.snapshot(tenantId, toPoolId);
      // The pool was removed: the next decision finds another way.
      if (snapshot === undefined) return;
      const items = await requestedItems(db.sql, tenantId, { poolId, state: "ready", ids });
      const requests = await admissionRequests(admissionOf, snapshot.pool, items, shares.forBackground(tenantId));
      const { placed, freed, told } = await retryOnConflict(() =>
        db.transaction((tx) => sendOnIn(tx, from, snapshot, requests, nowMs)),
      );
      told.wake();
      for (const { dueAtMs } of placed) if (dueAtMs !== undefined) expect(dueAtMs);
      if (placed.length > 0) wake(tenantId, toPoolId);
      for (const each of freed) wake(each.tenantId, each.poolId);
    },

    async bury({ tenantId, poolId, ids }, reasonCode, maxRetries, nowMs) {
      const { freed, told } = await db.transaction(async (tx) => {
        const items = ids.map((id) => ({ tenantId, id, poolId }));
        const groups = (await groupsOfItems(tx, items)).flatMap(groupNamesOf);
        const moves = items.map((item) => ({ ...item, from: "unassigned" as const, to: "dead_lettered" as const }));
        const done = await move(tx, moves, groups, nowMs, nowMs % shardCount);
        const why = { tenantId, reasonCode, maxRetries };
        return { freed: done.freed, told: await buryMoved(tx, poolId, done.moved, why, nowMs) };
      });
      told.wake();
      for (const each of freed) wake(each.tenantId, each.poolId);
    },
  };
}

interface DeathReason {
  readonly tenantId: TenantId;
  readonly reasonCode: string;
  readonly maxRetries: number;
}

interface ItemGroups {
  readonly id: string;
  readonly singletonGroup: string;
  readonly debounceGroup: string;
  readonly concurrencyGroup: string;
}

/** Locks the items that are still in their pool without a recipient: another node may have decided them first. */
async function lockUnassigned(tx: Sql, { tenantId, poolId, ids }: Leftover): Promise<ItemGroups[]> {
  return tx<ItemGroups[]>`
    select id, singleton_group, debounce_group, concurrency_group from queue_items
    where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[]) and pool_id = ${poolId} and state = 'ready'
      and recipient_id = ''
    order by id for update`;
}

/** Puts locked items into another pool and its groups. */
async function changePool(
  tx: Sql,
  tenantId: TenantId,
  poolId: string,
  placements: readonly RequeuedItem[],
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
      due_at = to_timestamp(placed.due_at_ms / 1000), singleton_group = placed.singleton,
      debounce_group = placed.debounce, throttle_group = placed.throttle, concurrency_group = placed.concurrency,
      assign_tries = null, assign_reason = null, assign_snapshot = null, assign_after = null
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as placed(
      id text, state text, hold_reason text, due_at_ms float8, singleton text, debounce text, throttle text,
      concurrency text)
    where q.tenant_id = ${tenantId} and q.id = placed.id`;
}

/** Where an item that is refused stands until it ends: in the pool, and in none of its groups. */
function outside({ queueItemId }: RefusedItem): RequeuedItem {
  const groups = { singleton: "", debounce: "", throttle: "", concurrency: "" };
  return { queueItemId, state: "ready", holdReason: "", dueAtMs: undefined, ...groups };
}

/** How an item ends that is refused: a duplicate in favour of the one that is there, and any other as a dead letter. */
function endOf(tenantId: TenantId, poolId: string) {
  return ({ queueItemId: id, reason, existingItemId }: RefusedItem): Move => {
    const base = { tenantId, id, poolId, from: "unassigned" as const };
    return reason === "deduplicated"
      ? { ...base, to: "superseded", survivorId: existingItemId }
      : { ...base, to: "dead_lettered" };
  };
}
