import { randomInt } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type Context, PrepareAgain } from "../../../chain/call.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Page, PageRows } from "../../../platform/paging/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { PoolReader, PoolSnapshot } from "../pools/index.ts";
import { type DeadLetter, type DeadLetterState, partition, type Skipped } from "./domain/dead-letter.ts";
import type { PreparedReadmission, Readmission } from "./readmission.ts";
import { deadLetterStore, type LetterPlace, type Removal, type Renewal, type Stats } from "./store.ts";

/** The most items that one call puts back. */
const retryMax = 10_000;
const retryBite = 1000;
/** The most letters that one call removes. */
const purgeMax = 100_000;
const purgeBite = 5000;
/** Over how many rows the queue spreads a pool's depth. */
const depthShards = 16;

/** What the use cases stand on. */
export interface DeadLetterParts {
  readonly events: Pick<EventRecorder, "record">;
  readonly pools: Pick<PoolReader, "requirePool">;
  /** Tells the queue that a pool has work again; after the commit. */
  readonly wake: (tenantId: TenantId, poolId: string) => void;
  /** Asks the constraints of the pool about items that are put back. */
  readonly readmission: () => Readmission;
}

/** The most letters that one call puts back in a pool with constraints: the keys of each have to be evaluated. */
const constrainedMax = 500;

/** Undoes a round that lets nothing in. */
class NothingPlaced extends Error {
  readonly skipped: readonly Skipped[];

  constructor(skipped: readonly Skipped[]) {
    super("No letter was put back.");
    this.skipped = skipped;
  }
}

/** What retrying named letters needs to know before its transaction. */
export interface RetryPlan {
  readonly snapshot: PoolSnapshot;
  /** Undefined when the pool has no constraints. */
  readonly readmission: PreparedReadmission | undefined;
}

/** How far a retry of all letters has looked. */
export interface LettersLooked {
  readonly after: LetterPlace | undefined;
  readonly count: number;
}

const noneLooked: LettersLooked = { after: undefined, count: 0 };

/** Letters whose groups are known. */
interface LetterPage {
  readonly ids: readonly string[];
  readonly prepared: PreparedReadmission;
  readonly looked: LettersLooked;
}

/** What retrying all letters needs to know before its transaction. */
export interface RetryAllPlan {
  readonly snapshot: PoolSnapshot;
  /** Undefined when the pool has no constraints. */
  readonly page: LetterPage | undefined;
}

/** What retrying everything came to. */
export interface RetriedAll {
  readonly retried: number;
  /** Failed ones that were put back as often as they may be. */
  readonly exhausted: number;
  /** Failed ones that could still be put back. */
  readonly remaining: number;
}

/** Which letters are to be removed. */
export interface PurgeChoice {
  readonly olderThan: Date | undefined;
  readonly includeQuarantined: boolean;
}

/** The use cases of dead letters. */
export type DeadLetterService = ReturnType<typeof createDeadLetterService>;

