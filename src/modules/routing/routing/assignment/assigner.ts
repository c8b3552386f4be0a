import type { TenantId } from "../../../../platform/access/index.ts";
import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Database, Signals, TenantChanges } from "../../../../platform/db/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import { createSerialTask } from "../../../../platform/jobs/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import { createTenantQueue, type EventLoopShares } from "../../../../platform/scheduling/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { PoolId, PoolReader } from "../../pools/index.ts";
import type { UnassignedItems } from "../../queues/index.ts";
import { decideInTime, timeInBackground } from "../decisions/decision-budget.ts";
import { capacityReasons } from "../domain/assignment-retry.ts";
import { SlicedDecision } from "../domain/decision-engine.ts";
import type { RoutableItem } from "../domain/item.ts";
import type { LivePools } from "../outcomes/live-pools.ts";
import { createAssignmentPage, snapshotName } from "./assignment-page.ts";
import {
  absentRecipients,
  poolsWithUnassigned,
  type QueuePlace,
  takeBackItems,
  type UnassignedItem,
  unassignedItems,
  type WaitedFor,
  type WaitingPool,
} from "./assignment-store.ts";
import { IdlePools } from "./idle-pools.ts";

interface Parts {
  readonly db: Database;
  readonly signals: Signals;
  readonly changes: Pick<TenantChanges, "onChange">;
  readonly clock: Clock;
  readonly log: Log;
  readonly shares: EventLoopShares;
  readonly pools: PoolReader;
  readonly live: LivePools;
  readonly events: EventRecorder;
  /** What becomes of items that nobody in the pool takes. */
  readonly unassignedItems: UnassignedItems;
  readonly wake: (tenantId: string, poolId: string) => void;
  /** How often to look for what nobody told of. */
  readonly pollMs: number;
}

/** Finds recipients for items that nobody could take when they came, whose attempt failed, or whose recipient is away. */
export interface Assigning {
  /** Looks at a pool in which an item has become ready without a recipient; on other nodes when this one assigns nothing. */
  itemReady(tenantId: TenantId, poolId: string): void;
  /** Tells all nodes that an item waits for a place in a pool: the next one that is freed there leads to a look. */
  itemWaits(tenantId: TenantId, poolId: string): void;
  start(): void;
  stop(): Promise<void>;
}

/** Wakes nodes that assign: an item is ready, a place is free, or an item waits for a place. */
const readyPrefix = "assign:";
const placePrefix = "assign-place:";
const waitsPrefix = "assign-waits:";
const poolsAtOnce = 500;
/** Tenants that are worked for at once. */
const lanes = 16;
const itemsPerPage = 200;
/** How many items are looked through when a place has become free. */
const itemsForPlace = 5 * itemsPerPage;
/** How long a pool is worked on before another one of the tenant has its turn. */
const turnMs = 200;
const waitedForAtOnce = 2000;
const takenBackAtOnce = 5000;
/** Why a pool is looked at. */
interface Occasion {
  /** A recipient may have a place again: items that wait for one are tried although they are not due. */
  readonly placeFreed: boolean;
  /** The turn of a look for a place was over: it goes on where it was. */
  readonly goesOn: boolean;
  readonly poolChanged: boolean;
}

/** Where a look through a pool has come to. */
interface Looked {
  /** The last item that it has come to; undefined at the end of the queue. */
  readonly after: QueuePlace | undefined;
  readonly looked: number;
  /** Whether its turn was over before it was done: the rest has its turn after the tenant's other pools. */
  readonly isCut: boolean;
  /** Whether a recipient can take more. */
  readonly placeIsLeft: boolean;
}

const routine: Occasion = { placeFreed: false, goesOn: false, poolChanged: false };
const freed: Occasion = { ...routine, placeFreed: true };
const start: QueuePlace = { rank: Number.MIN_SAFE_INTEGER, id: "" };

/**
 * Creates this node's assigning. All nodes do it; an item is given away by whoever is first.
 *
 * A pool is looked at as soon as a place in it is free, an item in it becomes ready or it is changed. The poll is for what no
 * event leads to: waits that end, and events that were lost.
 */
