import type { Sql } from "../../../platform/db/index.ts";
import type { TimeSlices } from "../../../platform/event-loop/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventContext, EventEntry, EventRecorder } from "../../operations/index.ts";
import type { AnomalyConfig, AutomaticPause, PoolReader, PoolSnapshot } from "../pools/index.ts";
import { type Anomaly, type ScopedFinding, toWireActions } from "./domain/anomaly.ts";
import { detect } from "./domain/detection.ts";
import {
  countAllowedPauses,
  describeFinding,
  pausedUntil,
  selectActions,
  selectReportable,
} from "./domain/response.ts";
import { windowsNeeded } from "./domain/window.ts";
import { anomalyStore } from "./store.ts";
import { createWindowCache, type Series } from "./window-cache.ts";
import { type PoolRef, type WindowRow, windowStore } from "./window-store.ts";

/** Access to pools that the monitor needs. */
export interface MonitoredPools extends Pick<PoolReader, "snapshot"> {
  /** Pauses active recipients in the caller's transaction and returns their ids. */
  pauseRecipients(context: EventContext, poolId: string, pauses: readonly AutomaticPause[]): Promise<readonly string[]>;
}

export interface PoolMonitorDependencies extends Pick<PlatformServices, "db" | "clock" | "log" | "shares"> {
  readonly events: Pick<EventRecorder, "recordMany">;
  readonly pools: MonitoredPools;
}

const poolsPerPage = 200;
const bounds = { recipientsMax: 2000, outcomesMax: 50_000 };
const windowsPerRead = 3;
/** Grace period for outcomes that are committed after their window ended. */
const settleMs = 2000;

/** Creates the monitor that scans the outcomes of pools and applies the configured actions to anomalies. */
export function createPoolMonitor({ db, clock, log, shares, events, pools }: PoolMonitorDependencies) {
  const store = windowStore(db.sql);
  const windowCache = createWindowCache(async (pool, fromMs, windowMs, count) => {
    const rows: WindowRow[] = [];
    // Read a few windows per statement to keep statements short.
    for (let first = 0; first < count; first += windowsPerRead) {
      const some = Math.min(windowsPerRead, count - first);
      const read = await store.windows(pool, fromMs + first * windowMs, windowMs, some, bounds);
      for (const row of read) rows.push({ ...row, slot: first + row.slot });
    }
    return rows;
  });

  async function scanPool(pool: PoolRef, sinceMs: number, nowMs: number): Promise<void> {
    const snapshot = await pools.snapshot(pool.tenantId, pool.poolId);
    if (snapshot?.pool.config.anomaly.enabled !== true) return;
    const { anomaly: config } = snapshot.pool.config;
    const windowMs = config.windowS * 1000;
    const endOf = (ms: number) => Math.floor((ms - settleMs) / windowMs) * windowMs;
    // No window has ended since the last scan.
    if (endOf(nowMs) === endOf(sinceMs)) return;
    const endMs = endOf(nowMs);
    const series = await windowCache.readUpTo(pool, endMs, windowMs);
    const wholeWindowSince = endMs - windowMs;
    const found = await findAnomalies(series, snapshot, wholeWindowSince, shares.forBackground(pool.tenantId));
    // A report made after the last window ended was about the same windows.
    const since = new Date(Math.min(nowMs - config.cooldownS * 1000, endMs));
    if (found.length > 0) await respond(pool, found, config, since, nowMs);
  }

  async function respond(
    { tenantId, poolId }: PoolRef,
    found: readonly ScopedFinding[],
    config: AnomalyConfig,
    since: Date,
    nowMs: number,
  ): Promise<void> {
    const anomalies = await db.transaction(async (tx) => {
      const own = anomalyStore(tx);
      await own.lockPool(tenantId, poolId);
      const reported = await own.reportedSince(tenantId, poolId, since);
      const fresh = selectReportable(found, reported).map((finding) => ({ ...finding, id: ulid(nowMs) }));
      if (fresh.length === 0) return [];
      const context = { tenantId, sql: tx, nowMs, afterCommit: tx.afterCommit };
      const recipientIds = [...new Set(fresh.map(({ recipientId }) => recipientId))].filter((id) => id !== "");
      const paused = config.actions.includes("auto_pause")
        ? await pause(context, poolId, fresh, config)
        : new Set<string>();
      const created = fresh.map(
        (finding): Anomaly => ({
          ...finding,
          tenantId,
          poolId,
          actions: selectActions(config.actions, finding, paused),
          detectedAt: new Date(nowMs),
        }),
      );
      await own.insert(created);
      if (config.actions.includes("deprioritize") && recipientIds.length > 0) {
        const until = new Date(nowMs + Math.max(config.cooldownS, config.windowS) * 1000);
        await own.deprioritize(tenantId, poolId, recipientIds, until, new Date(nowMs));
      }
      await events.recordMany(tx, created.flatMap(toAlertEvents), nowMs);
      return created;
    });
    for (const anomaly of anomalies) if (anomaly.actions.includes("log")) log.warn(toLogLine(anomaly), "anomaly");
  }

  /** Pauses the recipients of findings, each because of its first one, but never more than half of the pool. */
  async function pause(
    context: EventContext & { sql: Sql },
    poolId: string,
    found: readonly (ScopedFinding & { readonly id: string })[],
    config: AnomalyConfig,
  ): Promise<ReadonlySet<string>> {
    const { tenantId, sql, nowMs } = context;
    const firsts = new Map<string, AutomaticPause>();
    for (const finding of found) {
      const { recipientId, id: anomalyId } = finding;
      if (recipientId === "" || firsts.has(recipientId)) continue;
      const reason = describeFinding(finding);
      firsts.set(recipientId, { recipientId, anomalyId, reason, until: pausedUntil(config, nowMs) });
    }
    if (firsts.size === 0) return new Set();
    const allowed = countAllowedPauses(await anomalyStore(sql).countRecipients(tenantId, poolId));
    const wanted = [...firsts.values()].slice(0, allowed);
    return new Set(wanted.length === 0 ? [] : await pools.pauseRecipients(context, poolId, wanted));
  }

  return {
    /** Scans every pool that had recent outcomes and in which a window has ended since the last scan. */
    async scan(sinceMs: number, signal: AbortSignal): Promise<void> {
      const nowMs = clock.now();
      const seen: PoolRef[] = [];
      let page: readonly PoolRef[];
      do {
        page = await store.poolsAfter(seen.at(-1), new Date(nowMs), windowsNeeded, poolsPerPage);
        for (const pool of page) {
          signal.throwIfAborted();
          // A failure in one pool does not stop the scan of the others.
          await scanPool(pool, sinceMs, nowMs).catch((error) =>
            log.warn({ err: error, pool: pool.poolId }, "scanning the outcomes of a pool failed"),
          );
        }
        seen.push(...page);
      } while (page.length === poolsPerPage);
      windowCache.retainOnly(seen);
    },
  };
}

