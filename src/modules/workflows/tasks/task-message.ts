import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type LeasedWorkflowTask,
  LeasedWorkflowTaskSchema,
  type WorkflowHeartbeatResult,
  WorkflowHeartbeatResultSchema,
  type WorkflowTaskResult,
  WorkflowTaskResultSchema,
} from "../../../../gen/service/api/workflow_task_pb.ts";
import { type Failure, fail } from "../../../errors/index.ts";
import { jsonToValue } from "../../../platform/protojson/index.ts";
import { idempotencyKey, type LeasedTask } from "./domain/task.ts";
import type { ShownQueue, ShownTask } from "./overview/task-overview.ts";
import type { StoredTaskInput } from "./overview/task-store.ts";
import type { HeartbeatResult } from "./reports/report-store.ts";

/** The status of a report that was applied. */
export type ReportStatus = "completed" | "failed" | "incompatible" | "released";

export function fromLeasedTask(task: LeasedTask): LeasedWorkflowTask {
  return create(LeasedWorkflowTaskSchema, {
    taskId: task.id,
    attempt: task.attempt,
    token: task.token,
    runId: task.runId,
    step: task.stepKey,
    type: task.type,
    versionRange: task.versionRange,
    input: jsonToValue(task.input),
    deadline: timestampFromDate(task.attemptUntil),
    leaseUntil: timestampFromDate(task.leaseUntil),
    heartbeatS: task.heartbeatMs / 1000,
    ...(task.details !== null && { details: jsonToValue(task.details) }),
    idempotencyKey: idempotencyKey(task),
  });
}

/** Converts a task; a single one has its input and details. */
export const fromTask = (task: ShownTask & Partial<Pick<StoredTaskInput, "input" | "details">>) => ({
  ...task,
  step: task.stepKey,
  waitReason: task.reason ?? "",
  deadline: task.attemptUntil,
  details: task.details ?? undefined,
});

export const fromQueue = ({ oldestReadyAgeMs, reason, ...queue }: ShownQueue) => ({
  ...queue,
  oldestReadyAgeS: oldestReadyAgeMs / 1000,
  waitReason: reason ?? "",
});

export function fromResult(taskId: string, result: ReportStatus | "stale" | Failure): WorkflowTaskResult {
  if (typeof result !== "string") return create(WorkflowTaskResultSchema, { taskId, ...errorFields(result) });
  const stale = result === "stale" ? errorFields(attemptEnded()) : {};
  return create(WorkflowTaskResultSchema, { taskId, status: result, ...stale });
}

export function fromHeartbeat(taskId: string, result: HeartbeatResult | Failure): WorkflowHeartbeatResult {
  if (result instanceof Error) return create(WorkflowHeartbeatResultSchema, { taskId, ...errorFields(result) });
  const { status, leaseUntil } = result;
  return create(WorkflowHeartbeatResultSchema, {
    taskId,
    status,
    ...(leaseUntil !== null && { leaseUntil: timestampFromDate(leaseUntil) }),
  });
}

function errorFields({ code, message, violations }: Failure) {
  return { errorCode: code, errorMessage: message, violations: [...violations] };
}

function attemptEnded(): Failure {
  return fail("LEASE_LOST", {
    public:
      "The attempt has ended before: it was reported, timed out or cancelled, or another worker has the task. Discard its result.",
  });
}
