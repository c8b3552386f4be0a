import { pauseAfterScanMs, readMsToNext, type Sql } from "../../../../platform/db/index.ts";
import { createRepeatedTask } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { groupKey, groupNamesOf, readGroups, saveGroups, vacateGroup } from "../../admission/index.ts";
import type { PoolReader } from "../../pools/index.ts";
import type { CompletionService, WorkReport } from "../completion/completion-service.ts";
import { createDependencySweep } from "../dependencies/dependency-sweep.ts";
import { applyTransitions } from "../transitions/item-transitions.ts";
import { shardCount } from "../transitions/queue-counts.ts";
import { type EndedItem, readItemExtras } from "../transitions/transition-store.ts";
import { createPauseEnd } from "./pause-end.ts";
import * as store from "./sweep-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log"> {
  readonly pools: Pick<PoolReader, "snapshot">;
  readonly completion: CompletionService;
  readonly events: EventRecorder;
  readonly wake: (tenantId: string, poolId: string) => void;
  /** Called after the commit with items that the sweep ended. */
  readonly onEnded: (items: readonly EndedItem[]) => void;
  /** Ends offers that were not answered in time; returns them. */
  readonly expireOffers: (limit: number) => Promise<readonly { tenantId: string; poolId: string }[]>;
}

/**
 * Releases due items and items whose dependencies have ended, ends expired leases and offers, expires items, and resumes queues
 * whose pause has ended. Every node runs one.
 */
export type ItemSweeper = ReturnType<typeof createItemSweeper>;

const batchSize = 500;
const pausesEveryMs = 1000;
const soonestMs = 5;
const slowEveryMs = 5000;

