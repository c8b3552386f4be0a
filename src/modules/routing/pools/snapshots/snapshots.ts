import type { TenantId } from "../../../../platform/access/index.ts";
import { BoundedCache } from "../../../../platform/cache/bounded-cache.ts";
import { shareOf } from "../../../../platform/process-share/process-share.ts";
import type { PlatformServices } from "../../../area.ts";
import type { PoolId } from "../domain/pool.ts";
import type { PoolSnapshot, TenantPools } from "../domain/snapshot.ts";
import { createSnapshot } from "./snapshot-codec.ts";
import { type KnownPools, type LoadedPool, snapshotStore } from "./snapshot-store.ts";

/**
 * Pool snapshots, mostly from memory. After a change, calls get the previous snapshot for at most a second while
 * the new one is loaded.
 */
export type Snapshots = ReturnType<typeof createSnapshots>;

interface Dependencies extends Pick<PlatformServices, "db" | "changes"> {
  /** Maximum number of pools, recipients and rules cached in total. */
  readonly recordsMax?: number;
  /** Maximum number of tenants whose state is kept. */
  readonly tenantsMax?: number;
  /** A monotonic clock. */
  readonly monotonicMs?: () => number;
}

interface CacheEntry {
  readonly tenantId: TenantId;
  readonly snapshot: PoolSnapshot;
  readonly revision: number;
  /** The generation of the tenant in which the revision was last verified as current. */
  checkedIn: number;
}

/** Cached state of a tenant. It may be dropped at any time: cached pools are then verified again before they are used. */
interface TenantState {
  /** Incremented whenever something of the tenant changes. */
  generation: number;
  /** Start times of the generations of the last second. */
  readonly beganAtMs: Map<number, number>;
  all: { readonly checkedIn: number; readonly pools: TenantPools } | undefined;
  /** Reads in progress by pool; "" for all pools. */
  readonly reading: Map<string, { readonly startedIn: number; readonly result: Promise<unknown> }>;
}

/** How long a call may get the previous snapshot after a change. */
const staleMaxMs = 1000;
const poolsMax = 1000;
const poolsPerBatch = 50;
const never = -1;

/**
 * Creates the snapshot cache. Most tenant changes do not concern the pool, so a change only triggers a lookup of
 * the revision; the pool is loaded if its revision differs.
 */
