import type { TenantId } from "../../../../platform/access/index.ts";
import type { Database, TenantChanges } from "../../../../platform/db/index.ts";
import type { PoolId } from "../domain/pool.ts";
import type { PoolSnapshot, TenantPools } from "../domain/snapshot.ts";
import { snapshotOf } from "./snapshot-form.ts";
import { type KnownPools, type LoadedPool, snapshotStore } from "./snapshot-store.ts";

/**
 * Pools as decisions see them, from memory for most calls. After a change, calls get the last snapshot while the next
 * one is prepared, for at most a second.
 */
export interface Snapshots {
  /** A pool that is not archived, or the promise of it when it must be read first. */
  snapshot(tenantId: TenantId, poolId: string): PoolSnapshot | undefined | Promise<PoolSnapshot | undefined>;
  /** The tenant's pools that take items: the 1,000 oldest at most. */
  poolsOf(tenantId: TenantId): TenantPools | Promise<TenantPools>;
  /** Brings what this node keeps of a changed pool up to date. Never fails: the next call reads what could not be read. */
  refresh(tenantId: TenantId, poolId: PoolId): Promise<void>;
}

interface Parts {
  readonly db: Database;
  readonly changes: TenantChanges;
  /** How many pools, recipients and rules are kept in all. */
  readonly recordsMax?: number;
  /** A clock that never goes back. */
  readonly monotonicMs?: () => number;
}

interface Kept {
  readonly tenantId: TenantId;
  readonly snapshot: PoolSnapshot;
  readonly revision: number;
  readonly records: number;
  /** The generation of the tenant in which the revision was last seen to be the current one. */
  checkedIn: number;
  used: boolean;
}

interface TenantState {
  /** Raised whenever something of the tenant changes. */
  generation: number;
  /** When each generation began, those of the last second. */
  readonly beganAtMs: Map<number, number>;
  all: { readonly checkedIn: number; readonly pools: TenantPools } | undefined;
  /** What is being read now, by pool; "" for all. */
  readonly reading: Map<string, { readonly startedIn: number; readonly result: Promise<unknown> }>;
}

/** How long a call may be given the last snapshot after a change. */
const lastGoodMs = 1000;
const poolsMax = 1000;
const poolsAtOnce = 50;
const never = -1;

/**
 * Keeps snapshots until their pool changes. Tenants change for other reasons too, so a change only makes the pool's
 * revision be looked up; what changed in the pool is read when the revision differs.
 */
