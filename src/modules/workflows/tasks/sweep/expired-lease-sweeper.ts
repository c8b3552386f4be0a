import { type Database, readMsToNext, type Signals } from "../../../../platform/db/index.ts";
import { createRepeatedTask } from "../../../../platform/jobs/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { RunEngine } from "../domain/run-engine.ts";
import type { TaskMetrics } from "../task-metrics.ts";
import { deleteAbsentWorkers } from "../workers/worker-store.ts";
import { type ExpiredLease, findExpiredLeases, nextExpiry } from "./sweep-store.ts";

/** Ends the attempts of tasks whose leases have ended. Every node runs one; the engine ignores a repeated end. */
export type ExpiredLeaseSweeper = ReturnType<typeof createExpiredLeaseSweeper>;

interface Dependencies {
  readonly db: Database;
  readonly signals: Pick<Signals, "onDue">;
  readonly log: Pick<Log, "warn">;
  readonly engine: RunEngine;
  readonly metrics: TaskMetrics;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

const batchSize = 500;
const retryMs = 1000;
const soonestMs = 5;
/** How long a lease is left alone after the engine has called its attempt over, so that it cannot hold up others. */
const skipMs = 60_000;
const cleanUpEveryMs = 600_000;

export function createExpiredLeaseSweeper({
  db,
  signals,
  log,
  engine,
  metrics,
  nowMs = () => performance.now(),
}: Dependencies) {
  const skipped = new Map<string, number>();
  let cleanUpAtMs = 0;
  let passedAtMs: number | undefined;

  async function end(lease: ExpiredLease): Promise<void> {
    const { tenantId, id: taskId, runId, token } = lease;
    try {
      const result = await engine.apply(tenantId, runId, { kind: "attempt_lost", taskId, token, code: codeOf(lease) });
      if (result === "applied") metrics.changed("lost");
      else skipped.set(token, nowMs() + skipMs);
    } catch (error) {
      skipped.set(token, nowMs() + retryMs);
      log.warn({ err: error }, "ending an expired attempt failed");
    }
  }

  /** Runs one round; returns whether there may be more to do immediately. */
  async function sweep(): Promise<boolean> {
    const now = nowMs();
    for (const [token, untilMs] of skipped) if (untilMs <= now) skipped.delete(token);
    const expired = await findExpiredLeases(db.sql, [...skipped.keys()], batchSize);
    await Promise.all(expired.map(end));
    return expired.length === batchSize;
  }

  async function deleteAbsent(): Promise<void> {
    if (nowMs() < cleanUpAtMs) return;
    cleanUpAtMs = nowMs() + cleanUpEveryMs;
    if ((await deleteAbsentWorkers(db.sql, batchSize)) === batchSize) cleanUpAtMs = 0;
  }

  /** Sweeps; returns when to sweep again. */
  async function round(): Promise<number | undefined> {
    const hasMore = await sweep();
    await deleteAbsent();
    passedAtMs = performance.now();
    if (hasMore) return 0;
    // A skipped lease would be the next one all the time.
    if (skipped.size > 0) return retryMs;
    const inMs = await readMsToNext(db.sql, nextExpiry);
    return inMs && Math.max(soonestMs, inMs);
  }

  const task = createRepeatedTask({
    work: round,
    onError: (error) => log.warn({ err: error }, "sweep of workflow tasks failed"),
    subscribe: ({ runWithin }) => [
      signals.onDue(nextExpiry, (inMs) => runWithin(Math.max(skipped.size > 0 ? retryMs : soonestMs, inMs))),
    ],
  });
  return {
    sweep,
    /** When the sweeper last completed a round, in milliseconds of `performance.now()`. */
    lastPassMs: () => passedAtMs,
    start: task.start,
    stop: task.stop,
  };
}

function codeOf({ isTimedOut, hasHeartbeats }: ExpiredLease) {
  if (isTimedOut) return "attempt_timeout" as const;
  return hasHeartbeats ? ("heartbeat_timeout" as const) : ("worker_lost" as const);
}
