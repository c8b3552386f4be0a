import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database } from "../../../../platform/db/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import { type NewOffer, type Offeree, offeredEvent, offerItems, type UnassignedItems } from "../../queues/index.ts";
import { itemOf } from "../decisions/decision-store.ts";
import { capacityReasons } from "../domain/assignment-retry.ts";
import type { CompiledPool } from "../domain/compilation/compiled-pool.ts";
import type { Decision } from "../domain/decision.ts";
import type { RoutableItem } from "../domain/item.ts";
import { isNewRound, type Refusals, waitAfter, withoutRefusing } from "../domain/refusals.ts";
import type { LivePools, LiveView } from "../outcomes/live-pools.ts";
import {
  assignItems,
  type HeldItem,
  holdItems,
  makeLeasable,
  type PostponedItem,
  postponeItems,
  type UnassignedItem,
  type WaitingPool,
} from "./assignment-store.ts";

export interface AssignmentPageParts {
  readonly db: Database;
  readonly live: LivePools;
  readonly events: EventRecorder;
  /** Redirects or fails items that have no recipient in their pool. */
  readonly unassignedItems: UnassignedItems;
  readonly wake: (tenantId: string, poolId: string) => void;
  /** Called after the commit with those that got an offer. */
  readonly onOffered: (made: readonly Offeree[]) => void;
  /** Announces that an item in a pool waits for a free place. */
  readonly announceWaitingItem: (tenantId: TenantId, poolId: string) => void;
}

/** Collects the decisions of one scan of a pool and writes them in batches. */
export type AssignmentPage = ReturnType<typeof createAssignmentPage>;

interface Assignment {
  readonly id: string;
  readonly recipientId: string;
  readonly delivery: "push" | "pull";
}

/** The maximum delay before assignments are written, so that workers can start. */
const commitAfterMs = 50;

/** The short name of a snapshot that items store to identify the snapshot of their last search. */
export function snapshotName({ digest }: Pick<PoolSnapshot, "digest">): string {
  return digest.slice(0, 16);
}

