import type { Database, Sql } from "../../../../platform/db/index.ts";
import type { TenantUsage, UsageSource, UsageWindow } from "../../../usage-source.ts";
import type { PlanChange } from "../../subscriptions/index.ts";
import { type CountedWindow, serviceUsageStore } from "../store.ts";
import { collectionStore, type Progress } from "./collection-store.ts";
import { countableUntil, gaugeWindowMs, settledUntil, windowMs, windowStart } from "./windows.ts";

/** Counts the service's own usage. */
export type Collector = ReturnType<typeof createCollector>;

interface Dependencies {
  readonly db: Database;
  readonly sources: readonly UsageSource[];
  /** When the first subscription of all tenants started; undefined without one. */
  readonly findFirstStart: (sql: Sql) => Promise<Date | undefined>;
  /** The changes of the plans and periods of all tenants within a range, by time. */
  readonly findChanges: (sql: Sql, range: UsageWindow) => Promise<PlanChange[]>;
}

/**
 * Creates the collector. Usage is derived from rows that calls have stored, in windows. A window is one row of usage for
 * each tenant, and its count replaces an earlier one. So a repeated count changes nothing, and neither a crash nor a
 * second node can count anything twice. A change of a tenant's plan divides the window of the tenant, so that every
 * segment and every period consists of whole windows.
 */
export function createCollector({ db, sources, findFirstStart, findChanges }: Dependencies) {
  /** Counts the next windows of a source; returns false if there are none. */
  async function countNext(source: UsageSource, nowMs: number): Promise<boolean> {
    return db.transaction(async (tx) => {
      const store = collectionStore(tx);
      // The first collection may be later than the first usage that is billed.
      const startMs = Math.min((await findFirstStart(tx))?.getTime() ?? nowMs, nowMs);
      const progress = await store.lock(source.meterKey, new Date(windowStart(startMs)));
      const next = nextWindows(progress, nowMs);
      if (next === undefined) return false;
      const isRecount = next.progress.settledUntil > progress.settledUntil;
      await countWindows(tx, source, next, isRecount);
      await store.move(source.meterKey, next.progress);
      return true;
    });
  }

  /** Counts the windows of a range. A range without usage is measured once, so that a node catches up quickly. */
  async function countWindows(
    tx: Sql,
    source: UsageSource,
    { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
    isRecount: boolean,
  ): Promise<void> {
    const range = { from: new Date(fromMs), until: new Date(untilMs) };
    const usage = await source.measure(tx, range);
    const windows = (untilMs - fromMs) / windowMs;
    if (usage.length > 0 && windows > 1) {
      const middleMs = fromMs + Math.floor(windows / 2) * windowMs;
      await countWindows(tx, source, { fromMs, untilMs: middleMs }, isRecount);
      await countWindows(tx, source, { fromMs: middleMs, untilMs }, isRecount);
      return;
    }
    const store = serviceUsageStore(tx);
    const counted = usage.length === 0 ? [] : await divideWindow(tx, source, range, usage);
    // Usage of the first count may be gone, such as a held message that was cancelled.
    if (isRecount) await store.deleteOthers(source.meterKey, range, counted);
    if (counted.length > 0) await store.setMany(source.meterKey, counted);
  }

  /** Divides the usage of a window for tenants whose plan or period changed in it. */
  async function divideWindow(tx: Sql, source: UsageSource, range: UsageWindow, usage: readonly TenantUsage[]) {
    const changes = Map.groupBy(await findChanges(tx, range), ({ tenantId }) => tenantId);
    const counted: CountedWindow[] = [];
    for (const { tenantId, quantity } of usage) {
      const starts = [range.from, ...(changes.get(tenantId) ?? []).map(({ at }) => at)];
      if (starts.length === 1) counted.push({ tenantId, start: range.from, quantity });
      else {
        for (const [nth, from] of starts.entries()) {
          const part = await source.measure(tx, { from, until: starts[nth + 1] ?? range.until, tenantId });
          counted.push(...part.map((each) => ({ ...each, start: from })));
        }
      }
    }
    return counted;
  }

  /** Measures a gauge once per window. The past cannot be measured, so missed windows stay empty. */
  async function measureGauge({ meterKey, measure }: UsageSource, nowMs: number): Promise<void> {
    const from = new Date(windowStart(nowMs, gaugeWindowMs));
    const until = new Date(from.getTime() + gaugeWindowMs);
    await db.transaction(async (tx) => {
      const store = collectionStore(tx);
      const { settledUntil: measuredUntil } = await store.lock(meterKey, from);
      if (measuredUntil >= until) return;
      const measured = await measure(tx, { from, until });
      await serviceUsageStore(tx).setMany(
        meterKey,
        measured.map((each) => ({ ...each, start: from })),
      );
      await store.move(meterKey, { countedUntil: until, settledUntil: until });
    });
  }

  return {
    /** Counts all windows that can be counted at a time. Several nodes can call this concurrently. */
    async collect(nowMs: number, signal: AbortSignal) {
      for (const source of sources) {
        if (source.kind === "gauge") await measureGauge(source, nowMs);
        else while (!signal.aborted && (await countNext(source, nowMs)));
      }
    },
    /** The time up to which everything is counted, and counted for the last time; undefined before the first collection. */
    watermark: (sql: Sql): Promise<Progress | undefined> =>
      collectionStore(sql).watermark(sources.filter(({ kind }) => kind === "count").map(({ meterKey }) => meterKey)),
  };
}

/** The largest number of windows that are counted in one transaction. */
const windowsMax = 288;

/** The next windows to count, and the progress afterwards: windows are counted first, and later settled. */
function nextWindows(progress: Progress, nowMs: number) {
  const settled = progress.settledUntil.getTime();
  const counted = progress.countedUntil.getTime();
  const settledTo = Math.min(settledUntil(nowMs), counted, settled + windowsMax * windowMs);
  if (settled < settledTo) {
    return { fromMs: settled, untilMs: settledTo, progress: { ...progress, settledUntil: new Date(settledTo) } };
  }
  const countedTo = Math.min(countableUntil(nowMs), counted + windowsMax * windowMs);
  if (counted >= countedTo) return undefined;
  return { fromMs: counted, untilMs: countedTo, progress: { ...progress, countedUntil: new Date(countedTo) } };
}