export function createItemSweeper(dependencies: Dependencies) {
  const { db, signals, clock, log, pools, completion, events, wake, onEnded, expireOffers } = dependencies;
  const sweepDependencies = createDependencySweep({ ...dependencies, now: clock.now });
  const endPauses = createPauseEnd({ db, events, now: clock.now });
  // Times of `performance.now()`, because the system clock may be set back.
  let slowAtMs = 0;
  let pausesAtMs = 0;
  let dueAtMs = 0;
  let turn = 0;
  let passedAtMs: number | undefined;
  const nextShard = () => turn++ % shardCount;

  async function endExpiredLeases(): Promise<boolean> {
    const expired = await store.findExpiredLeases(db.sql, batchSize);
    const reports: WorkReport[] = [];
    for (const { tenantId, poolId, id, leaseToken } of expired) {
      const snapshot = await pools.snapshot(tenantId, poolId);
      if (snapshot === undefined) continue;
      const { retry, dlq, itemEvents } = snapshot.pool.config;
      reports.push({
        tenantId,
        poolId,
        id,
        token: leaseToken,
        overdue: true,
        failure: {
          retryable: true,
          reasonCode: "lease_expired",
          reason: "The lease expired before the worker reported a result.",
        },
        phase: "lease",
        retry,
        maxRetries: dlq.maxRetries,
        itemEvents,
      });
    }
    if (reports.length > 0) await completion.finishItems(reports);
    const unreported = await store.completeUnreported(db.sql, clock.now(), batchSize);
    return expired.length === batchSize || unreported === batchSize;
  }

  async function releaseDue(): Promise<boolean> {
    const plain = await store.releaseDueItems(db.sql, batchSize);
    wakeAll(plain);
    const windows = await store.findEndedWindows(db.sql, batchSize);
    if (windows.length > 0) wakeAll(await db.transaction((tx) => endWindows(tx, windows)));
    const offers = await expireOffers(batchSize);
    wakeAll(offers);
    return [plain, windows, offers].some(({ length }) => length === batchSize);
  }

  /** Releases items whose debounce window has ended; a newer item may have begun another window since. */
  async function endWindows(tx: Sql, items: readonly store.DueItem[]) {
    const kind = "debounce" as const;
    const names = items.map(({ tenantId, debounceGroup }) => ({ tenantId, kind, groupId: debounceGroup }));
    const owned = await readGroups(tx, names, true);
    const ready = await store.releaseFromWindows(tx, items);
    const vacatedGroups = ready.flatMap(({ id, debounceGroup }) => {
      const group = owned.get(groupKey({ kind, groupId: debounceGroup }));
      return group?.state.itemId === id ? [{ ...group, state: vacateGroup(group.state) }] : [];
    });
    await saveGroups(tx, vacatedGroups, clock.now());
    return ready;
  }

  /** Expires items. No event announces an expiry, so this runs at a slow interval. */
  async function expireItems(): Promise<boolean> {
    const startedAtMs = performance.now();
    if (startedAtMs < slowAtMs) return false;
    const outdated = await store.findExpiredItems(db.sql, batchSize);
    slowAtMs = startedAtMs + Math.max(slowEveryMs, pauseAfterScanMs(performance.now() - startedAtMs));
    if (outdated.length > 0) {
      const done = await db.transaction((tx) => expire(tx, outdated, clock.now()));
      wakeAll(done.freed);
      onEnded(done.transitioned);
    }
    if (outdated.length === batchSize) slowAtMs = 0;
    return outdated.length === batchSize;
  }

  /** Resumes queues. The end of a pause is no deadline of an item, so this runs once a second at most. */
  async function resumeQueues(): Promise<boolean> {
    if (performance.now() < pausesAtMs) return false;
    pausesAtMs = performance.now() + pausesEveryMs;
    const resumed = await endPauses(batchSize);
    wakeAll(resumed);
    if (resumed.length === batchSize) pausesAtMs = 0;
    return resumed.length === batchSize;
  }

  async function expire(tx: Sql, outdated: Awaited<ReturnType<typeof store.findExpiredItems>>, nowMs: number) {
    const groups = (await readItemExtras(tx, outdated)).flatMap(groupNamesOf);
    const transitions = outdated.map((item) => ({ ...item, from: "waiting" as const, to: "expired" as const }));
    const { transitioned, freed } = await applyTransitions(tx, transitions, groups, nowMs, nextShard());
    const entries = transitioned.map(({ tenantId, id, poolId }) => ({
      tenantId,
      type: "queue.item.expired" as const,
      subject: id,
      data: { pool_id: poolId },
    }));
    await events.recordMany(tx, entries, nowMs);
    return { transitioned, freed };
  }

  function wakeAll(items: readonly { tenantId: string; poolId: string }[]): void {
    const pools = new Map(items.map(({ tenantId, poolId }) => [poolId, tenantId]));
    for (const [poolId, tenantId] of pools) wake(tenantId, poolId);
  }

  async function sweep(): Promise<boolean> {
    const more = [await endExpiredLeases(), await releaseDue(), await expireItems()];
    more.push(await sweepDependencies(), await resumeQueues());
    return more.includes(true);
  }

  /** Reads whether something is due, and when to read again. */
  async function isAnythingDue(): Promise<boolean> {
    const startedAtMs = performance.now();
    const inMs = (await readMsToNext(db.sql, store.nextDeadline)) ?? Number.POSITIVE_INFINITY;
    const nowMs = performance.now();
    dueAtMs = nowMs + Math.max(inMs, pauseAfterScanMs(nowMs - startedAtMs));
    return inMs <= 0;
  }

  /** Sweeps if something is due; returns when to run again. */
  async function round(): Promise<number> {
    const isDue = performance.now() >= dueAtMs && (await isAnythingDue());
    const hasMore = isDue ? await sweep() : await expireItems();
    passedAtMs = performance.now();
    if (hasMore) dueAtMs = 0;
    return Math.max(soonestMs, Math.min(dueAtMs - passedAtMs, slowEveryMs));
  }

  /** Runs a round within this time. */
  function sweepWithin(ms: number): void {
    dueAtMs = Math.min(dueAtMs, performance.now() + ms);
    task.runWithin(Math.max(soonestMs, ms));
  }

  const task = createRepeatedTask({
    work: round,
    onError: (error) => log.warn({ err: error }, "queue sweep failed"),
    subscribe: () => [signals.onDue(store.nextDeadline, sweepWithin)],
  });

  return {
    /** Schedules a sweep at this time at the latest. */
    sweepBy: (atMs: number) => sweepWithin(atMs - clock.now()),
    /** Runs one round of all tasks; returns whether there may be more to do immediately. */
    sweep,
    /** When the sweeper last completed a round, in milliseconds of `performance.now()`. */
    lastPassMs: () => passedAtMs,
    start: task.start,
    stop: task.stop,
  };
}
