import { emptyWindow, type Window, windowsNeeded } from "./domain/window.ts";
import type { WatchablePool, WindowRow } from "./window-store.ts";

/** Reads what came of a pool's work in so many windows from a moment on. */
type Read = (pool: WatchablePool, fromMs: number, windowMs: number, count: number) => Promise<readonly WindowRow[]>;

/** The windows of a recipient, or of the whole pool when the id is empty; oldest first, none left out. */
export interface Series {
  readonly recipientId: string;
  readonly windows: readonly Window[];
}

interface Remembered {
  readonly windowMs: number;
  readonly toMs: number;
  readonly series: ReadonlyMap<string, readonly Window[]>;
}

/**
 * Pools' windows, of which only those are read that have ended since the last look: what has ended does not change, so
 * that every outcome is read once. What is remembered may be lost; then all of it is read again.
 */
export function rememberedWindows(read: Read, seriesMax = 50_000) {
  const known = new Map<string, Remembered>();
  let seriesKept = 0;

  function remember(key: string, remembered: Remembered): void {
    forget(key);
    // Beyond the bound a pool is read whole each time.
    if (seriesKept + remembered.series.size > seriesMax) return;
    known.set(key, remembered);
    seriesKept += remembered.series.size;
  }

  function forget(key: string): void {
    seriesKept -= known.get(key)?.series.size ?? 0;
    known.delete(key);
  }

  return {
    /** The last windows of a pool up to a moment, at which one must end. */
    async upTo(pool: WatchablePool, toMs: number, windowMs: number): Promise<Series[]> {
      const key = pool.tenantId + pool.poolId;
      const fromMs = toMs - windowsNeeded * windowMs;
      const before = known.get(key);
      const fits = before?.windowMs === windowMs && before.toMs > fromMs && before.toMs <= toMs;
      // How many have ended since.
      const ended = fits ? (toMs - before.toMs) / windowMs : windowsNeeded;
      const rows = ended === 0 ? [] : await read(pool, toMs - ended * windowMs, windowMs, ended);
      const series = new Map<string, Window[]>();
      const windowsOf = (recipientId: string) => {
        const windows = series.get(recipientId) ?? Array<Window>(windowsNeeded).fill(emptyWindow);
        series.set(recipientId, windows);
        return windows;
      };
      for (const [recipientId, windows] of fits ? before.series : []) {
        const kept = windows.slice(ended);
        // Whoever did nothing in all of them is forgotten.
        if (kept.some(({ total }) => total > 0)) windowsOf(recipientId).splice(0, kept.length, ...kept);
      }
      for (const { recipientId, slot, ...window } of rows)
        windowsOf(recipientId)[windowsNeeded - ended + slot] = window;
      remember(key, { windowMs, toMs, series });
      return [...series].map(([recipientId, windows]) => ({ recipientId, windows })).sort(byRecipient);
    },

    /** Forgets all pools but some. */
    keepOnly(pools: readonly WatchablePool[]): void {
      const wanted = new Set(pools.map(({ tenantId, poolId }) => tenantId + poolId));
      for (const key of known.keys()) if (!wanted.has(key)) forget(key);
    },
  };
}

function byRecipient(a: Series, b: Series): number {
  return a.recipientId < b.recipientId ? -1 : 1;
}