export function createSnapshots({
  db,
  changes,
  recordsMax = shareOf(1_000_000),
  tenantsMax = 100_000,
  monotonicMs = () => performance.now(),
}: Dependencies) {
  const store = snapshotStore(db);
  /** Above all generations of dropped states, so that what was verified in one of them never counts as current. */
  let firstGeneration = 0;
  const tenants = new BoundedCache<TenantId, TenantState>(tenantsMax, (_, { generation }) => {
    firstGeneration = Math.max(firstGeneration, generation + 1);
  });
  const cache = new BoundedCache<PoolId, CacheEntry>(recordsMax, (_, { tenantId }) => forgetList(tenantId));

  changes.onChange((tenantId) => {
    if (tenantId === undefined) return forgetAll();
    const state = tenants.get(tenantId as TenantId);
    if (state !== undefined) beginGeneration(state, monotonicMs());
  });

  /** A revision that was lost is given to another change, so the pools themselves are dropped, too. */
  function forgetAll(): void {
    cache.clear();
    for (const [, state] of tenants) {
      state.all = undefined;
      beginGeneration(state, monotonicMs());
    }
  }

  function stateOf(tenantId: TenantId): TenantState {
    const known = tenants.get(tenantId);
    if (known !== undefined) return known;
    // Only once the others have made room is it known which generation is the first.
    const state = { generation: 0, beganAtMs: new Map(), all: undefined, reading: new Map() };
    tenants.set(tenantId, state);
    state.generation = firstGeneration;
    return state;
  }

  function findEntry(tenantId: TenantId, poolId: PoolId): CacheEntry | undefined {
    const found = cache.get(poolId);
    return found?.tenantId === tenantId ? found : undefined;
  }

  const knownOf =
    (tenantId: TenantId): KnownPools =>
    (poolId) => {
      const entry = findEntry(tenantId, poolId);
      return entry && { recipients: entry.snapshot.recipients, revision: entry.revision };
    };

  /** A list of all pools is cached only while each of its pools is. */
  function forgetList(tenantId: TenantId): void {
    const state = tenants.get(tenantId);
    if (state !== undefined) state.all = undefined;
  }

  function add(tenantId: TenantId, revision: number, snapshot: PoolSnapshot): CacheEntry {
    const { id } = snapshot.pool;
    const before = findEntry(tenantId, id);
    const size = 1 + snapshot.recipients.length + snapshot.rules.length;
    const entry: CacheEntry = { tenantId, snapshot, revision, checkedIn: never };
    // Concurrent reads may finish out of order; keep the newer revision.
    if (before !== undefined && before.revision > revision) return entry;
    if (before !== undefined) forgetList(tenantId);
    cache.set(id, entry, size);
    return entry;
  }

  const cacheLoaded = async (tenantId: TenantId, loaded: LoadedPool) =>
    add(tenantId, loaded.pool.revision, await createSnapshot(loaded));

  async function readPool(tenantId: TenantId, poolId: PoolId, startedIn: number): Promise<PoolSnapshot | undefined> {
    const before = findEntry(tenantId, poolId);
    if (before !== undefined) {
      const revision = await store.revision(tenantId, poolId);
      if (revision === before.revision) return markChecked(before, startedIn).snapshot;
      if (revision === undefined) {
        if (cache.get(poolId) === before && cache.delete(poolId)) forgetList(tenantId);
        return undefined;
      }
    }
    const [loaded] = await store.load(tenantId, [poolId], knownOf(tenantId));
    return loaded && markChecked(await cacheLoaded(tenantId, loaded), startedIn).snapshot;
  }

  /** Marks a snapshot as current in the generation in which the read started. */
  function markChecked(entry: CacheEntry, startedIn: number): CacheEntry {
    if (changes.fresh()) entry.checkedIn = Math.max(entry.checkedIn, startedIn);
    return entry;
  }

  async function readPools(tenantId: TenantId, startedIn: number): Promise<TenantPools> {
    const current = await store.activeRevisions(tenantId, poolsMax);
    const found = new Map<PoolId, CacheEntry>();
    for (const { id, revision } of current) {
      const entry = findEntry(tenantId, id);
      if (entry?.revision === revision) found.set(id, entry);
    }
    const wanted = current.flatMap(({ id }) => (found.has(id) ? [] : [id]));
    for (let from = 0; from < wanted.length; from += poolsPerBatch) {
      for (const loaded of await store.load(tenantId, wanted.slice(from, from + poolsPerBatch), knownOf(tenantId))) {
        found.set(loaded.pool.id, await cacheLoaded(tenantId, loaded));
      }
    }
    const pools = new Map<PoolId, PoolSnapshot>();
    for (const { id } of current) {
      const entry = found.get(id);
      if (entry?.snapshot.pool.status === "active") pools.set(id, markChecked(entry, startedIn).snapshot);
    }
    const tenantPools = { pools };
    // Cache the list only while each of its pools is cached, so recordsMax bounds the memory of both.
    const whole = [...found].every(([id, entry]) => cache.get(id) === entry);
    if (whole && changes.fresh()) stateOf(tenantId).all = { checkedIn: startedIn, pools: tenantPools };
    return tenantPools;
  }

  /** Shares one read among concurrent callers. A caller after a change does not share a read started before it. */
  function readOnce<T>(tenantId: TenantId, key: string, read: (startedIn: number) => Promise<T>): Promise<T> {
    const { reading, generation: startedIn } = stateOf(tenantId);
    const underWay = reading.get(key);
    if (underWay?.startedIn === startedIn) return underWay.result as Promise<T>;
    const result = read(startedIn).finally(() => {
      if (reading.get(key)?.result === result) reading.delete(key);
    });
    reading.set(key, { startedIn, result });
    return result;
  }

  const refreshPool = (tenantId: TenantId, poolId: PoolId) =>
    readOnce(tenantId, poolId, (startedIn) => readPool(tenantId, poolId, startedIn));
  const refreshAll = (tenantId: TenantId) => readOnce(tenantId, "", (startedIn) => readPools(tenantId, startedIn));

  return {
    /** Returns a pool that is not archived, or a promise if it must be loaded first. */
    snapshot(tenantId: TenantId, id: string): PoolSnapshot | undefined | Promise<PoolSnapshot | undefined> {
      const poolId = id as PoolId;
      const entry = findEntry(tenantId, poolId);
      const freshness = freshnessOf(entry?.checkedIn, stateOf(tenantId));
      if (entry === undefined || freshness === "outdated") return refreshPool(tenantId, poolId);
      if (freshness === "refreshing") inBackground(refreshPool(tenantId, poolId));
      return entry.snapshot;
    },
    /** Returns the active pools of a tenant, at most the 1,000 oldest. */
    poolsOf(tenantId: TenantId): TenantPools | Promise<TenantPools> {
      const state = stateOf(tenantId);
      const freshness = freshnessOf(state.all?.checkedIn, state);
      if (state.all === undefined || freshness === "outdated") return refreshAll(tenantId);
      if (freshness === "refreshing") inBackground(refreshAll(tenantId));
      return state.all.pools;
    },
    /** Refreshes the cached state of a changed pool. Never fails: the next call retries a failed read. */
    async refresh(tenantId: TenantId, poolId: PoolId) {
      if (findEntry(tenantId, poolId) !== undefined) await refreshPool(tenantId, poolId).catch(() => {});
      if (tenants.get(tenantId)?.all !== undefined) await refreshAll(tenantId).catch(() => {});
    },
  };

  /** Returns whether a result verified in a generation may be used and whether it must be refreshed. */
  function freshnessOf(checkedIn: number | undefined, { generation, beganAtMs }: TenantState): Freshness {
    if (checkedIn === undefined || !changes.fresh()) return "outdated";
    if (checkedIn === generation) return "current";
    const outdatedAtMs = beganAtMs.get(checkedIn + 1);
    return outdatedAtMs !== undefined && monotonicMs() - outdatedAtMs < staleMaxMs ? "refreshing" : "outdated";
  }
}

/** current: valid. refreshing: usable while it is reloaded. outdated: not usable. */
type Freshness = "current" | "refreshing" | "outdated";

function beginGeneration(state: TenantState, nowMs: number): void {
  state.generation++;
  state.beganAtMs.set(state.generation, nowMs);
  for (const [generation, beganAtMs] of state.beganAtMs) {
    if (nowMs - beganAtMs < staleMaxMs) return;
    state.beganAtMs.delete(generation);
  }
}

/** The next call retries a failed refresh; after a second, calls wait for it and get its error. */
function inBackground(refresh: Promise<unknown>): void {
  refresh.catch(() => {});
}