/** Makes the use cases of dead letters. */
export function createDeadLetterService({ events, pools, wake, readmission }: DeadLetterParts) {
  /** Tells of items that were put back, and has the queue hand them out after the commit. */
  async function settle(context: Context, poolId: string, { count, depth, woken }: PutBack, all: boolean) {
    if (count === 0) return;
    const { sql, tenantId } = context;
    await events.record(context, "dead_letter.retried", poolId, { count, all });
    // Last: whoever waits for the same row of the depth waits for no more than the commit.
    await deadLetterStore(sql).addDepth(tenantId, poolId, randomInt(depthShards), depth);
    context.afterCommit(() => {
      for (const each of new Set([poolId, ...woken])) wake(tenantId, each);
    });
  }

  /** Puts back those of the named items that their pool's constraints let in, up to `max`; without any, locks nothing. */
  async function putBackConstrained(
    { sql, tenantId, nowMs }: Context,
    poolId: string,
    ids: readonly string[],
    max: number,
    renewal: Renewal,
    prepared: PreparedReadmission,
  ): Promise<PutBack & { skipped: readonly Skipped[] }> {
    const putBack = prepared.run(sql, nowMs, async (tx, round) => {
      const store = deadLetterStore(tx);
      const letters = (await store.lock(tenantId, poolId, ids)).map((letter) =>
        // What became a dead letter after the groups were found counts as being retried still.
        prepared.has(letter.queueItemId) ? letter : { ...letter, state: "retrying" as const },
      );
      const { changed, skipped } = partition("retry", ids, letters);
      const { placed, refused } = round.admit(changed, max);
      const kept = refused.map(({ queueItemId, reason }) => ({ queueItemId, reason }));
      const left = inOrder(ids, [...skipped, ...kept]);
      if (placed.length === 0) throw new NothingPlaced(left);
      const names = placed.map(({ queueItemId }) => queueItemId);
      const count = await store.retryNamed(tenantId, poolId, names, renewal, placed);
      const { depth, freed } = await round.keep();
      return { count, depth: count + depth, woken: freed.map((each) => each.poolId), skipped: left };
    });
    return putBack.catch((error) => {
      if (error instanceof NothingPlaced) return { ...unconstrained(0), skipped: error.skipped };
      throw error;
    });
  }

  /** Puts back letters of a pool with constraints. Has those behind them prepared while the constraints let none of them in. */
  async function putBackPage(context: Context, poolId: string, page: LetterPage, max: number, renewal: Renewal) {
    const { ids, prepared, looked } = page;
    if (ids.length === 0) return unconstrained(0);
    await deadLetterStore(context.sql).lockRetries(poolId);
    const done = await putBackConstrained(context, poolId, ids, max, renewal, prepared);
    if (done.count === 0 && looked.count < retryMax) throw new PrepareAgain(looked);
    return done;
  }

  /** The pool, if its constraints are still those that were prepared for; has it prepared again if not. */
  async function unchanged(context: Context, { snapshot }: { readonly snapshot: PoolSnapshot }): Promise<PoolSnapshot> {
    const current = await pools.requirePool(context, snapshot.pool.id);
    if (!isDeepStrictEqual(current.pool.config.admission, snapshot.pool.config.admission)) throw new PrepareAgain();
    return current;
  }

  return {
    async listPage(
      context: Context,
      poolId: string,
      state: DeadLetterState,
      page: Page,
    ): Promise<PageRows<DeadLetter>> {
      await pools.requirePool(context, poolId);
      return deadLetterStore(context.sql).list(context.tenantId, poolId, state, page);
    },

    async getStats(context: Context, poolId: string): Promise<Stats> {
      await pools.requirePool(context, poolId);
      return deadLetterStore(context.sql).stats(context.tenantId, poolId);
    },

    /** Finds the groups of named letters, before the transaction that puts them back. */
    async prepareRetry(context: Context, poolId: string, queueItemIds: readonly string[]): Promise<RetryPlan> {
      const snapshot = await pools.requirePool(context, poolId);
      if (!readmission().concerns(snapshot)) return { snapshot, readmission: undefined };
      return { snapshot, readmission: await readmission().prepare(context.sql, snapshot, queueItemIds) };
    },

    async retry(
      context: Context,
      queueItemIds: readonly string[],
      plan: RetryPlan,
    ): Promise<{ retried: number; skipped: readonly Skipped[] }> {
      const snapshot = await unchanged(context, plan);
      const poolId = snapshot.pool.id;
      const { sql, tenantId, nowMs } = context;
      const renewal = renewalOf(snapshot, nowMs);
      if (plan.readmission !== undefined) {
        const max = queueItemIds.length;
        const done = await putBackConstrained(context, poolId, queueItemIds, max, renewal, plan.readmission);
        await settle(context, poolId, done, false);
        return { retried: done.count, skipped: done.skipped };
      }
      const store = deadLetterStore(sql);
      const { changed, skipped } = partition("retry", queueItemIds, await store.lock(tenantId, poolId, queueItemIds));
      const retried = changed.length === 0 ? 0 : await store.retryNamed(tenantId, poolId, changed, renewal);
      await settle(context, poolId, unconstrained(retried), false);
      return { retried, skipped };
    },

    /** Finds the groups of the oldest letters behind a place, before the transaction that puts them back. */
    async prepareRetryAll(context: Context, poolId: string, from: LettersLooked = noneLooked): Promise<RetryAllPlan> {
      const snapshot = await pools.requirePool(context, poolId);
      if (!readmission().concerns(snapshot)) return { snapshot, page: undefined };
      const { sql, tenantId } = context;
      const letters = await deadLetterStore(sql).oldestRetryable(tenantId, poolId, from.after, constrainedMax);
      const ids = letters.map(({ queueItemId }) => queueItemId);
      const prepared = await readmission().prepare(sql, snapshot, ids);
      return {
        snapshot,
        page: { ids, prepared, looked: { after: letters.at(-1), count: from.count + letters.length } },
      };
    },

    async retryAll(context: Context, itemsMax: number, plan: RetryAllPlan): Promise<RetriedAll> {
      const snapshot = await unchanged(context, plan);
      const poolId = snapshot.pool.id;
      const renewal = renewalOf(snapshot, context.nowMs);
      const { sql, tenantId, signal } = context;
      const store = deadLetterStore(sql);
      const max = itemsMax === 0 ? retryMax : itemsMax;
      const done =
        plan.page === undefined
          ? unconstrained(
              await inBites(max, retryBite, signal, (limit) => store.retryOldest(tenantId, poolId, limit, renewal)),
            )
          : await putBackPage(context, poolId, plan.page, max, renewal);
      const { exhausted, retryable } = await store.countFailed(tenantId, poolId);
      await settle(context, poolId, done, true);
      return { retried: done.count, exhausted, remaining: retryable };
    },

    /** Sets letters aside, or puts those that were set aside among the failed ones again. */
    async quarantine(
      context: Context,
      poolId: string,
      queueItemIds: readonly string[],
      release: boolean,
      reason: string,
    ): Promise<{ changed: number; skipped: readonly Skipped[] }> {
      await pools.requirePool(context, poolId);
      const { sql, tenantId } = context;
      const store = deadLetterStore(sql);
      const found = await store.lock(tenantId, poolId, queueItemIds);
      const { changed, skipped } = partition(release ? "release" : "quarantine", queueItemIds, found);
      const [from, to] = release ? (["quarantined", "failed"] as const) : (["failed", "quarantined"] as const);
      const count = changed.length === 0 ? 0 : await store.setState(tenantId, poolId, changed, from, to);
      const type = release ? "dead_letter.released" : "dead_letter.quarantined";
      if (count > 0) await events.record(context, type, poolId, { count, reason });
      return { changed: count, skipped };
    },

    async purge(
      context: Context,
      poolId: string,
      { olderThan, includeQuarantined }: PurgeChoice,
    ): Promise<{ purged: number; remaining: number }> {
      await pools.requirePool(context, poolId);
      const { sql, tenantId, signal } = context;
      const store = deadLetterStore(sql);
      const removals: Removal[] = [{ state: "failed", failedBefore: olderThan }];
      if (includeQuarantined) removals.push({ state: "quarantined", failedBefore: olderThan });
      let purged = 0;
      let remaining = 0;
      for (const removal of removals) {
        purged += await inBites(purgeMax - purged, purgeBite, signal, (limit) =>
          store.remove(tenantId, poolId, removal, limit),
        );
        remaining += await store.countMatching(tenantId, poolId, removal);
      }
      if (purged > 0) {
        const data = { count: purged, older_than: olderThan?.toISOString() ?? "", quarantined: includeQuarantined };
        await events.record(context, "dead_letter.purged", poolId, data);
      }
      return { purged, remaining };
    },
  };
}

/** What putting items back came to. */
interface PutBack {
  readonly count: number;
  /** By how much the queue's depth changes. */
  readonly depth: number;
  /** Further pools in which items can go on. */
  readonly woken: readonly string[];
}

function unconstrained(count: number): PutBack {
  return { count, depth: count, woken: [] };
}

function inOrder(ids: readonly string[], skipped: readonly Skipped[]): Skipped[] {
  const byId = new Map(skipped.map((each) => [each.queueItemId, each]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

function renewalOf({ pool }: PoolSnapshot, nowMs: number): Renewal {
  const { ttlS, ageingS } = pool.config.queue;
  return { now: new Date(nowMs), expiresAt: new Date(nowMs + ttlS * 1000), ageingMs: ageingS * 1000 };
}

/** Does something bite by bite until nothing is left to do or enough is done; answers how much was done. */
async function inBites(
  most: number,
  bite: number,
  signal: AbortSignal,
  take: (limit: number) => Promise<number>,
): Promise<number> {
  let done = 0;
  while (done < most) {
    signal.throwIfAborted();
    const taken = await take(Math.min(bite, most - done));
    done += taken;
    // Fewer than wanted is no end: others may have changed some of them meanwhile.
    if (taken === 0) break;
  }
  return done;
}