export function createAssigning(parts: Parts): Assigning {
  const { db, signals, changes, clock, log, shares, pools, live, pollMs } = parts;
  // Where the next look begins in a pool, so that items nobody can take do not hide those behind them.
  const places = new Map<string, QueuePlace>();
  /** Looks for a place that go on: where, and how many items they have looked through. */
  const placeLooks = new Map<string, { readonly after: QueuePlace; readonly looked: number }>();
  const idle = new IdlePools();
  let stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe: (() => void)[] = [];
  let isRunning = false;
  let lookedAt: WaitedFor | undefined;
  /** Where the next poll begins, so that pools whose items nobody can take do not hide those behind them. */
  let polledTo: WaitingPool | undefined;
  let pollIsDue = true;
  let signalsWereLost = false;
  /** Tenants whose pools or recipients changed. */
  const changed = new Set<string>();

  const queue = createTenantQueue<Occasion>({
    concurrency: lanes,
    merge: (one, other) => ({
      placeFreed: one.placeFreed || other.placeFreed,
      goesOn: one.goesOn || other.goesOn,
      poolChanged: one.poolChanged || other.poolChanged,
    }),
    work: (tenantId, poolId, occasion) => lookThrough({ tenantId: tenantId as TenantId, poolId }, occasion),
    onError: (error) => log.warn({ err: error }, "waiting items could not be given to recipients"),
  });

  function look(tenantId: TenantId, poolId: string, occasion: Occasion): void {
    if (isRunning) queue.add(tenantId, poolId, occasion);
    else signals.wake(`${readyPrefix}${tenantId}:${poolId}`);
  }

  function placeFreed(tenantId: TenantId, poolId: string): void {
    if (!isRunning) signals.wake(`${placePrefix}${tenantId}:${poolId}`);
    else if (!idle.passOver(poolId)) look(tenantId, poolId, freed);
  }

  function itemWaits(tenantId: TenantId, poolId: string): void {
    signals.wake(`${waitsPrefix}${tenantId}:${poolId}`);
  }

  function onWake(prefix: string, react: (tenantId: TenantId, poolId: string) => void): () => void {
    const listener = (name: string) => {
      const [tenantId, poolId] = name.split(":") as [TenantId, string];
      react(tenantId, poolId);
    };
    return signals.onWakeUnder(prefix, listener, onSignalsLost);
  }

  /** An item may wait and a place may be free in any pool. */
  function onSignalsLost(): void {
    idle.clear();
    signalsWereLost = true;
    search.run();
  }

  /** Assigns what is due in a pool; when a place is free, also what waits for nothing else. */
  async function lookThrough(pool: WaitingPool, { placeFreed, goesOn, poolChanged }: Occasion): Promise<void> {
    const { tenantId, poolId } = pool;
    // What calls are given may be as it was before the change, for a moment.
    if (poolChanged) await pools.refresh(tenantId, poolId as PoolId);
    const begun = goesOn ? placeLooks.get(poolId) : undefined;
    placeLooks.delete(poolId);
    const forPlace = placeFreed || begun !== undefined;
    if (forPlace && begun === undefined) idle.beginPlaceLook(poolId);
    // A look for a free place begins with whoever goes first. The routine looks go on where they were, so that items that
    // nobody can take never hide those behind them.
    const from = begun ?? { after: forPlace ? start : (places.get(poolId) ?? start), looked: 0 };
    const { after, looked, isCut, placeIsLeft } = await lookFrom(pool, from, forPlace);
    if (!forPlace) {
      if (isCut) look(tenantId, poolId, routine);
      if (after === undefined) places.delete(poolId);
      else places.set(poolId, after);
      return;
    }
    // A place that is freed while a look goes on leads to a look of its own after that. If it had the look begin again, costly
    // items in front would keep those behind them waiting.
    const freedMeanwhile = begun !== undefined && placeFreed;
    if (isCut && after !== undefined && looked < itemsForPlace) {
      placeLooks.set(poolId, { after, looked });
      look(tenantId, poolId, { placeFreed: freedMeanwhile, goesOn: true, poolChanged: false });
      return;
    }
    if (isCut) look(tenantId, poolId, routine);
    if (idle.endPlaceLook(poolId, placeIsLeft) || freedMeanwhile) look(tenantId, poolId, freed);
  }

  /** Looks through the items of a pool from a place on, for one turn at most. */
  async function lookFrom(
    pool: WaitingPool,
    from: { readonly after: QueuePlace; readonly looked: number },
    forPlace: boolean,
  ): Promise<Looked> {
    const { tenantId, poolId } = pool;
    const untilMs = performance.now() + turnMs;
    const reasons = forPlace ? capacityReasons : [];
    let { after, looked }: { after: QueuePlace | undefined; looked: number } = from;
    let placeIsLeft = false;
    while (after !== undefined && looked < (forPlace ? itemsForPlace : itemsPerPage)) {
      const snapshot = await pools.snapshot(tenantId, poolId);
      if (snapshot === undefined) return { after: undefined, looked, isCut: false, placeIsLeft: false };
      const undecidedOnly = !isAssigned(snapshot.pool);
      const search = { after, limit: itemsPerPage, undecidedOnly, snapshot: snapshotName(snapshot), reasons };
      const searched = idle.beginSearch(poolId);
      const { items, last, moreUndecided, isEmpty } = await unassignedItems(db.sql, pool, search);
      if (idle.endSearch(poolId, searched, { nothing: isEmpty && after === start, forPlace })) {
        look(tenantId, poolId, freed);
      }
      const view = await live.view(snapshot);
      const tried = await assignPage(pool, view, items, untilMs);
      placeIsLeft = !view.live.isFull;
      // Undecided items are sought from the front each time; the others from the last one that was tried.
      const isDecided = ({ undecided }: UnassignedItem) => !undecided;
      after = items.slice(tried).some(isDecided) ? (items.slice(0, tried).findLast(isDecided) ?? after) : last;
      if (tried < items.length || moreUndecided) return { after, looked: looked + tried, isCut: true, placeIsLeft };
      looked += itemsPerPage;
    }
    return { after, looked, isCut: false, placeIsLeft };
  }

  /** Decides items one after the other, in slices, until the turn is over; how many it came to. */
  async function assignPage(
    pool: WaitingPool,
    view: Awaited<ReturnType<LivePools["view"]>>,
    items: readonly UnassignedItem[],
    untilMs: number,
  ): Promise<number> {
    if (items.length === 0) return 0;
    const time = timeInBackground(shares, pool.tenantId);
    const page = createAssignmentPage({ ...parts, itemWaits }, pool, view);
    try {
      for (const [nth, item] of items.entries()) {
        // Every turn has room for one item of each kind, however long the first one takes.
        const isOver = nth > 1 && performance.now() >= untilMs;
        if (isOver || (nth > 0 && stopping.signal.aborted)) return nth;
        // One that is not due waits for a place only.
        if (!item.due && view.live.isFull) continue;
        const nowMs = clock.now();
        const seed = Math.floor(Math.random() * 2 ** 53);
        const at = { nowMs, seed, waitedS: (nowMs - ulidMs(item.id)) / 1000 };
        const pending = new SlicedDecision(view.live.pool, view.live, routable(item), at);
        const noted = decideInTime(pending, time, (decision) => page.note(item, decision, pending.pool, nowMs));
        if (noted instanceof Promise) await noted;
      }
      return items.length;
    } finally {
      await page.commit();
    }
  }

  /** Takes back what waits for recipients that are paused, offline or removed. */
  async function takeBack(): Promise<void> {
    const { absent, last } = await absentRecipients(db.sql, lookedAt, waitedForAtOnce);
    lookedAt = last;
    await takeBackItems(db.sql, absent, takenBackAtOnce);
    for (const { tenantId, poolId } of absent) look(tenantId, poolId, routine);
  }

  /** Looks at so many pools that items wait in; each time at those behind the ones before. */
  async function lookAtPools(): Promise<void> {
    const { pools, last } = await poolsWithUnassigned(db.sql, { after: polledTo, limit: poolsAtOnce });
    polledTo = last;
    for (const { tenantId, poolId } of pools) look(tenantId, poolId, routine);
  }

  /** Looks at all pools that items wait in; at those of one tenant when it is named. */
  async function lookAtAllPools(occasion: Occasion, tenantId?: string): Promise<void> {
    let after: WaitingPool | undefined;
    do {
      const { pools, last } = await poolsWithUnassigned(db.sql, { after, limit: poolsAtOnce, tenantId });
      for (const each of pools) look(each.tenantId, each.poolId, occasion);
      after = last;
    } while (after !== undefined && !stopping.signal.aborted);
  }

  const search = createSerialTask(
    async () => {
      await takeBack();
      if (signalsWereLost) {
        signalsWereLost = false;
        await lookAtAllPools(freed).catch((error) => {
          // The next search does it.
          signalsWereLost = true;
          throw error;
        });
      }
      if (pollIsDue) {
        pollIsDue = false;
        await lookAtPools();
      }
      const [tenantId] = changed;
      if (tenantId === undefined) return;
      changed.delete(tenantId);
      await lookAtAllPools({ ...routine, poolChanged: true }, tenantId);
      if (changed.size > 0) search.run();
    },
    (error) => log.warn({ err: error }, "items that wait for recipients could not be looked for"),
  );

  function poll(): void {
    pollIsDue = true;
    search.run();
  }

  live.onPlaceFreed(placeFreed);

  return {
    itemReady: (tenantId, poolId) => look(tenantId, poolId, routine),
    itemWaits,
    start() {
      isRunning = true;
      stopping = new AbortController();
      // Nobody told this node what waits while it did not listen.
      idle.clear();
      placeLooks.clear();
      timer = setInterval(poll, pollMs);
      unsubscribe = [
        onWake(readyPrefix, (tenantId, poolId) => look(tenantId, poolId, freed)),
        onWake(placePrefix, placeFreed),
        onWake(waitsPrefix, (tenantId, poolId) => {
          if (idle.itemWaits(poolId)) look(tenantId, poolId, freed);
        }),
        changes.onChange((tenantId) => {
          changed.add(tenantId);
          search.run();
        }),
      ];
      search.start();
    },
    async stop() {
      isRunning = false;
      stopping.abort();
      clearInterval(timer);
      for (const each of unsubscribe) each();
      await search.stop();
      await queue.stop();
    },
  };
}

/** Whether recipients are chosen by the service, and not by whoever takes or hands out items. */
function isAssigned({ strategy }: { readonly strategy: string }): boolean {
  return strategy !== "first_accept" && strategy !== "manual";
}

function routable({ type, key, attributes, requirements, priority }: UnassignedItem): RoutableItem {
  return { type, key, attributes, requirements: requirements as unknown as RoutableItem["requirements"], priority };
}