export function createAssignmentPage(
  dependencies: AssignmentPageParts,
  pool: WaitingPool,
  { live: livePool, pool: first }: LiveView,
) {
  const { db, live, unassignedItems, wake } = dependencies;
  const { tenantId, poolId } = pool;
  let config = first.snapshot.pool.config;
  let chosen: Assignment[] = [];
  let offered: NewOffer[] = [];
  let postponed: PostponedItem[] = [];
  let leasable: string[] = [];
  let held: HeldItem[] = [];
  let canBeLeased = false;
  /** Whether an item newly waits for a place. Items that waited before are already announced. */
  let hasNewWaitingItem = false;
  let redirected = new Map<string, string[]>();
  let failed = new Map<"no_recipient" | "rule_reject", string[]>();
  let firstAddedAtMs = Number.POSITIVE_INFINITY;
  let atMs = 0;

  /** Whether everyone is considered again for an item that everyone has refused. */
  const startsRound = (item: UnassignedItem) => isNewRound(item, reofferAfterS());
  // Refusals of a pool that no longer has reservations do not count.
  const reofferAfterS = () => config.reservation?.reofferAfterS ?? 0;

  function choose(item: UnassignedItem, recipientId: string, deliveryMode: Decision["deliveryMode"]): void {
    if (config.reservation !== undefined && deliveryMode === "pull") {
      offered.push({ id: item.id, recipientId, isNewRound: startsRound(item) });
    } else {
      chosen.push({ id: item.id, recipientId, delivery: deliveryMode === "push" ? "push" : "pull" });
    }
  }

  function classify(item: UnassignedItem, decision: Decision, compiled: CompiledPool, nowMs: number): void {
    const { outcome, recipientId, deliveryMode, redirectPoolId, reason } = decision;
    if (outcome === "routed") {
      live.recordAssignment({ pool: compiled, live: livePool }, recipientId, nowMs);
      choose(item, recipientId, deliveryMode);
    } else if (outcome === "redirected") {
      append(redirected, redirectPoolId, item.id);
    } else if (outcome === "no_match") {
      append(failed, "no_recipient", item.id);
    } else if (outcome === "rejected" && item.undecided) {
      append(failed, "rule_reject", item.id);
    } else if (outcome === "held" && item.undecided) {
      held.push({ id: item.id, holdS: decision.holdS });
    } else if (reason === "awaiting_acceptance" || reason === "awaiting_assignment") {
      leasable.push(item.id);
      canBeLeased = true;
    } else {
      if (item.undecided) canBeLeased = true;
      if (waitsForPlace(reason) && !waitsForPlace(item.lastReason)) hasNewWaitingItem = true;
      const tries = item.tries + 1;
      // The other side of a canary has no name of its own: items would be tried again without end.
      const isCanary = compiled.snapshot.candidateId !== undefined;
      const snapshot = snapshotName((isCanary ? first : compiled).snapshot);
      const isNewRound = startsRound(item);
      const refusals = isNewRound || config.reservation === undefined ? noRefusals : item;
      const wait = waitAfter(decision, tries, refusals, reofferAfterS());
      postponed.push({ id: item.id, tries, snapshot, isNewRound, ...wait });
    }
  }

  async function assign(assignments: readonly Assignment[], nowMs: number): Promise<void> {
    const assigned = await db.transaction(async (tx) => {
      const ids = await assignItems(tx, pool, assignments);
      const entries = assignments.flatMap(({ id, recipientId }) => {
        const data = { pool_id: poolId, recipient_id: recipientId };
        const hasEvent = config.itemEvents && ids.has(id);
        return hasEvent ? [{ tenantId, type: "queue.item.assigned" as const, subject: id, data }] : [];
      });
      await dependencies.events.recordMany(tx, entries, nowMs);
      return ids;
    });
    for (const { id, recipientId } of assignments)
      if (!assigned.has(id)) live.recordRelease(tenantId, poolId, recipientId);
    wake(tenantId, poolId);
  }

  /** Offers items to their recipients; releases the places of items that were taken meanwhile. */
  async function offer(offers: readonly NewOffer[], nowMs: number): Promise<void> {
    const { timeoutS } = config.reservation!;
    const made = await db.transaction(async (tx) => {
      const made = await offerItems(tx, pool, offers, timeoutS);
      const entries = made.map(({ id, expiresAt, ...each }) =>
        offeredEvent({ tenantId, poolId, itemId: id, ...each }, expiresAt),
      );
      await dependencies.events.recordMany(tx, entries, nowMs);
      return made;
    });
    const madeIds = new Set(made.map(({ id }) => id));
    for (const { id, recipientId } of offers) if (!madeIds.has(id)) live.recordRelease(tenantId, poolId, recipientId);
    dependencies.onOffered(made.map(({ recipientId }) => ({ tenantId, poolId, recipientId })));
    wake(tenantId, poolId);
  }

  async function commit(): Promise<void> {
    const written = { chosen, offered, postponed, leasable, held, redirected, failed, canBeLeased, hasNewWaitingItem };
    [chosen, offered, postponed, leasable, held] = [[], [], [], [], []];
    [redirected, failed] = [new Map(), new Map()];
    canBeLeased = false;
    hasNewWaitingItem = false;
    firstAddedAtMs = Number.POSITIVE_INFINITY;
    if (written.chosen.length > 0) await assign(written.chosen, atMs);
    if (written.offered.length > 0) await offer(written.offered, atMs);
    await postponeItems(db.sql, pool, written.postponed);
    if (written.hasNewWaitingItem) dependencies.announceWaitingItem(tenantId, poolId);
    await makeLeasable(db.sql, pool, written.leasable);
    await holdItems(db.sql, pool, written.held);
    if (written.canBeLeased) wake(tenantId, poolId);
    for (const [toPoolId, ids] of written.redirected) await unassignedItems.redirect({ ...pool, ids }, toPoolId, atMs);
    for (const [reasonCode, ids] of written.failed) {
      await unassignedItems.deadLetter({ ...pool, ids }, reasonCode, config.dlq.maxRetries, atMs);
    }
  }

  return {
    /** The item to decide about, without the recipients that refused it. */
    candidateOf(item: UnassignedItem): RoutableItem {
      const all = itemOf(item);
      return config.reservation === undefined || startsRound(item) ? all : withoutRefusing(all, item);
    },
    /** Adds a decision; a promise when the batch is written. */
    add(item: UnassignedItem, decision: Decision, compiled: CompiledPool, nowMs: number): void | Promise<void> {
      // How items are queued follows the baseline until the canary is promoted.
      if (compiled.snapshot.candidateId === undefined) config = compiled.snapshot.pool.config;
      atMs = nowMs;
      classify(item, decision, compiled, nowMs);
      firstAddedAtMs = Math.min(firstAddedAtMs, performance.now());
      return performance.now() - firstAddedAtMs > commitAfterMs ? commit() : undefined;
    },
    /** Writes the collected decisions. */
    commit,
  };
}

const noRefusals: Refusals = { refusedBy: null, refusedForS: null, lastReason: null };

function waitsForPlace(reason: string | null): boolean {
  return reason !== null && capacityReasons.includes(reason);
}

function append<Key>(lists: Map<Key, string[]>, key: Key, id: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [id]);
  else list.push(id);
}
