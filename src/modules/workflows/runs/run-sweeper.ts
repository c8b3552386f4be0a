import type { TenantId } from "../../../platform/access/index.ts";
import { createRepeatedTask } from "../../../platform/jobs/index.ts";
import type { Shards } from "../../../platform/shards/index.ts";
import type { PlatformServices } from "../../area.ts";
import { wakeTime } from "./domain/engine/state.ts";
import type { AdvanceResult, RunEngine } from "./run-engine.ts";
import type { RunMetrics } from "./run-metrics.ts";
import { findDueRuns, nextWake } from "./storage/due-runs.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log"> {
  readonly shards: Shards;
  readonly engine: RunEngine;
  readonly metrics: RunMetrics;
}

const batchSize = 500;
/** How long the sweeper waits for shards, and before it repeats what failed. */
const retryMs = 500;
const soonMs = 2;

/** Advances runs whose time has come: timers, time-outs, retries, and effects without a result. */
export type RunSweeper = ReturnType<typeof createRunSweeper>;

/** Creates the sweeper of this node. It sweeps the shards that this node owns. */
export function createRunSweeper({ db, signals, clock, log, shards, engine, metrics }: Dependencies) {
  let passedAtMs: number | undefined;
  const task = createRepeatedTask({
    work: sweep,
    onError: (error) => log.warn({ err: error }, "workflow runs could not be swept"),
    subscribe: () => [
      signals.onDue(
        (sql) => nextWake(sql, [...shards.owned().keys()]),
        (_, atMs) => schedule(atMs),
      ),
    ],
  });

  /** Sweeps at this time at the latest. */
  function schedule(atMs: number): void {
    task.runWithin(msUntil(atMs));
  }

  const msUntil = (atMs: number) => Math.max(atMs - clock.now(), soonMs);

  /** Advances the runs that are due; returns when to sweep again. */
  async function sweep(): Promise<number | undefined> {
    const owned = shards.owned();
    if (owned.size === 0) return retryMs;
    const shardIds = [...owned.keys()];
    const due = await findDueRuns(db.sql, shardIds, clock.now(), batchSize);
    const results = await Promise.allSettled(
      due.map(({ tenantId, id, shard }) => tick(tenantId as TenantId, id, owned.get(shard)!)),
    );
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) log.warn({ err: failed.reason }, "a workflow run could not be advanced");
    // Runs that nobody could advance are tried again later, not at once.
    const isStuck =
      due.length > 0 && !results.some((result) => result.status === "fulfilled" && result.value === "applied");
    const [next] = isStuck ? [] : await nextWake(db.sql, shardIds);
    passedAtMs = performance.now();
    if (isStuck) return retryMs;
    return next?.wakeAt && msUntil(next.wakeAt.getTime());
  }

  function tick(tenantId: TenantId, runId: string, epoch: number): Promise<AdvanceResult> {
    return engine.advance({
      ...{ tenantId, runId, epoch },
      toEvent({ state }) {
        const nowMs = clock.now();
        const wakeMs = wakeTime(state, nowMs) ?? never;
        if (wakeMs > nowMs) return undefined;
        metrics.woken((nowMs - wakeMs) / 1000);
        return { kind: "tick" };
      },
    });
  }

  return {
    schedule,
    /** When the sweeper last completed a pass, in milliseconds of `performance.now()`. A node without shards has none. */
    lastPassMs: () => passedAtMs,

    start(): void {
      shards.start();
      void task.start();
    },

    async stop(): Promise<void> {
      await task.stop();
      await shards.stop();
    },
  };
}

const never = Number.POSITIVE_INFINITY;
