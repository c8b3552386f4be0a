import type { Clock } from "../../../platform/clock/clock.ts";
import type { Database, Sql } from "../../../platform/db/index.ts";
import { ulid } from "../../../platform/ids/ulid.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { EventLoopShares, TimeSlices } from "../../../platform/scheduling/index.ts";
import type { EventContext, EventEntry, EventRecorder } from "../../operations/index.ts";
import type { AnomalyConfig, PoolDoor, PoolSnapshot } from "../pools/index.ts";
import { type Anomaly, type PlacedFinding, wireActions } from "./domain/anomaly.ts";
import { detect } from "./domain/detect.ts";
import { actionsTaken, pausesLeft, worthReporting } from "./domain/response.ts";
import { windowsNeeded } from "./domain/window.ts";
import { rememberedWindows, type Series } from "./remembered-windows.ts";
import { anomalyStore } from "./store.ts";
import { type WatchablePool, type WindowRow, windowStore } from "./window-store.ts";

/** How the module comes by pools, and stops work from reaching their recipients. */
export interface WatchedPools extends Pick<PoolDoor, "snapshot"> {
  /** Pauses those of a pool's recipients that are active, in the caller's transaction; answers with their ids. */
  pauseRecipients(context: EventContext, poolId: string, recipientIds: readonly string[]): Promise<readonly string[]>;
}

/** What watching stands on. */
export interface WatchingParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly shares: EventLoopShares;
  readonly events: Pick<EventRecorder, "recordMany">;
  readonly pools: WatchedPools;
}

const poolsAtOnce = 200;
const bounds = { recipientsMax: 2000, outcomesMax: 50_000 };
const windowsAtOnce = 3;
/** What is committed late still belongs to its window. */
const settleMs = 2000;

