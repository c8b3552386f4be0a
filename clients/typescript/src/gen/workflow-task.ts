// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonValue } from "../json.ts";
import type { Violation } from "./violation.ts";

/** Workflow tasks: how external workers run the tasks of workflow runs. */
export interface WorkflowTaskService {
  /** Leases tasks that the worker can run, oldest first; if there are none, the call waits for tasks. A task that was leased for a caller that disconnected is ready again at once, and the attempt is not counted. */
  poll(request: PollWorkflowTasksRequest, options?: CallOptions): Promise<PollWorkflowTasksResponse>;

  /** Reports that the worker still runs tasks, and extends their leases. Each task has its own result, in order. Details are stored and given to the next attempt. */
  heartbeat(request: HeartbeatWorkflowTasksRequest, options?: CallOptions): Promise<HeartbeatWorkflowTasksResponse>;

  /** Completes attempts with their outputs, and optionally leases the next tasks in the same call. Each completion has its own result, in order; all of them are applied before the call waits for tasks. */
  complete(request: CompleteWorkflowTasksRequest, options?: CallOptions): Promise<CompleteWorkflowTasksResponse>;

  /** Reports failed attempts; each has its own result, in order. The step is retried by its policy. An attempt that fails with the code incompatible is not counted: the task waits for a worker of another build. */
  fail(request: FailWorkflowTasksRequest, options?: CallOptions): Promise<FailWorkflowTasksResponse>;

  /** Gives leased tasks back, so that other workers get them at once. The attempts are not counted. For a worker that stops. */
  release(request: ReleaseWorkflowTasksRequest, options?: CallOptions): Promise<ReleaseWorkflowTasksResponse>;

  /** Lists the tasks that have not ended, oldest first. */
  list(request?: ListWorkflowTasksRequest, options?: CallOptions): List<WorkflowTask>;

  /** Returns one task with its input. */
  get(request: GetWorkflowTaskRequest, options?: CallOptions): Promise<WorkflowTask>;

  /** Lists the queues that have tasks or workers, with the reason why ready tasks wait. */
  listWorkflowQueues(request?: ListWorkflowQueuesRequest, options?: CallOptions): List<WorkflowQueue>;
}

const workflowTaskServiceOperations = {
  poll: { verb: "POST", path: "/api/workflow-tasks:poll", body: "*", keyed: true },
  heartbeat: { verb: "POST", path: "/api/workflow-tasks:heartbeat", body: "*", keyed: true },
  complete: { verb: "POST", path: "/api/workflow-tasks:complete", body: "*", keyed: true },
  fail: { verb: "POST", path: "/api/workflow-tasks:fail", body: "*", keyed: true },
  release: { verb: "POST", path: "/api/workflow-tasks:release", body: "*", keyed: true },
  list: { verb: "GET", path: "/api/workflow-tasks", result: "cursor" },
  get: { verb: "GET", path: "/api/workflow-tasks/{task_id}" },
  listWorkflowQueues: { verb: "GET", path: "/api/workflow-queues", result: "cursor" },
} as const satisfies Record<keyof WorkflowTaskService, Operation>;

/** Creates the service over a transport. */
export function createWorkflowTaskService(transport: Transport): WorkflowTaskService {
  return bindOperations<WorkflowTaskService>(transport, workflowTaskServiceOperations);
}

/** A type of task that a worker can run. */
export type WorkflowCapabilityInput = {
  /** The type of the task. */
  readonly type: string;
  /** The versions that the worker implements, for example 2.1.0; any version when empty. */
  readonly versions?: readonly string[];
};

/** Request of a worker for tasks. */
export type PollWorkflowTasksRequest = {
  /** The id or the key of the environment; production when empty. */
  readonly environment_id?: string;
  /** The queue of the tasks. */
  readonly queue: string;
  /** The worker's name, unique in its queue. */
  readonly worker_id: string;
  /** The build of the worker's code, for example a commit. Workers of one build can run the same tasks. */
  readonly build_id?: string;
  /** The version of this protocol; 1 when 0. */
  readonly protocol?: number;
  /** The tasks that the worker can run. */
  readonly capabilities: readonly WorkflowCapabilityInput[];
  /** The most tasks to lease; 1 when 0. Large tasks are fewer: a response ends at about 2 MiB, and the rest stays ready. */
  readonly slots?: number;
  /** Seconds to wait for tasks if there are none. */
  readonly wait_s?: number;
  /** Runs whose tasks the worker prefers, for example because it holds their data. It gets tasks of other runs as well. */
  readonly sticky_runs?: readonly string[];
};

/** The leased tasks. */
export type PollWorkflowTasksResponse = {
  /** The tasks; empty if none became ready in time. */
  readonly tasks: readonly LeasedWorkflowTask[];
};

