import type { Database } from "../../../../platform/db/index.ts";
import type { UsageSource } from "../../../usage-source.ts";
import { serviceUsageStore } from "../store.ts";
import { collectionStore, type Progress } from "./collection-store.ts";
import { countableUntil, gaugeWindowMs, settledUntil, windowMs, windowStart } from "./windows.ts";

/** Counts the service's own usage. */
export interface Collector {
  /** Counts all windows that can be counted at a time. Several nodes can call this concurrently. */
  collect(nowMs: number, signal: AbortSignal): Promise<void>;
  /** The time up to which everything is counted, and counted for the last time; undefined before the first collection. */
  watermark(): Promise<Progress | undefined>;
}

interface Parts {
  readonly db: Database;
  readonly sources: readonly UsageSource[];
}

/**
 * Creates the collector. Usage is derived from rows that calls have stored, in windows. A window is one row of usage for
 * each tenant, and its count replaces an earlier one. So a repeated count changes nothing, and neither a crash nor a
 * second node can count anything twice.
 */
export function createCollector({ db, sources }: Parts): Collector {
  /** Counts the next window of a source; returns false if there is none. */
  async function countNext({ meterKey, measure }: UsageSource, nowMs: number): Promise<boolean> {
    return db.transaction(async (tx) => {
      const store = collectionStore(tx);
      const progress = await store.lock(meterKey, new Date(windowStart(nowMs)));
      const next = nextWindow(progress, nowMs);
      if (next === undefined) return false;
      const from = new Date(next.fromMs);
      const usage = await measure(tx, { from, until: new Date(next.fromMs + windowMs) });
      await serviceUsageStore(tx).setMany(meterKey, from, usage);
      await store.move(meterKey, next.progress);
      return true;
    });
  }

  /** Measures a gauge once per window. The past cannot be measured, so missed windows stay empty. */
  async function measureGauge({ meterKey, measure }: UsageSource, nowMs: number): Promise<void> {
    const from = new Date(windowStart(nowMs, gaugeWindowMs));
    const until = new Date(from.getTime() + gaugeWindowMs);
    await db.transaction(async (tx) => {
      const store = collectionStore(tx);
      const { settledUntil: measuredUntil } = await store.lock(meterKey, from);
      if (measuredUntil >= until) return;
      await serviceUsageStore(tx).setMany(meterKey, from, await measure(tx, { from, until }));
      await store.move(meterKey, { countedUntil: until, settledUntil: until });
    });
  }

  return {
    async collect(nowMs, signal) {
      for (const source of sources) {
        if (source.kind === "gauge") await measureGauge(source, nowMs);
        else while (!signal.aborted && (await countNext(source, nowMs)));
      }
    },
    watermark: () =>
      collectionStore(db.sql).watermark(sources.filter(({ kind }) => kind === "count").map(({ meterKey }) => meterKey)),
  };
}

/** The next window to count, and the progress afterwards: windows are counted first, and later settled. */
function nextWindow(progress: Progress, nowMs: number): { fromMs: number; progress: Progress } | undefined {
  const settled = progress.settledUntil.getTime();
  if (settled < settledUntil(nowMs) && settled < progress.countedUntil.getTime()) {
    return { fromMs: settled, progress: { ...progress, settledUntil: new Date(settled + windowMs) } };
  }
  const counted = progress.countedUntil.getTime();
  if (counted >= countableUntil(nowMs)) return undefined;
  return { fromMs: counted, progress: { ...progress, countedUntil: new Date(counted + windowMs) } };
}