/** Looks at the outcomes of pools, and does what their configs say about what stands out. */
export function createWatching({ db, clock, log, shares, events, pools }: WatchingParts) {
  const store = windowStore(db.sql);
  const remembered = rememberedWindows(async (pool, fromMs, windowMs, count) => {
    const rows: WindowRow[] = [];
    // A few at a time, so that no statement takes long.
    for (let first = 0; first < count; first += windowsAtOnce) {
      const some = Math.min(windowsAtOnce, count - first);
      const read = await store.windows(pool, fromMs + first * windowMs, windowMs, some, bounds);
      for (const row of read) rows.push({ ...row, slot: first + row.slot });
    }
    return rows;
  });

  async function lookAtPool(pool: WatchablePool, sinceMs: number, nowMs: number): Promise<void> {
    const snapshot = await pools.snapshot(pool.tenantId, pool.poolId);
    if (snapshot?.pool.config.anomaly.enabled !== true) return;
    const { anomaly: config } = snapshot.pool.config;
    const windowMs = config.windowS * 1000;
    const endOf = (ms: number) => Math.floor((ms - settleMs) / windowMs) * windowMs;
    // No window has ended since the last look.
    if (endOf(nowMs) === endOf(sinceMs)) return;
    const endMs = endOf(nowMs);
    const series = await remembered.upTo(pool, endMs, windowMs);
    const found = await findingsIn(series, snapshot, config, shares.forBackground(pool.tenantId));
    // What was reported after the last window ended was about the same windows.
    const since = new Date(Math.min(nowMs - config.cooldownS * 1000, endMs));
    if (found.length > 0) await respond(pool, found, config, since, nowMs);
  }

  async function respond(
    { tenantId, poolId }: WatchablePool,
    found: readonly PlacedFinding[],
    config: AnomalyConfig,
    since: Date,
    nowMs: number,
  ): Promise<void> {
    const afterwards: (() => void)[] = [];
    const anomalies = await db.transaction(async (tx) => {
      const own = anomalyStore(tx);
      await own.lockPool(tenantId, poolId);
      const fresh = worthReporting(found, await own.reportedSince(tenantId, poolId, since));
      if (fresh.length === 0) return [];
      const context = { tenantId, sql: tx, nowMs, afterCommit: (action: () => void) => afterwards.push(action) };
      const recipientIds = [...new Set(fresh.map(({ recipientId }) => recipientId))].filter((id) => id !== "");
      const paused = config.actions.includes("auto_pause")
        ? await pause(context, poolId, recipientIds)
        : new Set<string>();
      const made = fresh.map(
        (finding): Anomaly => ({
          ...finding,
          tenantId,
          poolId,
          id: ulid(nowMs),
          actions: actionsTaken(config.actions, finding, paused),
          detectedAt: new Date(nowMs),
        }),
      );
      await own.insert(made);
      if (config.actions.includes("deprioritize") && recipientIds.length > 0) {
        const until = new Date(nowMs + Math.max(config.cooldownS, config.windowS) * 1000);
        await own.deprioritize(tenantId, poolId, recipientIds, until, new Date(nowMs));
      }
      afterwards.push((await events.recordMany(tx, made.flatMap(alertOf), nowMs)).wake);
      return made;
    });
    for (const action of afterwards) action();
    for (const anomaly of anomalies) if (anomaly.actions.includes("log")) log.warn(lineOf(anomaly), "anomaly");
  }

  /** Pauses recipients as long as no more than half of the pool is paused for such a reason. */
  async function pause(context: EventContext & { sql: Sql }, poolId: string, recipientIds: readonly string[]) {
    const { tenantId, sql } = context;
    const places = recipientIds.length === 0 ? 0 : pausesLeft(await anomalyStore(sql).standing(tenantId, poolId));
    const wanted = recipientIds.slice(0, places);
    return new Set(wanted.length === 0 ? [] : await pools.pauseRecipients(context, poolId, wanted));
  }

  return {
    /** Looks at every pool that had outcomes lately and of which a window has ended since the last look. */
    async look(sinceMs: number, signal: AbortSignal): Promise<void> {
      const nowMs = clock.now();
      const seen: WatchablePool[] = [];
      let page: readonly WatchablePool[];
      do {
        page = await store.poolsAfter(seen.at(-1), new Date(nowMs), windowsNeeded, poolsAtOnce);
        for (const pool of page) {
          signal.throwIfAborted();
          // One pool's trouble is not the others'.
          await lookAtPool(pool, sinceMs, nowMs).catch((error) =>
            log.warn({ err: error, pool: pool.poolId }, "a pool's outcomes were not looked at"),
          );
        }
        seen.push(...page);
      } while (page.length === poolsAtOnce);
      remembered.keepOnly(seen);
    },
  };
}

/** What stands out in a pool: in the pool as a whole, and among its recipients that can be given work. */
async function findingsIn(
  series: readonly Series[],
  { recipients }: PoolSnapshot,
  config: AnomalyConfig,
  turns: TimeSlices,
): Promise<readonly PlacedFinding[]> {
  const active = new Set<string>(recipients.flatMap(({ id, status }) => (status === "active" ? [id] : [])));
  const found: PlacedFinding[] = [];
  for (const { recipientId, windows } of series) {
    if (recipientId !== "" && !active.has(recipientId)) continue;
    if (turns.isOver()) await turns.next();
    const watched = recipientId === "" ? "pool" : "recipient";
    for (const finding of detect(windows, config, watched)) found.push({ ...finding, recipientId });
  }
  return found;
}

function alertOf(anomaly: Anomaly): EventEntry[] {
  if (!anomaly.actions.includes("alert")) return [];
  const { tenantId, id, poolId, recipientId, method, metric, value, baseline, threshold } = anomaly;
  const numbers = { value, baseline, threshold };
  const data = {
    pool_id: poolId,
    recipient_id: recipientId,
    method,
    metric,
    ...numbers,
    actions: wireActions(anomaly),
  };
  return [{ tenantId, type: "anomaly.detected", subject: id, data }];
}

/** What the log shows of an anomaly: what stood out where, and never what was worked on. */
function lineOf({ tenantId, id, poolId, recipientId, method, metric, value, baseline, threshold }: Anomaly) {
  return {
    anomaly: id,
    tenant: tenantId,
    pool: poolId,
    recipient: recipientId,
    method,
    metric,
    observed: value,
    baseline,
    threshold,
  };
}
