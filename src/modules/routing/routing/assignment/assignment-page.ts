import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import type { UnassignedItems } from "../../queues/index.ts";
import { capacityReasons, retryInS } from "../domain/assignment-retry.ts";
import type { CompiledPool } from "../domain/compilation/compiled-pool.ts";
import type { Decision } from "../domain/decision.ts";
import type { LivePools, LiveView } from "../outcomes/live-pools.ts";
import {
  assignItems,
  type HeldItem,
  holdItems,
  type Postponed,
  postponeItems,
  releaseItems,
  type UnassignedItem,
  type WaitingPool,
} from "./assignment-store.ts";

interface Parts {
  readonly db: Database;
  readonly live: LivePools;
  readonly events: EventRecorder;
  readonly unassignedItems: UnassignedItems;
  readonly wake: (tenantId: string, poolId: string) => void;
  /** Told of a pool in which items wait for a place. */
  readonly itemWaits: (tenantId: TenantId, poolId: string) => void;
}

/** What becomes of the items of one look through a pool. */
export interface AssignmentPage {
  /** Notes a decision; a promise when enough have come together to be written. */
  note(item: UnassignedItem, decision: Decision, pool: CompiledPool, nowMs: number): void | Promise<void>;
  /** Writes what was noted. */
  commit(): Promise<void>;
}

interface Assignment {
  readonly id: string;
  readonly recipientId: string;
  readonly delivery: "push" | "pull";
}

/** Items that were given to somebody are written at the latest after so long, so that work can begin. */
const commitAfterMs = 50;

/** What a snapshot is called where items remember with which one they were tried. */
export function snapshotName({ digest }: Pick<PoolSnapshot, "digest">): string {
  return digest.slice(0, 16);
}

/** Creates a page of one pool. */
export function createAssignmentPage(
  parts: Parts,
  pool: WaitingPool,
  { live: moment, pool: first }: LiveView,
): AssignmentPage {
  const { db, live, unassignedItems, wake } = parts;
  const { tenantId, poolId } = pool;
  let config = first.snapshot.pool.config;
  let chosen: Assignment[] = [];
  let postponed: Postponed[] = [];
  let released: string[] = [];
  let held: HeldItem[] = [];
  let canBeLeased = false;
  /** Whether an item waits for a place that did not wait for one before. Others were announced when they began to. */
  let placeIsWanted = false;
  let redirected = new Map<string, string[]>();
  let buried = new Map<"no_recipient" | "rule_reject", string[]>();
  let notedAtMs = Number.POSITIVE_INFINITY;
  let atMs = 0;

  function sort(item: UnassignedItem, decision: Decision, compiled: CompiledPool, nowMs: number): void {
    const { outcome, recipientId, deliveryMode, redirectPoolId, reason } = decision;
    if (outcome === "routed") {
      live.assigned({ pool: compiled, live: moment }, recipientId, nowMs);
      chosen.push({ id: item.id, recipientId, delivery: deliveryMode === "push" ? "push" : "pull" });
    } else if (outcome === "redirected") {
      append(redirected, redirectPoolId, item.id);
    } else if (outcome === "no_match") {
      append(buried, "no_recipient", item.id);
    } else if (outcome === "rejected" && item.undecided) {
      append(buried, "rule_reject", item.id);
    } else if (outcome === "held" && item.undecided) {
      held.push({ id: item.id, holdS: decision.holdS });
    } else if (reason === "awaiting_acceptance" || reason === "awaiting_assignment") {
      released.push(item.id);
      canBeLeased = true;
    } else {
      if (item.undecided) canBeLeased = true;
      if (waitsForPlace(reason) && !waitsForPlace(item.lastReason)) placeIsWanted = true;
      const tries = item.tries + 1;
      const snapshot = snapshotName(compiled.snapshot);
      postponed.push({ id: item.id, tries, reason, snapshot, retryInS: retryInS(decision, tries) });
    }
  }

  async function give(assignments: readonly Assignment[], nowMs: number): Promise<void> {
    const { given, told } = await db.transaction(async (tx) => {
      const ids = await assignItems(tx, pool, assignments);
      const entries = assignments.flatMap(({ id, recipientId }) => {
        const data = { pool_id: poolId, recipient_id: recipientId };
        const isTold = config.itemEvents && ids.has(id);
        return isTold ? [{ tenantId, type: "queue.item.assigned" as const, subject: id, data }] : [];
      });
      return { given: ids, told: await parts.events.recordMany(tx, entries, nowMs) };
    });
    told.wake();
    for (const { id, recipientId } of assignments) if (!given.has(id)) live.released(tenantId, poolId, recipientId);
    wake(tenantId, poolId);
  }

  async function commit(): Promise<void> {
    const written = { chosen, postponed, released, held, redirected, buried, canBeLeased, placeIsWanted };
    [chosen, postponed, released, held, redirected, buried] = [[], [], [], [], new Map(), new Map()];
    canBeLeased = false;
    placeIsWanted = false;
    notedAtMs = Number.POSITIVE_INFINITY;
    if (written.chosen.length > 0) await give(written.chosen, atMs);
    await postponeItems(db.sql, pool, written.postponed);
    if (written.placeIsWanted) parts.itemWaits(tenantId, poolId);
    await releaseItems(db.sql, pool, written.released);
    await holdItems(db.sql, pool, written.held);
    if (written.canBeLeased) wake(tenantId, poolId);
    for (const [toPoolId, ids] of written.redirected) await unassignedItems.redirect({ ...pool, ids }, toPoolId, atMs);
    for (const [reasonCode, ids] of written.buried) {
      await unassignedItems.deadLetter({ ...pool, ids }, reasonCode, config.dlq.maxRetries, atMs);
    }
  }

  return {
    note(item, decision, compiled, nowMs) {
      config = compiled.snapshot.pool.config;
      atMs = nowMs;
      sort(item, decision, compiled, nowMs);
      notedAtMs = Math.min(notedAtMs, performance.now());
      return performance.now() - notedAtMs > commitAfterMs ? commit() : undefined;
    },
    commit,
  };
}

function waitsForPlace(reason: string | null): boolean {
  return reason !== null && capacityReasons.includes(reason);
}

function append<Key>(lists: Map<Key, string[]>, key: Key, id: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [id]);
  else list.push(id);
}
