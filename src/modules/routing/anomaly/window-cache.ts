import { emptyWindow, type Window, windowsNeeded } from "./domain/window.ts";
import type { PoolRef, WindowRow } from "./window-store.ts";

/** Reads a number of consecutive windows of a pool, starting at a time. */
type Read = (pool: PoolRef, fromMs: number, windowMs: number, count: number) => Promise<readonly WindowRow[]>;

/** All windows of a recipient, or of the whole pool if the id is empty, oldest first and without gaps. */
export interface Series {
  readonly recipientId: string;
  readonly windows: readonly Window[];
}

interface CachedSeries {
  readonly windowMs: number;
  readonly toMs: number;
  readonly series: ReadonlyMap<string, readonly Window[]>;
}

/**
 * Creates a cache of windows. A window that has ended does not change, so each outcome is read only once: a scan
 * reads only the windows that ended since the last scan. If the cache is lost, all windows are read again.
 */
export function createWindowCache(read: Read, seriesMax = 50_000) {
  const known = new Map<string, CachedSeries>();
  let cachedSeries = 0;

  function store(key: string, entry: CachedSeries): void {
    remove(key);
    // A pool that exceeds the bound is read completely each time.
    if (cachedSeries + entry.series.size > seriesMax) return;
    known.set(key, entry);
    cachedSeries += entry.series.size;
  }

  function remove(key: string): void {
    cachedSeries -= known.get(key)?.series.size ?? 0;
    known.delete(key);
  }

  return {
    /** Returns the last windows of a pool up to a time, which must be the end of a window. */
    async readUpTo(pool: PoolRef, toMs: number, windowMs: number): Promise<Series[]> {
      const key = pool.tenantId + pool.poolId;
      const fromMs = toMs - windowsNeeded * windowMs;
      const before = known.get(key);
      const fits = before?.windowMs === windowMs && before.toMs > fromMs && before.toMs <= toMs;
      // The number of windows that have ended since the cached read.
      const ended = fits ? (toMs - before.toMs) / windowMs : windowsNeeded;
      const rows = ended === 0 ? [] : await read(pool, toMs - ended * windowMs, windowMs, ended);
      const series = new Map<string, Window[]>();
      const windowsOf = (recipientId: string) => {
        const windows = series.get(recipientId) ?? Array<Window>(windowsNeeded).fill(emptyWindow);
        series.set(recipientId, windows);
        return windows;
      };
      for (const [recipientId, windows] of fits ? before.series : []) {
        const remaining = windows.slice(ended);
        // Drop a recipient without outcomes in all of its windows.
        if (remaining.some(({ total }) => total > 0)) windowsOf(recipientId).splice(0, remaining.length, ...remaining);
      }
      for (const { recipientId, slot, ...window } of rows)
        windowsOf(recipientId)[windowsNeeded - ended + slot] = window;
      store(key, { windowMs, toMs, series });
      return [...series].map(([recipientId, windows]) => ({ recipientId, windows })).sort(byRecipient);
    },

    /** Removes all pools except the given ones. */
    retainOnly(pools: readonly PoolRef[]): void {
      const wanted = new Set(pools.map(({ tenantId, poolId }) => tenantId + poolId));
      for (const key of known.keys()) if (!wanted.has(key)) remove(key);
    },
  };
}

function byRecipient(a: Series, b: Series): number {
  return a.recipientId < b.recipientId ? -1 : 1;
}
