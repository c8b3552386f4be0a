import { randomInt } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type Context, PrepareAgain } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { lockFor } from "../../../platform/db/index.ts";
import type { Page } from "../../../platform/paging/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { allPools, type PoolReader, type PoolSnapshot, priorityWorthS } from "../pools/index.ts";
import { type DeadLetterState, partition, type SkippedLetter } from "./domain/dead-letter.ts";
import type { PreparedReadmission, Readmission } from "./readmission.ts";
import {
  deadLetterStore,
  type LetterPosition,
  type PoolChoice,
  type RemovalFilter,
  type RequeueSettings,
  type Stats,
} from "./store.ts";

/** The maximum number of items that one call requeues. */
const retryMax = 10_000;
const retryBatchSize = 1000;
/** The maximum number of letters that one call deletes. */
const purgeMax = 100_000;
const purgeBatchSize = 5000;
/** The number of rows over which the queue spreads a pool's depth counter. */
const depthShards = 16;

export interface DeadLetterParts {
  readonly events: Pick<EventRecorder, "record">;
  readonly pools: Pick<PoolReader, "requireKnownPool" | "requireRetryPool">;
  /** Signals the queue that a pool has ready items; called after the commit. */
  readonly wake: (tenantId: TenantId, poolId: string) => void;
  /** Applies the pool's constraints to items that are requeued. */
  readonly readmission: () => Readmission;
}

/** The maximum number of letters per call in a pool with constraints, because the keys of each item must be evaluated. */
const constrainedMax = 500;

/** Rolls back a batch in which no item was admitted. */
class NothingRequeued extends Error {
  readonly skipped: readonly SkippedLetter[];

  constructor(skipped: readonly SkippedLetter[]) {
    super("No letter was requeued.");
    this.skipped = skipped;
  }
}

/** Data that a retry of named letters reads before its transaction. */
export interface RetryPlan {
  readonly snapshot: PoolSnapshot;
  /** Undefined when the pool has no constraints. */
  readonly readmission: PreparedReadmission | undefined;
}

/** How far a retry of all letters has scanned. */
export interface ScanProgress {
  readonly after: LetterPosition | undefined;
  readonly count: number;
}

const scanStart: ScanProgress = { after: undefined, count: 0 };

/** One page of letters with their admission groups. */
interface LetterPage {
  readonly ids: readonly string[];
  readonly prepared: PreparedReadmission;
  readonly progress: ScanProgress;
}

/** Data that a retry of all letters reads before its transaction. */
export interface RetryAllPlan {
  readonly snapshot: PoolSnapshot;
  /** Undefined when the pool has no constraints. */
  readonly page: LetterPage | undefined;
}

export type DeadLetterService = ReturnType<typeof createDeadLetterService>;

