import type { TenantId } from "../../../../platform/access/index.ts";
import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Database, Signals, TenantChanges } from "../../../../platform/db/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import { createSerialTask } from "../../../../platform/jobs/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import { createTenantQueue, type EventLoopShares } from "../../../../platform/scheduling/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { PoolId, PoolReader } from "../../pools/index.ts";
import type { Leftovers } from "../../queues/index.ts";
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
  readonly leftovers: Leftovers;
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
/** Pages that are looked through when a place has become free. */
const pagesForPlace = 5;
/** How long a pool is worked on before another one of the tenant has its turn. */
const turnMs = 200;
const waitedForAtOnce = 2000;
const takenBackAtOnce = 5000;
/** Why a pool is looked at. */
interface Occasion {
  /** A recipient may have a place again: items that wait for one are tried although they are not due. */
  readonly placeFreed: boolean;
  readonly poolChanged: boolean;
}

const routine: Occasion = { placeFreed: false, poolChanged: false };
const freed: Occasion = { placeFreed: true, poolChanged: false };
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
  const idle = new IdlePools();
  let stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let unsubscribe: (() => void)[] = [];
  let isRunning = false;
  let lookedAt: WaitedFor | undefined;
  /** Where the next poll begins, so that pools whose items nobody can take do not hide those behind them. */
  let polledTo: WaitingPool | undefined;
  let pollIsDue = true;
  /** Tenants whose pools or recipients changed. */
  const changed = new Set<string>();

  const queue = createTenantQueue<Occasion>({
    concurrency: lanes,
    merge: (one, other) => ({
      placeFreed: one.placeFreed || other.placeFreed,
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
    return signals.onWakeUnder(prefix, (name) => {
      const [tenantId, poolId] = name.split(":") as [TenantId, string];
      react(tenantId, poolId);
    });
  }

  /** Assigns what is due in a pool; when a place is free, also what waits for nothing else. */
  async function lookThrough(pool: WaitingPool, { placeFreed: forPlace, poolChanged }: Occasion): Promise<void> {
    const { tenantId, poolId } = pool;
    // What calls are given may be as it was before the change, for a moment.
    if (poolChanged) await pools.refresh(tenantId, poolId as PoolId);
    const untilMs = performance.now() + turnMs;
    // A look for a free place begins with whoever goes first. The routine looks go on where they were, so that items that
    // nobody can take never hide those behind them.
    let after: QueuePlace | undefined = forPlace ? start : (places.get(poolId) ?? start);
    for (let page = 0; page < (forPlace ? pagesForPlace : 1) && after !== undefined; page++) {
      const snapshot = await pools.snapshot(tenantId, poolId);
      if (snapshot === undefined) return void places.delete(poolId);
      const reasons = forPlace ? capacityReasons : [];
      const undecidedOnly = !isAssigned(snapshot.pool);
      const search = { after, limit: itemsPerPage, undecidedOnly, snapshot: snapshotName(snapshot), reasons };
      const searched = idle.beginSearch(poolId);
      const { items, last, moreUndecided, isEmpty } = await unassignedItems(db.sql, pool, search);
      if (idle.endSearch(poolId, searched, { nothing: isEmpty && after === start, forPlace })) {
        look(tenantId, poolId, freed);
      }
      const view = await live.view(snapshot);
      const tried = await assignPage(pool, view, items, untilMs);
      // Undecided items are sought from the front each time; the others from the last one that was tried.
      const isDecided = ({ undecided }: UnassignedItem) => !undecided;
      after = items.slice(tried).some(isDecided) ? (items.slice(0, tried).findLast(isDecided) ?? after) : last;
      if (tried < items.length || moreUndecided) {
        // The rest has its turn after the tenant's other pools.
        look(tenantId, poolId, forPlace ? freed : routine);
        break;
      }
    }
    if (forPlace) return;
    if (after === undefined) places.delete(poolId);
    else places.set(poolId, after);
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

  /** Looks at all pools of a tenant that items wait in, after a change of any of them. */
  async function lookAtPoolsOf(tenantId: string): Promise<void> {
    let after: WaitingPool | undefined;
    do {
      const { pools, last } = await poolsWithUnassigned(db.sql, { after, limit: poolsAtOnce, tenantId });
      for (const { poolId } of pools) look(tenantId as TenantId, poolId, { placeFreed: false, poolChanged: true });
      after = last;
    } while (after !== undefined && !stopping.signal.aborted);
  }

  const search = createSerialTask(
    async () => {
      await takeBack();
      if (pollIsDue) {
        pollIsDue = false;
        await lookAtPools();
      }
      const [tenantId] = changed;
      if (tenantId === undefined) return;
      changed.delete(tenantId);
      await lookAtPoolsOf(tenantId);
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