/** A leased task: one attempt of a step. */
export type LeasedWorkflowTask = {
  /** The task. */
  readonly task_id: string;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** Proves that the worker holds the lease of this attempt. */
  readonly token: string;
  /** The run. */
  readonly run_id: string;
  /** The step, with the positions in the maps around it: ocr[3]. */
  readonly step: string;
  /** The type of the task. */
  readonly type: string;
  /** The range of versions that the step requires; empty for any. */
  readonly version_range: string;
  /** The input. */
  readonly input?: JsonValue;
  /** When the attempt ends at the latest. */
  readonly deadline?: string;
  /** When the lease ends without a heartbeat. */
  readonly lease_until?: string;
  /** The longest time between two heartbeats in seconds; 0 if none are needed. */
  readonly heartbeat_s: number;
  /** The details of the last heartbeat of any attempt; absent if there are none. */
  readonly details?: JsonValue;
  /** The same for all attempts of the step. Send it to systems that recognise repeated requests. */
  readonly idempotency_key: string;
};

/** A worker's sign of life for a task. */
export type WorkflowTaskHeartbeat = {
  /** The task. */
  readonly task_id: string;
  /** The token of the lease. */
  readonly token: string;
  /** The progress, for people and for the next attempt, at most 16 KiB as JSON. The stored details stay when absent. */
  readonly details?: unknown;
};

/** Request to extend the leases of tasks. */
export type HeartbeatWorkflowTasksRequest = {
  /** The tasks. An entry with an invalid field gets INVALID_ARGUMENT as its own result. */
  readonly tasks: readonly WorkflowTaskHeartbeat[];
};

/** The results, in order. */
export type HeartbeatWorkflowTasksResponse = {
  /** One for each task. */
  readonly results: readonly WorkflowHeartbeatResult[];
};

/** The result of a heartbeat. */
export type WorkflowHeartbeatResult = {
  /** The task. */
  readonly task_id: string;
  /** ok (continue), cancel (the task has ended: stop the work), lost (the lease is over: stop the work) or paused (the run is paused; the lease is extended). Empty if there is an error. */
  readonly status: string;
  /** When the lease ends without another heartbeat; absent if it is not held. */
  readonly lease_until?: string;
  /** The error code; empty if there is none. */
  readonly error_code: string;
  /** The error in words. */
  readonly error_message: string;
  /** The invalid fields; empty for other errors. */
  readonly violations: readonly Violation[];
};

/** A completed attempt. */
export type WorkflowTaskCompletion = {
  /** The task. */
  readonly task_id: string;
  /** The token of the lease. */
  readonly token: string;
  /** The output of the step, at most 128 KiB as JSON; null when absent. */
  readonly output?: unknown;
};

/** Request to complete attempts. */
export type CompleteWorkflowTasksRequest = {
  /** The completed attempts. An entry with an invalid field gets INVALID_ARGUMENT as its own result. */
  readonly completions: readonly WorkflowTaskCompletion[];
  /** Leases the next tasks in this call; nothing is leased when absent. */
  readonly poll?: PollWorkflowTasksRequest;
};

/** The results, and the next tasks. */
export type CompleteWorkflowTasksResponse = {
  /** One for each completion, in order. */
  readonly results: readonly WorkflowTaskResult[];
  /** The tasks that were leased. */
  readonly tasks: readonly LeasedWorkflowTask[];
};

/** The result of a report. */
export type WorkflowTaskResult = {
  /** The task. */
  readonly task_id: string;
  /** completed, failed, incompatible, released, or stale: the attempt had already ended and the report has no effect. Empty if there is an error. */
  readonly status: string;
  /** The error code; empty if there is none. For a stale report: LEASE_LOST. */
  readonly error_code: string;
  /** The error in words. */
  readonly error_message: string;
  /** The invalid fields; empty for other errors. */
  readonly violations: readonly Violation[];
};

/** A failed attempt. */
export type WorkflowTaskFailure = {
  /** The task. */
  readonly task_id: string;
  /** The token of the lease. */
  readonly token: string;
  /** The code of the error: lower-case letters, digits and underscores; task_failed when empty. The code incompatible says that this build of the worker cannot run the task. */
  readonly code?: string;
  /** The message for people. */
  readonly message?: string;
  /** Further data for the workflow, at most 16 KiB as JSON. */
  readonly details?: unknown;
  /** Whether a retry makes sense; default true. */
  readonly retryable?: boolean;
  /** Seconds until the next attempt; the step's retry policy decides when absent. */
  readonly retry_after_s?: number;
};

/** Request to report failed attempts. */
export type FailWorkflowTasksRequest = {
  /** The failed attempts. An entry with an invalid field gets INVALID_ARGUMENT as its own result. */
  readonly failures: readonly WorkflowTaskFailure[];
};

