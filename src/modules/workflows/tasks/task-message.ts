import { create } from "@bufbuild/protobuf";
import { timestampFromDate, type Value } from "@bufbuild/protobuf/wkt";
import {
  type LeasedWorkflowTask,
  LeasedWorkflowTaskSchema,
  type WorkflowHeartbeatResult,
  WorkflowHeartbeatResultSchema,
  type WorkflowQueue,
  WorkflowQueueSchema,
  type WorkflowTask,
  type WorkflowTaskResult,
  WorkflowTaskResultSchema,
  WorkflowTaskSchema,
} from "../../../../gen/service/api/workflow_task_pb.ts";
import { type Failure, fail } from "../../../errors/index.ts";
import { jsonToValue, valueToJson } from "../../../platform/protojson/index.ts";
import { idempotencyKey, type Json, type LeasedTask } from "./domain/task.ts";
import type { ShownQueue, ShownTask } from "./overview/task-overview.ts";
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
    ...detailsField(task.details),
    idempotencyKey: idempotencyKey(task),
  });
}

/** Converts a task; `content` is included for a single task only. */
export function fromTask(task: ShownTask, content?: { input: Json; details: Json }): WorkflowTask {
  const time = (name: "leasedAt" | "leaseUntil" | "attemptUntil") => {
    const date = task[name];
    return date === null ? undefined : timestampFromDate(date);
  };
  return create(WorkflowTaskSchema, {
    id: task.id,
    environmentId: task.environmentId,
    runId: task.runId,
    step: task.stepKey,
    queue: task.queue,
    type: task.type,
    versionRange: task.versionRange,
    state: task.state,
    waitReason: task.reason ?? "",
    attempt: task.attempt,
    readyAt: timestampFromDate(task.readyAt),
    workerId: task.workerId,
    buildId: task.buildId,
    leasedAt: time("leasedAt"),
    leaseUntil: time("leaseUntil"),
    deadline: time("attemptUntil"),
    refusedBy: [...task.refusedBy],
    createdAt: timestampFromDate(task.createdAt),
    ...(content !== undefined && { input: jsonToValue(content.input), ...detailsField(content.details) }),
  });
}

function detailsField(details: Json): { details?: Value } {
  return details === null ? {} : { details: jsonToValue(details) };
}

export function fromQueue(queue: ShownQueue): WorkflowQueue {
  const { environmentId, ready, leased, incompatible, countsCapped, oldestReadyAgeMs, reason, workers } = queue;
  return create(WorkflowQueueSchema, {
    environmentId,
    queue: queue.queue,
    ready,
    leased,
    incompatible,
    countsCapped,
    oldestReadyAgeS: oldestReadyAgeMs / 1000,
    waitReason: reason ?? "",
    workers: workers.map(({ workerId, buildId, protocol, capabilities, firstSeenAt, seenAt }) => ({
      workerId,
      buildId,
      protocol,
      capabilities: capabilities.map(({ type, versions }) => ({ type, versions: [...versions] })),
      firstSeenAt: timestampFromDate(firstSeenAt),
      seenAt: timestampFromDate(seenAt),
    })),
  });
}

/** Converts an optional Value; an absent one is null. */
export function toJson(value: Value | undefined): Json {
  return value === undefined ? null : valueToJson(value);
}

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
