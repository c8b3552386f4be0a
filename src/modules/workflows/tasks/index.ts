/**
 * Tasks: the work of workflow runs that external workers do, in any language.
 *
 * task: a step in progress that needs a worker; one row until the step ends. attempt: one try of a task. lease: a
 * worker's exclusive, time-limited right to an attempt; its token fences the task. heartbeat: a worker's sign of life,
 * which extends its lease. kind: type, version range and refusals of a task; they decide which workers can run it.
 * build: a version of a worker's code. incompatible: a task that none of the workers that poll its queue can run.
 * reservation: the lease of a task that is about to be inserted, for a poll that waits on this node.
 */

import type { Log } from "../../../platform/log/log.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { Environments } from "../environments/index.ts";
import type { RunEngine } from "./domain/run-engine.ts";
import type { TaskQueue } from "./domain/task.ts";
import { tasksOfRun } from "./overview/task-overview.ts";
import { createLeaseReturn } from "./polling/lease-return.ts";
import { createPollReader } from "./polling/poll-message.ts";
import { createPollService, taskTopic } from "./polling/poll-service.ts";
import { createTaskClaims } from "./polling/task-claims.ts";
import { createWaitingPolls } from "./polling/waiting-polls.ts";
import { createReportService } from "./reports/report-service.ts";
import { isLeaseStored } from "./reports/report-store.ts";
import { createExpiredLeaseSweeper } from "./sweep/expired-lease-sweeper.ts";
import { taskHandlers } from "./task-handler.ts";
import { createTaskHealth, readyTasks } from "./task-health.ts";
import { createTaskMetrics } from "./task-metrics.ts";
import { createWorkerRegistry } from "./workers/worker-registry.ts";

export type { RunEngine, TaskEvent } from "./domain/run-engine.ts";
export { type LeasedTask, taskKey } from "./domain/task.ts";
export type { WaitReason } from "./domain/wait-reason.ts";
export type { ShownTask } from "./overview/task-overview.ts";
export type { NewTask, Reservation, Settlement, TaskDispatch } from "./polling/waiting-polls.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals"> {
  readonly log: Pick<Log, "warn">;
  readonly metrics: Pick<Metrics, "counter" | "histogram">;
  /** The engine is created with this module's dispatch, so it is only used when a call needs it. */
  readonly engine: RunEngine;
  readonly environments: Environments;
}

export type Tasks = ReturnType<typeof createTasks>;

export function createTasks({ db, signals, log, engine, environments, ...parts }: Dependencies) {
  const metrics = createTaskMetrics(parts.metrics);
  const wake = (queue: TaskQueue) => signals.wake(taskTopic(queue));
  const leases = createLeaseReturn({ db, log, wake, onReturned: (count) => metrics.changed("returned", count) });
  const waiting = createWaitingPolls({
    leases,
    isLeased: (task) => isLeaseStored(db.sql, task),
    onDispatched: (count) => metrics.changed("dispatched", count),
  });
  const claims = createTaskClaims({ db, leases });
  const workers = createWorkerRegistry({ db, log });
  const polls = createPollService({ signals, claims, waiting, leases, workers, metrics });
  const reports = createReportService({ db, engine, workers, metrics, wake });
  const pollReader = createPollReader({ environments, workers });
  const sweeper = createExpiredLeaseSweeper({ db, signals, log, engine, metrics });
  return {
    handlers: taskHandlers({ db, log, polls, pollReader, reports, leases }),
    dispatch: {
      reserve: waiting.reserve,
      settle: waiting.settle,
      wake: (tenantId: string, environmentId: string, queue: string) => wake({ tenantId, environmentId, queue }),
    },
    sweeper,
    /** The state of waiting tasks, for health reports. */
    health: createTaskHealth(sweeper),
    backlog: readyTasks,
    /** Reads the tasks of a run, oldest first, with the reasons why they wait. */
    tasksOfRun,
    /** Ends the long polls of workers when the node stops. */
    endWaits() {
      polls.endWaits();
      leases.stop();
    },
    /** Resolves when nothing is being written. */
    async idle() {
      await Promise.all([claims.idle(), reports.idle(), workers.idle(), leases.idle()]);
    },
  };
}
