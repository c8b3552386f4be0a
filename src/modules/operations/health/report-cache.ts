import { BoundedCache } from "../../../platform/cache/bounded-cache.ts";

interface Entry<T> {
  readonly value: Promise<T>;
  readonly untilMs: number;
}

/** Keeps values for a fixed time. Calls for the same key share a computation. */
export interface ReportCache<T> {
  get(key: string, compute: () => Promise<T>): Promise<T>;
}

/** How long a report is valid. */
const validMs = 15_000;
const entriesMax = 1000;

/** Creates a cache. `nowMs` is a monotonic clock. */
export function createReportCache<T>(nowMs: () => number = () => performance.now()): ReportCache<T> {
  const entries = new BoundedCache<string, Entry<T>>(entriesMax);
  return {
    get(key, compute) {
      const known = entries.get(key);
      if (known !== undefined && nowMs() < known.untilMs) return known.value;
      const entry = { value: compute(), untilMs: nowMs() + validMs };
      entries.set(key, entry);
      entry.value.catch(() => entries.get(key) === entry && entries.delete(key));
      return entry.value;
    },
  };
}
