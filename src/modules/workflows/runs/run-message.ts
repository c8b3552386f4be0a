import { create } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type WorkflowRunError as ErrorMessage,
  type WorkflowRun as RunMessage,
  type WorkflowRunStep as StepMessage,
  WorkflowRunErrorSchema,
  WorkflowRunSchema,
  WorkflowRunStepSchema,
} from "../../../../gen/service/api/workflow_run_pb.ts";
import { jsonToValue } from "../../../platform/protojson/index.ts";
import type { HistoryError } from "./domain/engine/history-entry.ts";
import { type Activity, failedCompensations, type RunState } from "./domain/engine/state.ts";
import type { Run } from "./domain/run.ts";

/** Converts a run to its message. A summary leaves out what the run holds. */
export function fromRun(run: Run, detail: "full" | "summary" = "full"): RunMessage {
  const { origin, status } = run;
  const state = JSON.parse(run.stateJson) as RunState;
  const isFull = detail === "full";
  return create(WorkflowRunSchema, {
    id: run.id,
    tenantId: run.tenantId,
    environmentId: run.environmentId,
    definitionId: run.definitionId,
    definitionKey: origin.definition,
    version: run.version,
    runKey: run.runKey,
    status,
    ...(isFull && { input: jsonToValue(state.input) }),
    ...(isFull && status === "succeeded" && { output: jsonToValue(run.output) }),
    ...(run.error !== null && { error: fromError(run.error) }),
    ...(isFull && run.endedAt === null && { activeSteps: Object.entries(state.active).map(fromActivity) }),
    ...(isFull && { values: state.values as never }),
    attributes: origin.attributes ?? {},
    startedBy: origin.by,
    startedVia: origin.via,
    parentRunId: run.parentRunId,
    replayOfRunId: origin.replayOf?.runId ?? "",
    createdAt: timestampFromDate(run.createdAt),
    ...(state.startedAtMs > 0 && { startedAt: timestampFromMs(state.startedAtMs) }),
    ...(state.deadlineMs > 0 && { deadline: timestampFromMs(state.deadlineMs) }),
    ...(run.endedAt !== null && { endedAt: timestampFromDate(run.endedAt) }),
    ...(run.wakeAt !== null && { wakesAt: timestampFromDate(run.wakeAt) }),
    revision: run.revision,
    ...{ continuedByRunId: state.nextRunId ?? "", continuesRunId: origin.continues ?? "" },
    ...(run.endedAt !== null && { failedCompensations: failedCompensations(state) }),
  });
}

export function fromError({ code, message, step = "", details }: HistoryError): ErrorMessage {
  return create(WorkflowRunErrorSchema, { code, message, step, details: jsonToValue(details) });
}

function fromActivity([step, activity]: [string, Activity]): StepMessage {
  return create(WorkflowRunStepSchema, {
    step,
    activity: activity.s,
    since: timestampFromMs(activity.sinceMs),
    attempt: "attempt" in activity ? activity.attempt : 0,
    ...(activity.dueMs !== undefined && { dueAt: timestampFromDate(new Date(activity.dueMs)) }),
    taskId: activity.s === "task" ? activity.taskId : "",
    childRunId: activity.s === "effect" ? (activity.childId ?? "") : "",
  });
}
