import type { TenantId } from "../../../../platform/access/index.ts";
import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import { isDataError } from "../../../../platform/db/index.ts";
import { createRepeatedTask } from "../../../../platform/jobs/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventEntry, EventRecorder } from "../../../operations/index.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import { type CompiledPool, compilePool } from "../domain/compilation/compiled-pool.ts";
import { LivePool } from "../domain/facts/live-pool.ts";
import { applyOutcome, type ItemOutcome, type RecipientHealth, unknownHealth } from "../domain/facts/outlier.ts";
import { createCompiledPools } from "./compiled-pools.ts";
import { assignedCounts, recipientStates, saveStates } from "./live-store.ts";

/** A compiled pool with its live state on this node. */
export interface LiveView {
  readonly pool: CompiledPool;
  readonly live: LivePool;
}

export interface RecipientOutcome extends ItemOutcome {
  readonly tenantId: TenantId;
  readonly poolId: string;
  readonly recipientId: string;
}

/** The live state of the pools that this node decides for: loads, health and last assignments of recipients. */
export type LivePools = ReturnType<typeof createLivePools>;

interface Entry {
  readonly tenantId: TenantId;
  view: LiveView;
  /** The other side of a running canary. */
  canary: CompiledPool | undefined;
  readonly health: Map<string, RecipientHealth>;
  /** Recipients with unsaved changes. */
  readonly unsaved: Set<string>;
  /** Recipients whose changes are being saved. */
  saving: ReadonlySet<string>;
  /** The next read of the stored state, by the monotonic clock; 0 if it was not read yet. */
  refreshAtMs: number;
  refreshing: Promise<void> | undefined;
}

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log"> {
  readonly events: EventRecorder;
  readonly entriesMax?: number;
  /** A monotonic clock. */
  readonly monotonicMs?: () => number;
}

const boundedRefreshMs = 2000;
const unboundedRefreshMs = 15_000;
/** Nodes that share a pool save the same rows and wait for each other's commits. They read them every two seconds at most. */
const saveMs = 1000;
const none: ReadonlySet<string> = new Set();