/** The results, in order. */
export type FailWorkflowTasksResponse = {
  /** One for each failure. */
  readonly results: readonly WorkflowTaskResult[];
};

/** A task and its lease. */
export type WorkflowTaskLease = {
  /** The task. */
  readonly task_id: string;
  /** The token of the lease. */
  readonly token: string;
};

/** Request to give tasks back. */
export type ReleaseWorkflowTasksRequest = {
  /** The tasks. An entry with an invalid field gets INVALID_ARGUMENT as its own result. */
  readonly tasks: readonly WorkflowTaskLease[];
};

/** The results, in order. */
export type ReleaseWorkflowTasksResponse = {
  /** One for each task. */
  readonly results: readonly WorkflowTaskResult[];
};

/** Request for a page of tasks. */
export type ListWorkflowTasksRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only tasks of this environment: its id or its key. */
  readonly environment_id?: string;
  /** Only tasks of this queue. */
  readonly queue?: string;
  /** Only tasks in this state. */
  readonly state?: "" | "ready" | "leased" | "incompatible" | "held";
  /** Only tasks of this run. */
  readonly run_id?: string;
};

/** A task that has not ended. */
export type WorkflowTask = {
  /** The id, a ULID. */
  readonly id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The run. */
  readonly run_id: string;
  /** The step, with the positions in the maps around it. */
  readonly step: string;
  /** The queue. */
  readonly queue: string;
  /** The type. */
  readonly type: string;
  /** The range of versions that the step requires; empty for any. */
  readonly version_range: string;
  /** ready, leased, incompatible (workers poll the queue, but none of them can run it) or held (its run is paused). */
  readonly state: string;
  /** Why a ready or incompatible task waits: retry_delay, no_worker, no_capable_worker or workers_busy. Empty in other states. */
  readonly wait_reason: string;
  /** The number of the current or next attempt, from 1. */
  readonly attempt: number;
  /** From when on it can be leased. */
  readonly ready_at?: string;
  /** The worker that holds the lease. */
  readonly worker_id: string;
  /** The build of that worker. */
  readonly build_id: string;
  /** When it was leased. */
  readonly leased_at?: string;
  /** When the lease ends without a heartbeat. */
  readonly lease_until?: string;
  /** When the attempt ends at the latest. */
  readonly deadline?: string;
  /** Builds of workers that cannot run it. */
  readonly refused_by: readonly string[];
  /** When it was created. */
  readonly created_at?: string;
  /** The input; only in the response to GetWorkflowTask. */
  readonly input?: JsonValue;
  /** The details of the last heartbeat; only in the response to GetWorkflowTask. */
  readonly details?: JsonValue;
};

/** Identifies a task. */
export type GetWorkflowTaskRequest = {
  /** The task's id. */
  readonly task_id: string;
};

/** Request for a page of queues. */
export type ListWorkflowQueuesRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only queues of this environment: its id or its key. */
  readonly environment_id?: string;
  /** Only this queue. */
  readonly queue?: string;
};

/** A queue of tasks. */
export type WorkflowQueue = {
  /** The environment. */
  readonly environment_id: string;
  /** The name. */
  readonly queue: string;
  /** Tasks that a worker can lease, now or after their retry delay. At most 10,000 waiting tasks of a queue are counted. */
  readonly ready: number;
  /** Tasks that workers run now. Only the tenant's oldest 10,000 tasks are counted. */
  readonly leased: number;
  /** Tasks that none of the queue's workers can run. At most 10,000 waiting tasks of a queue are counted. */
  readonly incompatible: number;
  /** Whether a count stopped early: there are at least that many. */
  readonly counts_capped: boolean;
  /** How long the oldest task that can be leased has waited, in seconds. */
  readonly oldest_ready_age_s: number;
  /** Why tasks that can be leased wait: no_worker (nobody polls the queue), no_capable_worker (workers poll, but none of them can run the waiting tasks) or workers_busy. Empty if none wait. */
  readonly wait_reason: string;
  /** The workers that are present, up to 1,000 of the tenant. */
  readonly workers: readonly WorkflowWorker[];
};

/** A worker of a queue. */
export type WorkflowWorker = {
  /** The worker's name. */
  readonly worker_id: string;
  /** The build of its code. */
  readonly build_id: string;
  /** The version of the protocol. */
  readonly protocol: number;
  /** The tasks that it can run. */
  readonly capabilities: readonly WorkflowCapability[];
  /** When it was first seen. */
  readonly first_seen_at?: string;
  /** When it was last seen, within a few seconds. */
  readonly seen_at?: string;
};

/** A type of task that a worker can run. */
export type WorkflowCapability = {
  /** The type of the task. */
  readonly type: string;
  /** The versions that the worker implements, for example 2.1.0; any version when empty. */
  readonly versions: readonly string[];
};
