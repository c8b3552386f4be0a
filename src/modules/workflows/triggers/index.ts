/**
 * Triggers: what starts runs without a call.
 *
 * trigger: a definition, the input of its runs, and a cause: a schedule, or a filter of events. firing: one time of a schedule or
 * one event, for which a trigger starts one run. The id of the run follows from the firing, and a record that is stored with the
 * run keeps a repeated firing from starting it again. position: how far the times of a schedule or the events of a tenant's log
 * are handled; it is stored after the starts. depth: the number of triggers in a chain of runs that start each other.
 * overlap: what happens at a time of a schedule while an earlier run is in progress.
 */

import { createShards } from "../../../platform/shards/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { EventLogs, EventRecorder } from "../../operations/index.ts";
import type { Definitions } from "../definitions/index.ts";
import type { Environments } from "../environments/index.ts";
import type { Runs } from "../runs/index.ts";
import { shardCount } from "./domain/trigger.ts";
import { createEventWorker } from "./event-worker.ts";
import { createFireService } from "./fire-service.ts";
import { createFiringStarter } from "./firing-starter.ts";
import { triggerHandlers } from "./handler.ts";
import { createWorkflowScheduleWorker } from "./schedule-worker.ts";
import { createTriggerRecorder } from "./trigger-recorder.ts";
import { createTriggerRecords } from "./trigger-records.ts";
import { createTriggerService } from "./trigger-service.ts";

export { findTriggersOf } from "./trigger-store.ts";

interface Dependencies extends Pick<PlatformServices, "db" | "signals" | "clock" | "log" | "shares"> {
  readonly events: EventRecorder;
  readonly eventLogs: EventLogs;
  readonly environments: Environments;
  readonly definitions: Pick<Definitions, "identify">;
  readonly runs: Pick<Runs, "startRun" | "startFor" | "cancelFor" | "findInProgress" | "findExisting">;
}

/** Signal topic for changes of triggers. */
const topic = "workflow.triggers";

/** How long the triggers of a node that died wait for another node. */
const shardLeaseMs = 5000;

export function createTriggers(dependencies: Dependencies) {
  const { db, clock, log, signals, runs } = dependencies;
  const shards = createShards({ db, clock, log, signals, kind: topic, count: shardCount, leaseMs: shardLeaseMs });
  const workerParts = {
    ...{ ...dependencies, shards, topic },
    startFiring: createFiringStarter({ runs, clock }),
    recordResults: createTriggerRecorder(dependencies),
  };
  const schedules = createWorkflowScheduleWorker(workerParts);
  const eventWorker = createEventWorker(workerParts);
  const wakeWorkers = () => signals.wake(topic);
  const service = createTriggerService({ ...dependencies, wakeWorkers });
  const fire = createFireService({ db, service, startRun: runs.startRun });
  return {
    handlers: triggerHandlers({ service, fire, definitions: dependencies.definitions }),
    /** The triggers as records of packs. */
    packRecords: createTriggerRecords({ service, wakeWorkers }),
    /** Starts runs, on a node that does background work. */
    worker: {
      async start() {
        shards.start();
        schedules.start();
        await eventWorker.start();
      },
      async stop() {
        await schedules.stop();
        await eventWorker.stop();
        await shards.stop();
      },
    },
  };
}