export function createSnapshots({
  db,
  changes,
  recordsMax = 1_000_000,
  monotonicMs = () => performance.now(),
}: Parts): Snapshots {
  const store = snapshotStore(db);
  const kept = new Map<PoolId, Kept>();
  const tenants = new Map<TenantId, TenantState>();
  let records = 0;

  changes.onChange((tenantId) => {
    const state = tenants.get(tenantId as TenantId);
    if (state !== undefined) beginGeneration(state, monotonicMs());
  });

  function stateOf(tenantId: TenantId): TenantState {
    let state = tenants.get(tenantId);
    if (state === undefined) {
      state = { generation: 0, beganAtMs: new Map(), all: undefined, reading: new Map() };
      tenants.set(tenantId, state);
    }
    return state;
  }

  function ownKept(tenantId: TenantId, poolId: PoolId): Kept | undefined {
    const found = kept.get(poolId);
    return found?.tenantId === tenantId ? found : undefined;
  }

  const knownOf =
    (tenantId: TenantId): KnownPools =>
    (poolId) => {
      const entry = ownKept(tenantId, poolId);
      return entry && { recipients: entry.snapshot.recipients, revision: entry.revision };
    };

  function forget(poolId: PoolId, { tenantId, records: freed }: Kept): void {
    kept.delete(poolId);
    records -= freed;
    stateOf(tenantId).all = undefined;
  }

  function keep(tenantId: TenantId, revision: number, snapshot: PoolSnapshot): Kept {
    const { id } = snapshot.pool;
    const before = ownKept(tenantId, id);
    const size = 1 + snapshot.recipients.length + snapshot.rules.length;
    const entry: Kept = { tenantId, snapshot, revision, records: size, checkedIn: never, used: true };
    // Two may have read at once, and the later one need not come last.
    if (before !== undefined && before.revision > revision) return entry;
    if (before !== undefined) forget(id, before);
    kept.set(id, entry);
    records += size;
    makeRoom();
    return entry;
  }

  /** Forgets what was kept longest; what was used since the last time gets another chance. */
  function makeRoom(): void {
    for (const [poolId, entry] of kept) {
      if (records <= recordsMax) return;
      if (entry.used) {
        entry.used = false;
        kept.delete(poolId);
        kept.set(poolId, entry);
      } else forget(poolId, entry);
    }
  }

  const keepLoaded = async (tenantId: TenantId, loaded: LoadedPool) =>
    keep(tenantId, loaded.pool.revision, await snapshotOf(loaded));

  async function readPool(tenantId: TenantId, poolId: PoolId, startedIn: number): Promise<PoolSnapshot | undefined> {
    const before = ownKept(tenantId, poolId);
    if (before !== undefined) {
      const revision = await store.revision(tenantId, poolId);
      if (revision === before.revision) return checked(before, startedIn).snapshot;
      if (revision === undefined) {
        if (kept.get(poolId) === before) forget(poolId, before);
        return undefined;
      }
    }
    const [loaded] = await store.load(tenantId, [poolId], knownOf(tenantId));
    return loaded && checked(await keepLoaded(tenantId, loaded), startedIn).snapshot;
  }

  /** Notes that a snapshot is current: what changed since is told by the tenant's generation. */
  function checked(entry: Kept, startedIn: number): Kept {
    if (changes.fresh()) entry.checkedIn = Math.max(entry.checkedIn, startedIn);
    return entry;
  }

  async function readPools(tenantId: TenantId, startedIn: number): Promise<TenantPools> {
    const current = await store.activeRevisions(tenantId, poolsMax);
    const found = new Map<PoolId, Kept>();
    for (const { id, revision } of current) {
      const entry = ownKept(tenantId, id);
      if (entry?.revision === revision) found.set(id, entry);
    }
    const wanted = current.flatMap(({ id }) => (found.has(id) ? [] : [id]));
    for (let from = 0; from < wanted.length; from += poolsAtOnce) {
      for (const loaded of await store.load(tenantId, wanted.slice(from, from + poolsAtOnce), knownOf(tenantId))) {
        found.set(loaded.pool.id, await keepLoaded(tenantId, loaded));
      }
    }
    const pools = new Map<PoolId, PoolSnapshot>();
    for (const { id } of current) {
      const entry = found.get(id);
      if (entry?.snapshot.pool.status === "active") pools.set(id, checked(entry, startedIn).snapshot);
    }
    const answer = { pools };
    // Kept as long as each of them is, so that the bound holds for all that is kept.
    const whole = [...found].every(([id, entry]) => kept.get(id) === entry);
    if (whole && changes.fresh()) stateOf(tenantId).all = { checkedIn: startedIn, pools: answer };
    return answer;
  }

  /** Reads once for all who ask meanwhile; whoever asks after a change is not given what was read before it. */
  function together<T>(tenantId: TenantId, key: string, read: (startedIn: number) => Promise<T>): Promise<T> {
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
    together(tenantId, poolId, (startedIn) => readPool(tenantId, poolId, startedIn));
  const refreshAll = (tenantId: TenantId) => together(tenantId, "", (startedIn) => readPools(tenantId, startedIn));

  return {
    snapshot(tenantId, id) {
      const poolId = id as PoolId;
      const entry = ownKept(tenantId, poolId);
      const standing = standingOf(entry?.checkedIn, stateOf(tenantId));
      if (entry === undefined || standing === "outdated") return refreshPool(tenantId, poolId);
      entry.used = true;
      if (standing === "refreshing") inBackground(refreshPool(tenantId, poolId));
      return entry.snapshot;
    },
    poolsOf(tenantId) {
      const state = stateOf(tenantId);
      const standing = standingOf(state.all?.checkedIn, state);
      if (state.all === undefined || standing === "outdated") return refreshAll(tenantId);
      if (standing === "refreshing") inBackground(refreshAll(tenantId));
      return state.all.pools;
    },
    async refresh(tenantId, poolId) {
      if (ownKept(tenantId, poolId) !== undefined) await refreshPool(tenantId, poolId).catch(() => {});
      if (stateOf(tenantId).all !== undefined) await refreshAll(tenantId).catch(() => {});
    },
  };

  /** Whether what was checked in a generation may still be used, and whether a newer state has to be read. */
  function standingOf(checkedIn: number | undefined, { generation, beganAtMs }: TenantState): Standing {
    if (checkedIn === undefined || !changes.fresh()) return "outdated";
    if (checkedIn === generation) return "current";
    const outdatedAtMs = beganAtMs.get(checkedIn + 1);
    return outdatedAtMs !== undefined && monotonicMs() - outdatedAtMs < lastGoodMs ? "refreshing" : "outdated";
  }
}

/** current: as it is. refreshing: usable while the next state is read. outdated: not to be used. */
type Standing = "current" | "refreshing" | "outdated";

function beginGeneration(state: TenantState, nowMs: number): void {
  state.generation++;
  state.beganAtMs.set(state.generation, nowMs);
  for (const [generation, beganAtMs] of state.beganAtMs) {
    if (nowMs - beganAtMs < lastGoodMs) return;
    state.beganAtMs.delete(generation);
  }
}

/** A failed refresh is started again by the next call; after a second, calls wait for it and get its error. */
function inBackground(refresh: Promise<unknown>): void {
  refresh.catch(() => {});
}