export function createDeadLetterService({ events, pools, wake, readmission }: DeadLetterParts) {
  /** Records the event and the queue depth of requeued items, and wakes the queue after the commit. */
  async function finishRequeue(context: Context, poolId: string, { count, depth, woken }: RequeueResult, all: boolean) {
    if (count === 0) return;
    const { sql, tenantId } = context;
    await events.record(context, "dead_letter.retried", poolId, { count, all });
    // The depth row comes last: its lock is then held only until the commit.
    await deadLetterStore(sql).addDepth(tenantId, poolId, randomInt(depthShards), depth);
    context.afterCommit(() => {
      for (const each of new Set([poolId, ...woken])) wake(tenantId, each);
    });
  }

  /** Requeues the named items that the pool's constraints admit, up to `max`. Keeps no lock when none is admitted. */
  async function requeueConstrained(
    { sql, tenantId, nowMs }: Context,
    poolId: string,
    ids: readonly string[],
    max: number,
    settings: RequeueSettings,
    prepared: PreparedReadmission,
  ): Promise<RequeueResult & { skipped: readonly SkippedLetter[] }> {
    const requeue = prepared.run(sql, nowMs, async (tx, batch) => {
      const store = deadLetterStore(tx);
      const letters = (await store.lock(tenantId, poolId, ids)).map((letter) =>
        // An item that became a dead letter after its groups were read is reported as still being retried.
        prepared.has(letter.queueItemId) ? letter : { ...letter, state: "retrying" as const },
      );
      const { changed, skipped } = partition("retry", ids, letters);
      const { placed, refused } = batch.admit(changed, max);
      const skippedByAdmission = refused.map(({ queueItemId, reason }) => ({ queueItemId, reason }));
      const left = inOrder(ids, [...skipped, ...skippedByAdmission]);
      if (placed.length === 0) throw new NothingRequeued(left);
      const names = placed.map(({ queueItemId }) => queueItemId);
      const count = await store.retryNamed(tenantId, poolId, names, settings, placed);
      const { depth, freed } = await batch.save();
      return { count, depth: count + depth, woken: freed.map((each) => each.poolId), skipped: left };
    });
    return requeue.catch((error) => {
      if (error instanceof NothingRequeued) return { ...unconstrained(0), skipped: error.skipped };
      throw error;
    });
  }

  /** Requeues one page of letters of a pool with constraints. Continues with the next page when none of them is admitted. */
  async function requeuePage(
    context: Context,
    poolId: string,
    page: LetterPage,
    max: number,
    settings: RequeueSettings,
  ) {
    const { ids, prepared, progress } = page;
    if (ids.length === 0) return unconstrained(0);
    await lockFor(context.sql, "dead_letter_retries", poolId);
    const done = await requeueConstrained(context, poolId, ids, max, settings, prepared);
    if (done.count === 0 && progress.count < retryMax) throw new PrepareAgain(progress);
    return done;
  }

  /** Returns the current pool. Restarts the preparation when its constraints have changed. */
  async function requireUnchanged(context: Context, { snapshot }: { readonly snapshot: PoolSnapshot }) {
    const current = await pools.requireRetryPool(context, snapshot.pool.id);
    if (!isDeepStrictEqual(current.pool.config.admission, snapshot.pool.config.admission)) throw new PrepareAgain();
    return current;
  }

  /** The pools that a read is about. Throws if it names one that the caller may not use. */
  async function readablePools(context: Context, { poolId, environmentId }: LetterPlace): Promise<PoolChoice> {
    const { principal } = context;
    if (poolId === allPools) return { poolId: undefined, principal, environmentId };
    await pools.requireKnownPool(context, poolId);
    return { poolId, principal, environmentId };
  }

  return {
    async listPage(context: Context, place: LetterPlace, state: DeadLetterState, page: Page) {
      return deadLetterStore(context.sql).list(context.tenantId, await readablePools(context, place), state, page);
    },

    async getStats(context: Context, place: LetterPlace): Promise<Stats> {
      return deadLetterStore(context.sql).stats(context.tenantId, await readablePools(context, place));
    },

    /** Evaluates the groups of named letters, before the transaction that requeues them. */
    async prepareRetry(context: Context, poolId: string, queueItemIds: readonly string[]): Promise<RetryPlan> {
      const snapshot = await pools.requireRetryPool(context, poolId);
      if (!readmission().appliesTo(snapshot)) return { snapshot, readmission: undefined };
      return { snapshot, readmission: await readmission().prepare(context.sql, snapshot, queueItemIds) };
    },

    async retry(context: Context, queueItemIds: readonly string[], plan: RetryPlan) {
      const snapshot = await requireUnchanged(context, plan);
      const poolId = snapshot.pool.id;
      const { sql, tenantId, nowMs } = context;
      const settings = requeueSettings(snapshot, nowMs);
      if (plan.readmission !== undefined) {
        const max = queueItemIds.length;
        const done = await requeueConstrained(context, poolId, queueItemIds, max, settings, plan.readmission);
        await finishRequeue(context, poolId, done, false);
        return { retriedCount: done.count, skipped: done.skipped };
      }
      const store = deadLetterStore(sql);
      const { changed, skipped } = partition("retry", queueItemIds, await store.lock(tenantId, poolId, queueItemIds));
      const retriedCount = changed.length === 0 ? 0 : await store.retryNamed(tenantId, poolId, changed, settings);
      await finishRequeue(context, poolId, unconstrained(retriedCount), false);
      return { retriedCount, skipped };
    },

    /** Evaluates the groups of the oldest letters after a position, before the transaction that requeues them. */
    async prepareRetryAll(context: Context, poolId: string, from: ScanProgress = scanStart): Promise<RetryAllPlan> {
      const snapshot = await pools.requireRetryPool(context, poolId);
      if (!readmission().appliesTo(snapshot)) return { snapshot, page: undefined };
      const { sql, tenantId } = context;
      const letters = await deadLetterStore(sql).oldestRetryable(tenantId, poolId, from.after, constrainedMax);
      const ids = letters.map(({ queueItemId }) => queueItemId);
      const prepared = await readmission().prepare(sql, snapshot, ids);
      return {
        snapshot,
        page: { ids, prepared, progress: { after: letters.at(-1), count: from.count + letters.length } },
      };
    },

    async retryAll(context: Context, itemsMax: number, plan: RetryAllPlan) {
      const snapshot = await requireUnchanged(context, plan);
      const poolId = snapshot.pool.id;
      const settings = requeueSettings(snapshot, context.nowMs);
      const { sql, tenantId, signal } = context;
      const store = deadLetterStore(sql);
      const max = itemsMax === 0 ? retryMax : itemsMax;
      const done =
        plan.page === undefined
          ? unconstrained(
              await repeatInBatches(max, retryBatchSize, signal, (limit) =>
                store.retryOldest(tenantId, poolId, limit, settings),
              ),
            )
          : await requeuePage(context, poolId, plan.page, max, settings);
      const { exhausted, retryable } = await store.countFailed(tenantId, poolId);
      await finishRequeue(context, poolId, done, true);
      return { retriedCount: done.count, skippedCount: exhausted, remainingCount: retryable };
    },

    /** Quarantines letters, or releases quarantined ones. */
    async quarantine(
      context: Context,
      poolId: string,
      queueItemIds: readonly string[],
      release: boolean,
      reason: string,
    ) {
      await pools.requireKnownPool(context, poolId);
      const { sql, tenantId } = context;
      const store = deadLetterStore(sql);
      const found = await store.lock(tenantId, poolId, queueItemIds);
      const { changed, skipped } = partition(release ? "release" : "quarantine", queueItemIds, found);
      const [from, to] = release ? (["quarantined", "failed"] as const) : (["failed", "quarantined"] as const);
      const changedCount = changed.length === 0 ? 0 : await store.setState(tenantId, poolId, changed, from, to);
      const type = release ? "dead_letter.released" : "dead_letter.quarantined";
      if (changedCount > 0) await events.record(context, type, poolId, { count: changedCount, reason });
      return { changedCount, skipped };
    },

    async purge(context: Context, poolId: string, olderThan: Date | undefined, includeQuarantined: boolean) {
      await pools.requireKnownPool(context, poolId);
      const { sql, tenantId, signal } = context;
      const store = deadLetterStore(sql);
      const removals: RemovalFilter[] = [{ state: "failed", failedBefore: olderThan }];
      if (includeQuarantined) removals.push({ state: "quarantined", failedBefore: olderThan });
      let purgedCount = 0;
      let remainingCount = 0;
      for (const removal of removals) {
        purgedCount += await repeatInBatches(purgeMax - purgedCount, purgeBatchSize, signal, (limit) =>
          store.remove(tenantId, poolId, removal, limit),
        );
        remainingCount += await store.countMatching(tenantId, poolId, removal);
      }
      if (purgedCount > 0) {
        const data = {
          count: purgedCount,
          older_than: olderThan?.toISOString() ?? "",
          quarantined: includeQuarantined,
        };
        await events.record(context, "dead_letter.purged", poolId, data);
      }
      return { purgedCount, remainingCount };
    },
  };
}