/** Creates this node's live state. It is a cache of the stored state and may be dropped at any time. */
export function createLivePools({
  db,
  clock,
  log,
  events,
  entriesMax = 5000,
  monotonicMs = () => performance.now(),
}: Dependencies) {
  const entries = new BoundedCache<string, Entry>(entriesMax);
  /** Pools in which nothing was decided yet. */
  const unused = createCompiledPools(entriesMax);
  const ejected: EventEntry[] = [];
  const placeListeners: ((tenantId: TenantId, poolId: string) => void)[] = [];

  async function refresh(poolId: string, entry: Entry): Promise<void> {
    const { tenantId } = entry;
    // Changes that are saved during the read may be missing in its result.
    const changed = new Set([...entry.unsaved, ...entry.saving]);
    const [counts, states] = await Promise.all([
      assignedCounts(db.sql, tenantId, poolId),
      recipientStates(db.sql, tenantId, poolId),
    ]);
    const { live, pool } = entry.view;
    const wasFull = live.isFull;
    const inFlight = new Map(counts.map(({ recipientId, count }) => [recipientId, count]));
    live.refresh(pool.snapshot.recipients.map(({ id }) => ({ recipientId: id, inFlight: inFlight.get(id) ?? 0 })));
    const hasChanged = (id: string) => changed.has(id) || entry.unsaved.has(id) || entry.saving.has(id);
    live.refresh(
      states.map((state) => {
        // Unsaved local changes are newer than the stored state. Other nodes may have ejected the recipient as well.
        const local = hasChanged(state.recipientId) ? entry.health.get(state.recipientId) : undefined;
        return {
          recipientId: state.recipientId,
          ejectedUntilMs: Math.max(state.ejectedUntil?.getTime() ?? 0, local?.ejectedUntilMs ?? 0),
          deprioritizedUntilMs: state.deprioritizedUntil?.getTime() ?? 0,
          latencyMs: local?.latencyMs ?? state.latencyMs ?? Number.NaN,
          cost: local?.cost ?? state.cost ?? Number.NaN,
          ...(state.lastAssignedAt !== null && { lastAssignedAtMs: state.lastAssignedAt.getTime() }),
        };
      }),
    );
    for (const state of states) {
      if (hasChanged(state.recipientId)) continue;
      entry.health.set(state.recipientId, {
        ...unknownHealth,
        consecutiveFailures: state.consecutiveFailures,
        ejections: state.ejections,
        ejectedUntilMs: state.ejectedUntil?.getTime() ?? 0,
        latencyMs: state.latencyMs,
        cost: state.cost,
        latencyAtMs: clock.now(),
        costAtMs: clock.now(),
      });
    }
    const bounded = pool.capacities.some((capacity) => capacity > 0);
    entry.refreshAtMs = monotonicMs() + (bounded ? boundedRefreshMs : unboundedRefreshMs);
    // Another node completed items, or items were cancelled.
    if (wasFull && !live.isFull) placeFreed(tenantId, poolId);
  }

  function placeFreed(tenantId: TenantId, poolId: string): void {
    for (const listener of placeListeners) listener(tenantId, poolId);
  }

  function refreshSoon(poolId: string, entry: Entry): Promise<void> {
    entry.refreshing ??= refresh(poolId, entry).finally(() => {
      entry.refreshing = undefined;
    });
    return entry.refreshing;
  }

  async function firstView(snapshot: PoolSnapshot): Promise<LiveView> {
    const { id: poolId, tenantId } = snapshot.pool;
    const known = entries.get(poolId);
    if (known !== undefined) {
      // The state is being read, or could not be read before.
      await refreshSoon(poolId, known);
      return viewOf(known, snapshot);
    }
    const pool = unused.take(snapshot);
    const view = { pool, live: new LivePool(pool, Math.floor(Math.random() * 2 ** 32)) };
    const entry: Entry = {
      tenantId,
      view,
      canary: undefined,
      health: new Map(),
      unsaved: new Set(),
      saving: none,
      refreshAtMs: 0,
      refreshing: undefined,
    };
    entries.set(poolId, entry);
    await refreshSoon(poolId, entry);
    return viewOf(entry, snapshot);
  }

  /** The view of a snapshot. Both sides of a canary share the live state of their recipients. */
  function viewOf(entry: Entry, snapshot: PoolSnapshot): LiveView {
    const { live, pool: before } = entry.view;
    if (snapshot.candidateId !== undefined) {
      const known = entry.canary?.snapshot;
      // Callers that hold the snapshot of an ended canary still decide by its content, not by the next canary's.
      if (known?.candidateId !== snapshot.candidateId || isReplaced(known, snapshot))
        entry.canary = compilePool(snapshot, before);
      return { pool: entry.canary!, live };
    }
    if (isReplaced(before.snapshot, snapshot)) {
      const pool = compilePool(snapshot, before);
      live.follow(pool);
      entry.view = { pool, live };
    }
    return entry.view;
  }

  /** Saves the changed states and records the ejection events, in one transaction. */
  async function saveChanges(): Promise<void> {
    const changes = [...entries].flatMap(([poolId, { tenantId, view, health, unsaved }]) =>
      [...unsaved].map((recipientId) => {
        const known = health.get(recipientId) ?? unknownHealth;
        const { consecutiveFailures, ejectedUntilMs, ejections, latencyMs, cost } = known;
        const learned = { consecutiveFailures, ejectedUntilMs, ejections, latencyMs, cost };
        const index = view.pool.indexById.get(recipientId);
        const lastAssignedAtMs = index === undefined ? undefined : Math.floor(view.live.lastAssignedAtMs[index]!);
        return { tenantId, poolId, recipientId, ...learned, lastAssignedAtMs };
      }),
    );
    if (changes.length === 0) return;
    const changed = [...entries].map(([, entry]) => entry).filter(({ unsaved }) => unsaved.size > 0);
    for (const entry of changed) {
      entry.saving = new Set(entry.unsaved);
      entry.unsaved.clear();
    }
    const fresh = ejected.splice(0);
    try {
      await db.transaction(async (tx) => {
        await saveStates(tx, changes, clock.now());
        await events.recordMany(tx, fresh, clock.now());
      });
    } catch (error) {
      // Saved with the next changes, unless they would fail for the same reason.
      if (!isDataError(error)) {
        for (const { unsaved, saving } of changed) for (const id of saving) unsaved.add(id);
        ejected.unshift(...fresh);
      }
      throw error;
    } finally {
      for (const entry of changed) entry.saving = none;
    }
  }

  const saves = createRepeatedTask({
    work: saveChanges,
    maxWaitMs: saveMs,
    onError: (error) => log.warn({ err: error }, "the state of recipients could not be saved"),
    runsAtStop: true,
  });

  function recordOutcome(outcome: RecipientOutcome, nowMs: number): void {
    const { tenantId, poolId, recipientId } = outcome;
    const entry = entries.get(poolId);
    if (entry === undefined) return;
    const { pool, live } = entry.view;
    const before = entry.health.get(recipientId) ?? unknownHealth;
    const share = (live.ejectedCount(nowMs) + 1) / Math.max(1, pool.eligible.length);
    const after = applyOutcome(before, outcome, pool.snapshot.pool.config.outlier, nowMs, share);
    entry.health.set(recipientId, after);
    entry.unsaved.add(recipientId);
    live.refresh([
      {
        recipientId,
        ejectedUntilMs: after.ejectedUntilMs,
        latencyMs: after.latencyMs ?? Number.NaN,
        cost: after.cost ?? Number.NaN,
      },
    ]);
    if (after.ejectedUntilMs > before.ejectedUntilMs) {
      const until = new Date(after.ejectedUntilMs).toISOString();
      ejected.push({ tenantId, type: "recipient.ejected", subject: recipientId, data: { pool_id: poolId, until } });
    }
  }

  return {
    /** The live view of a snapshot; a promise while the stored state is read first. */
    view(snapshot: PoolSnapshot): LiveView | Promise<LiveView> {
      const entry = entries.get(snapshot.pool.id);
      if (entry === undefined || entry.refreshAtMs === 0) return firstView(snapshot);
      const view = viewOf(entry, snapshot);
      if (monotonicMs() >= entry.refreshAtMs && entry.refreshing === undefined) {
        refreshSoon(snapshot.pool.id, entry).catch((error) =>
          log.warn({ err: error }, "the load of a pool could not be read"),
        );
      }
      return view;
    },
    /** The compiled pool of a snapshot, for what does not depend on the state of recipients. Nothing is read. */
    compiled(snapshot: PoolSnapshot): CompiledPool {
      const entry = entries.get(snapshot.pool.id);
      return entry === undefined ? unused.compile(snapshot) : viewOf(entry, snapshot).pool;
    },
    /** Records an assignment before it is committed, so that the next decision takes it into account. */
    recordAssignment({ pool, live }: LiveView, recipientId: string, nowMs: number) {
      live.assigned(recipientId, nowMs);
      entries.get(pool.snapshot.pool.id)?.unsaved.add(recipientId);
    },
    /** Undoes an assignment, or records that the recipient has finished an item. */
    recordRelease(tenantId: TenantId, poolId: string, recipientId: string) {
      const view = entries.get(poolId)?.view;
      view?.live.released(recipientId);
      const index = view?.pool.indexById.get(recipientId);
      // A recipient without a capacity limit is never full.
      if (index === undefined || view!.pool.capacities[index]! > 0) placeFreed(tenantId, poolId);
    },
    /** Calls the listener with every pool in which a recipient may have a free place. */
    onPlaceFreed: (listener: (tenantId: TenantId, poolId: string) => void) => void placeListeners.push(listener),
    /** Updates the health of recipients. */
    recordOutcomes(outcomes: readonly RecipientOutcome[], nowMs: number) {
      for (const outcome of outcomes) recordOutcome(outcome, nowMs);
    },
    start: saves.start,
    async stop() {
      await saves.stop();
      await Promise.allSettled([...entries].map(([, { refreshing }]) => refreshing));
    },
  };
}

/** Whether a snapshot replaces the known one. Callers may still hold a snapshot older than the one that decisions use. */
function isReplaced(known: PoolSnapshot | undefined, { digest, revision }: PoolSnapshot): boolean {
  return known === undefined || (known.digest !== digest && known.revision <= revision);
}