/**
 * Detects findings for the pool as a whole and for each of its active recipients. A recipient that was resumed is judged again
 * when it was available for the whole last window, because the windows before are why it was paused.
 */
async function findAnomalies(
  series: readonly Series[],
  { pool, recipients }: PoolSnapshot,
  availableSinceMs: number,
  slices: TimeSlices,
): Promise<readonly ScopedFinding[]> {
  const { anomaly: config } = pool.config;
  const judged = recipients.filter(
    ({ status, availableSince }) => status === "active" && availableSince.getTime() <= availableSinceMs,
  );
  const active = new Set<string>(judged.map(({ id }) => id));
  const found: ScopedFinding[] = [];
  for (const { recipientId, windows } of series) {
    if (recipientId !== "" && !active.has(recipientId)) continue;
    if (slices.isOver()) await slices.next();
    const scope = recipientId === "" ? "pool" : "recipient";
    for (const finding of detect(windows, config, scope)) found.push({ ...finding, recipientId });
  }
  return found;
}

function toAlertEvents(anomaly: Anomaly): EventEntry[] {
  if (!anomaly.actions.includes("alert")) return [];
  const { tenantId, id, poolId, recipientId, method, metric, value, baseline, threshold } = anomaly;
  const finding = { method, metric, value, baseline, threshold };
  const data = { pool_id: poolId, recipient_id: recipientId, ...finding, actions: toWireActions(anomaly) };
  return [{ tenantId, type: "anomaly.detected", subject: id, data }];
}

/** Converts an anomaly to log fields; these never include item content. */
function toLogLine({ tenantId, id, poolId, recipientId, method, metric, value, baseline, threshold }: Anomaly) {
  const finding = { method, metric, observed: value, baseline, threshold };
  return { anomaly: id, tenant: tenantId, pool: poolId, recipient: recipientId, ...finding };
}