/** Where a read looks for letters. */
interface LetterPlace {
  /** A pool, or `-` for all. */
  readonly poolId: string;
  /** The id or key of an environment; empty for all. */
  readonly environmentId: string;
}

interface RequeueResult {
  readonly count: number;
  /** The change of the queue's depth. */
  readonly depth: number;
  /** Other pools in which waiting items can proceed. */
  readonly woken: readonly string[];
}

function unconstrained(count: number): RequeueResult {
  return { count, depth: count, woken: [] };
}

function inOrder(ids: readonly string[], skipped: readonly SkippedLetter[]): SkippedLetter[] {
  const byId = new Map(skipped.map((each) => [each.queueItemId, each]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function requeueSettings({ pool }: PoolSnapshot, nowMs: number): RequeueSettings {
  const { queue } = pool.config;
  const ageingMs = priorityWorthS(queue) * 1000;
  return { now: new Date(nowMs), expiresAt: new Date(nowMs + queue.ttlS * 1000), ageingMs };
}

/** Repeats an operation in batches until it does nothing or `max` is reached; returns the total. */
async function repeatInBatches(
  max: number,
  batchSize: number,
  signal: AbortSignal,
  run: (limit: number) => Promise<number>,
): Promise<number> {
  let done = 0;
  while (done < max) {
    signal.throwIfAborted();
    const count = await run(Math.min(batchSize, max - done));
    done += count;
    // A short batch is not the end: other transactions may have changed some of the rows.
    if (count === 0) break;
  }
  return done;
}
