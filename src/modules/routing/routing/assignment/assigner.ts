import type { TenantId } from "../../../../platform/access/index.ts";
import { pauseAfterScanMs, type TenantChanges } from "../../../../platform/db/index.ts";
import { createTenantQueue } from "../../../../platform/event-loop/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import { createRepeatedTask } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import { type PoolId, type PoolReader, type PoolSnapshot, sideOf } from "../../pools/index.ts";
import { readQueueActive } from "../../queues/index.ts";
import { createBackgroundBudget, decideWithinBudget } from "../decisions/decision-budget.ts";
import { capacityReasons } from "../domain/assignment-retry.ts";
import { SlicedDecision } from "../domain/decision-engine.ts";
import type { LiveView } from "../outcomes/live-pools.ts";
import { type AssignmentPageParts, createAssignmentPage, snapshotName } from "./assignment-page.ts";
import {
  absentRecipients,
  poolsWithUnassigned,
  type QueuePosition,
  type RecipientQueue,
  readUnassignedItems,
  type UnassignedItem,
  unassignItems,
  type WaitingPool,
} from "./assignment-store.ts";
import { IdlePools } from "./idle-pools.ts";

interface Dependencies
  extends Pick<PlatformServices, "db" | "signals" | "clock" | "log" | "shares">,
    Omit<AssignmentPageParts, "announceWaitingItem"> {
  readonly changes: Pick<TenantChanges, "onChange">;
  readonly pools: PoolReader;
  /** The interval of the poll for items without an announcement. */
  readonly pollMs: number;
}

/** Finds recipients for items that had none on arrival, whose attempt failed, or whose recipient is absent. */
export type Assigner = ReturnType<typeof createAssigner>;

/** Signal topics of assigning nodes: an item is ready, a place is free, or an item waits for a place. */
const readyPrefix = "assign:";
const placePrefix = "assign-place:";
const waitsPrefix = "assign-waits:";
const poolBatchSize = 500;
/** The number of tenants that are processed concurrently. */
const tenantConcurrency = 16;
const itemsPerPage = 200;
/** The maximum number of items that a scan for a freed place reads. */
const placeScanItemsMax = 5 * itemsPerPage;
/** The time slice of one pool before the tenant's next pool is scanned. */
const sliceMs = 200;
const recipientBatchSize = 2000;
const unassignBatchSize = 5000;

/** Why a pool is scanned. */
interface ScanTrigger {
  /** A recipient may have a free place: items that wait for one are tried although they are not due. */
  readonly placeFreed: boolean;
  /** The time slice of a scan for a place ended; the scan continues at its last position. */
  readonly isContinued: boolean;
  readonly poolChanged: boolean;
}

/** The result of scanning a pool for one time slice. */
interface ScanResult {
  /** The last scanned item; undefined at the end of the queue. */
  readonly after: QueuePosition | undefined;
  readonly scanned: number;
  /** Whether the time slice ended first. The rest is scanned after the tenant's other pools. */
  readonly isCut: boolean;
  /** Whether a recipient has a free place. */
  readonly hasFreePlace: boolean;
}

const routine: ScanTrigger = { placeFreed: false, isContinued: false, poolChanged: false };
const freed: ScanTrigger = { ...routine, placeFreed: true };
const start: QueuePosition = { rank: Number.MIN_SAFE_INTEGER, id: "" };

/**
 * Creates this node's assigner. All nodes assign; the first node to write an item wins.
 *
 * A pool is scanned as soon as a place becomes free, an item becomes ready or the pool changes. The poll covers what no
 * event announces: delays that end, and lost events.
 */
