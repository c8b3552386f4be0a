/**
 * Workflows: durable processes of many steps, with waits, approvals, workers and retries.
 *
 * definitions: the documents that describe workflows, and their published versions. runs: executions of a published version.
 * tasks: the steps that external workers execute. triggers: schedules and events that start runs.
 */
import type { OperationCaller } from "../../chain/operation-caller.ts";
import type { Area, AreaParts } from "../area.ts";
import type { EventLogs, EventRecorder } from "../operations/index.ts";
import { createDefinitions, type ReferenceSources } from "./definitions/index.ts";
import { createEnvironments } from "./environments/index.ts";
import { compileTemplate, createRuns, type FindPoolId, runUsage, type TakeQuota } from "./runs/index.ts";
import { createTasks } from "./tasks/index.ts";
import { createTriggers, findTriggersOf } from "./triggers/index.ts";

interface Parts extends AreaParts, ReferenceSources {
  readonly events: EventRecorder;
  readonly eventLogs: EventLogs;
  readonly takeQuota: TakeQuota;
  readonly findPoolId: FindPoolId;
  /** Performs operations of other areas. */
  readonly call: OperationCaller;
}

/** Creates the area. */
export function createWorkflows({ config, ...parts }: Parts) {
  const environments = createEnvironments(parts.side);
  const definitions = createDefinitions(parts);
  const tasks = createTasks({
    ...parts,
    environments,
    engine: { apply: (tenantId, runId, event) => runs.apply(tenantId, runId, event) },
  });
  const runs = createRuns({
    ...parts,
    definitions,
    environments,
    dispatch: tasks.dispatch,
    tasksOfRun: tasks.tasksOfRun,
    retentionDays: config["workflow.retention_days"],
  });
  const triggers = createTriggers({ ...parts, environments, definitions, runs });
  return {
    handlers: {
      "service.api.WorkflowDefinitionService": definitions.handlers,
      "service.api.WorkflowRunService": runs.handlers,
      "service.api.WorkflowApprovalService": runs.approvalHandlers,
      "service.api.WorkflowDeadLetterService": runs.deadLetterHandlers,
      "service.api.WorkflowTaskService": tasks.handlers,
      "service.api.WorkflowTriggerService": triggers.handlers,
    },
    jobs: runs.jobs,
    workers: [runs.sweeper, tasks.sweeper, triggers.worker],
    environments,
    compileTemplate,
    /** The records that packs contain. */
    packRecords: [definitions.packRecords(findTriggersOf)],
    /** What is metered. */
    usageSources: [runUsage],
    /** Finds workflows that refer to records of other areas. */
    findUses: definitions.findUses,
    /** Ends the long polls of workers when the node stops. */
    endWaits: tasks.endWaits,
    /** Resolves when nothing is being written or performed. */
    async idle() {
      await tasks.idle();
      await runs.idle();
    },
  } satisfies Area & Record<string, unknown>;
}
