/**
 * Schedules: route items at the times of cron expressions.
 *
 * timing: the times of a schedule, and what happens at them. run: one firing of a schedule, for one of its times or because
 * somebody fired it. Its id follows from the time, and it is stored before its item is routed under an idempotency key that
 * follows from the run, so that every time routes one item. position: the first time that was not handled. overlap: what happens
 * at a time while the item of an earlier run is unfinished. catch-up: what happens to times that no node handled in time.
 */

import type { OperationCaller } from "../../../chain/operation-caller.ts";
import { createShards } from "../../../platform/shards/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventRecorder } from "../../operations/index.ts";
import type { PoolReader } from "../pools/index.ts";
import { shardCount } from "./domain/schedule.ts";
import { scheduleHandlers } from "./handler.ts";
import { createRunRouter } from "./run-router.ts";
import { createScheduleService } from "./schedule-service.ts";
import { createItemScheduleWorker } from "./schedule-worker.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log"> {
  readonly events: EventRecorder;
  readonly metrics: Pick<Metrics, "tenantCounter">;
  readonly pools: Pick<PoolReader, "requirePool">;
  /** Performs operations of the service. */
  readonly call: OperationCaller;
}

/** The module's public API. */
export type Schedules = ReturnType<typeof createSchedules>;

/** Signal topic for changes of schedules. */
const topic = "routing.schedules";

/** How long the schedules of a node that died wait for another node. */
const shardLeaseMs = 5000;

export function createSchedules(dependencies: Dependencies) {
  const { db, clock, log, signals, metrics } = dependencies;
  const shards = createShards({ db, clock, log, signals, kind: topic, count: shardCount, leaseMs: shardLeaseMs });
  const runs = metrics.tenantCounter({
    name: "schedule_runs_total",
    help: "Runs of schedules, by their final state.",
    labels: ["state"],
  });
  const worker = createItemScheduleWorker({
    ...{ ...dependencies, shards, topic },
    router: createRunRouter(dependencies.call),
    countRun: (tenantId, state) => runs.inc(tenantId, { state }),
  });
  const service = createScheduleService({ ...dependencies, wakeWorkers: () => signals.wake(topic) });
  return {
    handlers: scheduleHandlers(service),
    /** Fires schedules, on a node that does background work. */
    worker: {
      start() {
        shards.start();
        worker.start();
      },
      async stop() {
        await worker.stop();
        await shards.stop();
      },
    },
  };
}
