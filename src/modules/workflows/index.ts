/**
 * Workflows: durable processes of many steps, with waits, approvals, workers and retries.
 *
 * definitions: the documents that describe workflows, and their published versions. runs: executions of a published version.
 * tasks: the steps that external workers execute. triggers: schedules and events that start runs. streams: ordered records that a
 * run and others exchange. objects: payloads of streams that are too large for a record.
 */
import type { OperationCaller } from "../../chain/operation-caller.ts";
import { openObjectStore } from "../../platform/objects/index.ts";
import type { Area, PlatformServices } from "../area.ts";
import type { HistoryRecorder } from "../history-source.ts";
import type { EventLogs, EventRecorder } from "../operations/index.ts";
import { createDefinitions, type ReferenceSources } from "./definitions/index.ts";
import { createEnvironments } from "./environments/index.ts";
import { workflowNames } from "./name-sources.ts";
import { createObjects } from "./objects/index.ts";
import {
  compileTemplate,
  createRuns,
  type FindExperimentId,
  type FindPoolId,
  readRunOutcomes,
  runUsage,
  type TakeQuota,
} from "./runs/index.ts";
import { createStreams } from "./streams/index.ts";
import { createTasks } from "./tasks/index.ts";
import { createTriggers, findTriggersOf } from "./triggers/index.ts";

export { findStoredObjectKeys } from "./objects/index.ts";

interface Dependencies extends PlatformServices, ReferenceSources {
  readonly history: HistoryRecorder;
  readonly events: EventRecorder;
  readonly eventLogs: EventLogs;
  readonly takeQuota: TakeQuota;
  readonly findPoolId: FindPoolId;
  readonly findExperimentId: FindExperimentId;
  /** Performs operations of other areas. */
  readonly call: OperationCaller;
}

export function createWorkflows({ config, ...parts }: Dependencies) {
  const environments = createEnvironments(parts);
  const definitions = createDefinitions(parts);
  const tasks = createTasks({
    ...parts,
    environments,
    engine: { apply: (tenantId, runId, event) => runs.apply(tenantId, runId, event) },
  });
  const region = config["server.region"];
  const runs = createRuns({
    ...parts,
    region,
    definitions,
    environments,
    dispatch: tasks.dispatch,
    tasksOfRun: tasks.tasksOfRun,
    retentionDays: config["workflow.retention_days"],
  });
  const triggers = createTriggers({ ...parts, environments, definitions, runs });
  const streams = createStreams({
    ...parts,
    sendMail: runs.sendMail,
    findInProgress: runs.findInProgress,
    region,
    releaseObjects: (tx, tenantId, objectKeys) => objects.release(tx, tenantId, objectKeys),
  });
  const objectStore = openObjectStore(config, parts.clock.now);
  const objects = createObjects({ ...parts, streams, store: objectStore, region });
  return {
    handlers: {
      "service.api.WorkflowDefinitionService": definitions.handlers,
      "service.api.WorkflowRunService": runs.handlers,
      "service.api.WorkflowApprovalService": runs.approvalHandlers,
      "service.api.WorkflowDeadLetterService": runs.deadLetterHandlers,
      "service.api.WorkflowTaskService": tasks.handlers,
      "service.api.WorkflowTriggerService": triggers.handlers,
      "service.api.WorkflowStreamService": streams.handlers,
      "service.api.WorkflowObjectService": objects.handlers,
    },
    jobs: [...runs.jobs, ...streams.jobs, ...objects.jobs],
    workers: [runs.sweeper, tasks.sweeper, triggers.worker, streams.worker],
    names: workflowNames,
    environments,
    compileTemplate,
    /** Activated by promotions. */
    artifacts: [definitions.artifacts(readRunOutcomes, runs.simulateChange)],
    /** The records that packs contain. */
    packRecords: [definitions.packRecords(findTriggersOf), triggers.packRecords],
    usageSources: [runUsage],
    backlogs: [...runs.backlogs, tasks.backlog],
    healthSources: { workflow_runs: runs.health, workflow_tasks: tasks.health },
    historySources: [definitions.history],
    explainers: [runs.explainer],
    /** Finds workflows that refer to records of other areas. */
    findUses: definitions.findUses,
    endWaits() {
      runs.endWaits();
      tasks.endWaits();
      streams.endWaits();
    },
    /** Schedules the removal of a tenant's data outside of the database; returns whether any is left. */
    releaseTenant: objects.releaseTenant,
    transfer: objects.transfer,
    close: () => objectStore.close(),
    async idle() {
      await tasks.idle();
      await streams.idle();
      await runs.idle();
    },
  } satisfies Area & Record<string, unknown>;
}