export function createAssigner(dependencies: Dependencies) {
  const { db, signals, changes, clock, log, shares, pools, live, pollMs } = dependencies;
  // The start of the next scan of each pool, so that items that no recipient can take do not block the items behind them.
  const positions = new Map<string, QueuePosition>();
  /** Interrupted scans for a place: the last position and the number of scanned items. */
  const placeScans = new Map<string, { readonly after: QueuePosition; readonly scanned: number }>();
  const idle = new IdlePools();
  let stopping = new AbortController();
  let unsubscribe: (() => void)[] = [];
  let isRunning = false;
  let recipientsScannedTo: RecipientQueue | undefined;
  /** The start of the next poll, so that pools whose items no recipient can take do not block the pools behind them. */
  let polledTo: WaitingPool | undefined;
  /** A time of `performance.now()`. */
  let pollAtMs = 0;
  let signalsWereLost = false;
  /** Tenants whose pools or recipients have changed. */
  const changed = new Set<string>();

  const queue = createTenantQueue<ScanTrigger>({
    concurrency: tenantConcurrency,
    merge: (one, other) => ({
      placeFreed: one.placeFreed || other.placeFreed,
      isContinued: one.isContinued || other.isContinued,
      poolChanged: one.poolChanged || other.poolChanged,
    }),
    work: (tenantId, poolId, trigger) => scanPool({ tenantId: tenantId as TenantId, poolId }, trigger),
    onError: (error) => log.warn({ err: error }, "waiting items could not be assigned to recipients"),
  });

  function scan(tenantId: TenantId, poolId: string, trigger: ScanTrigger): void {
    if (isRunning) queue.add(tenantId, poolId, trigger);
    else signals.wake(`${readyPrefix}${tenantId}:${poolId}`);
  }

  function placeFreed(tenantId: TenantId, poolId: string): void {
    if (!isRunning) signals.wake(`${placePrefix}${tenantId}:${poolId}`);
    else if (!idle.skipFreedPlace(poolId)) scan(tenantId, poolId, freed);
  }

  function announceWaitingItem(tenantId: TenantId, poolId: string): void {
    signals.wake(`${waitsPrefix}${tenantId}:${poolId}`);
  }

  function onWake(prefix: string, react: (tenantId: TenantId, poolId: string) => void): () => void {
    const listener = (name: string) => {
      const [tenantId, poolId] = name.split(":") as [TenantId, string];
      react(tenantId, poolId);
    };
    return signals.onWakeUnder(prefix, listener, onSignalsLost);
  }

  /** After lost signals, an item may wait and a place may be free in any pool. */
  function onSignalsLost(): void {
    idle.clear();
    signalsWereLost = true;
    search.run();
  }

  /** Assigns the due items of a pool; when a place is free, also the items that only wait for a place. */
  async function scanPool(pool: WaitingPool, { placeFreed, isContinued, poolChanged }: ScanTrigger): Promise<void> {
    const { tenantId, poolId } = pool;
    // The cached pool may be stale for a moment after the change.
    if (poolChanged) await pools.refresh(tenantId, poolId as PoolId);
    const earlier = isContinued ? placeScans.get(poolId) : undefined;
    placeScans.delete(poolId);
    const forPlace = placeFreed || earlier !== undefined;
    if (forPlace && earlier === undefined) idle.beginPlaceScan(poolId);
    // A scan for a free place starts at the front of the queue. Routine scans continue at their last position, so that items
    // that no recipient can take never block the items behind them.
    const from = earlier ?? { after: forPlace ? start : (positions.get(poolId) ?? start), scanned: 0 };
    const { after, scanned, isCut, hasFreePlace } = await scanFrom(pool, from, forPlace);
    if (!forPlace) {
      if (isCut) scan(tenantId, poolId, routine);
      if (after === undefined) positions.delete(poolId);
      else positions.set(poolId, after);
      return;
    }
    // A place that is freed during a scan triggers a separate scan afterwards. Restarting the running scan would let costly
    // items at the front block the items behind them.
    const freedMeanwhile = earlier !== undefined && placeFreed;
    if (isCut && after !== undefined && scanned < placeScanItemsMax) {
      placeScans.set(poolId, { after, scanned });
      scan(tenantId, poolId, { placeFreed: freedMeanwhile, isContinued: true, poolChanged: false });
      return;
    }
    if (isCut) scan(tenantId, poolId, routine);
    if (idle.endPlaceScan(poolId, hasFreePlace) || freedMeanwhile) scan(tenantId, poolId, freed);
  }

  /** Scans the items of a pool from a position, for at most one time slice. */
  async function scanFrom(
    pool: WaitingPool,
    from: { readonly after: QueuePosition; readonly scanned: number },
    forPlace: boolean,
  ): Promise<ScanResult> {
    const { tenantId, poolId } = pool;
    const untilMs = performance.now() + sliceMs;
    const reasons = forPlace ? capacityReasons : [];
    let { after, scanned }: { after: QueuePosition | undefined; scanned: number } = from;
    let hasFreePlace = false;
    while (after !== undefined && scanned < (forPlace ? placeScanItemsMax : itemsPerPage)) {
      const snapshot = await pools.snapshot(tenantId, poolId);
      // A paused queue makes no offers: its items would be tried again without end.
      if (
        snapshot === undefined ||
        (snapshot.pool.config.reservation !== undefined && !(await readQueueActive(db.sql, tenantId, poolId)))
      ) {
        return { after: undefined, scanned, isCut: false, hasFreePlace: false };
      }
      const undecidedOnly = !isAssigned(snapshot.pool) && !isAssigned((snapshot.canary?.snapshot ?? snapshot).pool);
      const search = { after, limit: itemsPerPage, undecidedOnly, snapshot: snapshotName(snapshot), reasons };
      const searched = idle.beginSearch(poolId);
      const { items, last, moreUndecided, isEmpty } = await readUnassignedItems(db.sql, pool, search);
      if (idle.endSearch(poolId, searched, { nothing: isEmpty && after === start, forPlace })) {
        scan(tenantId, poolId, freed);
      }
      const view = await live.view(snapshot);
      const tried = await assignPage(pool, snapshot, view, items, untilMs);
      hasFreePlace = !view.live.isFull;
      // Undecided items are read from the front each time; other items from the last tried position.
      const isDecided = ({ undecided }: UnassignedItem) => !undecided;
      after = items.slice(tried).some(isDecided) ? (items.slice(0, tried).findLast(isDecided) ?? after) : last;
      if (tried < items.length || moreUndecided) return { after, scanned: scanned + tried, isCut: true, hasFreePlace };
      scanned += itemsPerPage;
    }
    return { after, scanned, isCut: false, hasFreePlace };
  }

  /** Decides items one by one, in slices, until the time slice ends; returns the number of processed items. */
  async function assignPage(
    pool: WaitingPool,
    snapshot: PoolSnapshot,
    view: LiveView,
    items: readonly UnassignedItem[],
    untilMs: number,
  ): Promise<number> {
    if (items.length === 0) return 0;
    const budget = createBackgroundBudget(shares, pool.tenantId);
    const page = createAssignmentPage({ ...dependencies, announceWaitingItem }, pool, view);
    try {
      for (const [nth, item] of items.entries()) {
        // Every time slice processes one item of each kind, however long the first one takes.
        const isOver = nth > 1 && performance.now() >= untilMs;
        if (isOver || (nth > 0 && stopping.signal.aborted)) return nth;
        // An item that is not due only waits for a place.
        if (!item.due && view.live.isFull) continue;
        const nowMs = clock.now();
        const seed = Math.floor(Math.random() * 2 ** 53);
        const at = { nowMs, seed, waitedS: (nowMs - ulidMs(item.id)) / 1000 };
        const side = sideOf(snapshot, item.key);
        const compiled = side === snapshot ? newestPool(view) : (await live.view(side)).pool;
        const pending = new SlicedDecision(compiled, view.live, page.candidateOf(item), at);
        const added = decideWithinBudget(pending, budget, (decision) => page.add(item, decision, pending.pool, nowMs));
        if (added instanceof Promise) await added;
      }
      return items.length;
    } finally {
      await page.commit();
    }
  }

  /** Unassigns items that wait for paused, offline or removed recipients. */
  async function unassignAbsent(): Promise<void> {
    const { absent, last } = await absentRecipients(db.sql, recipientsScannedTo, recipientBatchSize);
    recipientsScannedTo = last;
    await unassignItems(db.sql, absent, unassignBatchSize);
    for (const { tenantId, poolId } of absent) scan(tenantId, poolId, routine);
  }

  /** Scans the next batch of pools with waiting items, after the batch of the last poll. */
  async function scanNextPools(): Promise<void> {
    const { pools, last } = await poolsWithUnassigned(db.sql, { after: polledTo, limit: poolBatchSize });
    polledTo = last;
    for (const { tenantId, poolId } of pools) scan(tenantId, poolId, routine);
  }

  /** Scans all pools with waiting items; only those of one tenant when it is given. */
  async function scanAllPools(trigger: ScanTrigger, tenantId?: string): Promise<void> {
    let after: WaitingPool | undefined;
    do {
      const { pools, last } = await poolsWithUnassigned(db.sql, { after, limit: poolBatchSize, tenantId });
      for (const each of pools) scan(each.tenantId, each.poolId, trigger);
      after = last;
    } while (after !== undefined && !stopping.signal.aborted);
  }

  const search = createRepeatedTask({
    async work() {
      const startedAtMs = performance.now();
      await unassignAbsent();
      if (signalsWereLost) {
        signalsWereLost = false;
        await scanAllPools(freed).catch((error) => {
          // The next search retries it.
          signalsWereLost = true;
          throw error;
        });
      }
      if (performance.now() >= pollAtMs) {
        pollAtMs = performance.now() + pollMs;
        await scanNextPools();
        const nowMs = performance.now();
        pollAtMs = Math.max(pollAtMs, nowMs + pauseAfterScanMs(nowMs - startedAtMs));
      }
      const [tenantId] = changed;
      if (tenantId !== undefined) {
        changed.delete(tenantId);
        await scanAllPools({ ...routine, poolChanged: true }, tenantId);
      }
      return changed.size > 0 ? 0 : undefined;
    },
    onError: (error) => log.warn({ err: error }, "the search for items without a recipient failed"),
    subscribe: ({ runWithin }) => [
      signals.onDue(
        (sql) => sql`select now() from queue_items where state = 'ready' limit 1`,
        () => runWithin(pollAtMs - performance.now()),
      ),
    ],
  });

  live.onPlaceFreed(placeFreed);

  return {
    /** Scans a pool in which an item became ready without a recipient; on other nodes when this node does not assign. */
    announceReadyItem: (tenantId: TenantId, poolId: string) => scan(tenantId, poolId, routine),
    /** Announces to all nodes that an item waits for a place in a pool, so that the next freed place triggers a scan. */
    announceWaitingItem,
    start() {
      isRunning = true;
      stopping = new AbortController();
      // Announcements from before the start are unknown.
      idle.clear();
      placeScans.clear();
      unsubscribe = [
        onWake(readyPrefix, (tenantId, poolId) => scan(tenantId, poolId, freed)),
        onWake(placePrefix, placeFreed),
        onWake(waitsPrefix, (tenantId, poolId) => {
          if (idle.recordWaitingItem(poolId)) scan(tenantId, poolId, freed);
        }),
        changes.onChange((tenantId) => {
          if (tenantId === undefined) signalsWereLost = true;
          else changed.add(tenantId);
          search.run();
        }),
      ];
      void search.start();
    },
    async stop() {
      isRunning = false;
      stopping.abort();
      for (const each of unsubscribe) each();
      await search.stop();
      await queue.stop();
    },
  };
}

/** The pool that decisions of the baseline use now. */
function newestPool({ live, pool }: LiveView): LiveView["pool"] {
  const { candidateId, revision } = live.pool.snapshot;
  return candidateId === undefined && revision >= pool.snapshot.revision ? live.pool : pool;
}

/** Whether the service chooses recipients, rather than workers or operators. */
function isAssigned({ strategy }: { readonly strategy: string }): boolean {
  return strategy !== "first_accept" && strategy !== "manual";
}
