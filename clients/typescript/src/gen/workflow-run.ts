// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject, JsonValue } from "../json.ts";

/** Workflow runs: executions of published workflow definitions. */
export interface WorkflowRunService {
  /** Starts a run of a published definition. With a run key, at most one run per key is in progress: a start while another one is in progress returns that run. */
  start(request: StartWorkflowRunRequest, options?: CallOptions): Promise<StartWorkflowRunResponse>;

  /** Returns one run. */
  get(request: GetWorkflowRunRequest, options?: CallOptions): Promise<WorkflowRun>;

  /** Lists runs, the newest first. */
  list(request?: ListWorkflowRunsRequest, options?: CallOptions): List<WorkflowRun>;

  /** Cancels a run, with its tasks and the runs that it waits for. */
  cancel(request: CancelWorkflowRunRequest, options?: CallOptions): Promise<WorkflowRun>;

  /** Pauses a run: no further step starts, and results and events that arrive are kept until it is resumed. */
  pause(request: PauseWorkflowRunRequest, options?: CallOptions): Promise<WorkflowRun>;

  /** Resumes a paused run. */
  resume(request: ResumeWorkflowRunRequest, options?: CallOptions): Promise<WorkflowRun>;

  /** Retries compensations of an ended run that have failed. The run is in progress until they are done, then it ends as before. */
  compensate(request: CompensateWorkflowRunRequest, options?: CallOptions): Promise<WorkflowRun>;

  /** Sends an event to a run. It is kept until a step waits for it, and consumed by one step. */
  signal(request: SignalWorkflowRunRequest, options?: CallOptions): Promise<SignalWorkflowRunResponse>;

  /** Sends an event to the run in progress with a run key, for a caller that does not know the id of the run. */
  signalByKey(request: SignalWorkflowRunByKeyRequest, options?: CallOptions): Promise<SignalWorkflowRunByKeyResponse>;

  /** Updates a run: a step that waits for this update checks the payload, takes it, and answers with a value. An update that is refused changes nothing. */
  applyUpdate(request: ApplyWorkflowRunUpdateRequest, options?: CallOptions): Promise<ApplyWorkflowRunUpdateResponse>;

  /** Cancels, pauses or resumes the runs in progress that match, or sends each an event; or replays the runs that failed and match. The oldest come first, up to 500 in a call. */
  change(request: ChangeWorkflowRunsRequest, options?: CallOptions): Promise<ChangeWorkflowRunsResponse>;

  /** Replays an ended run: starts a new run that holds the outputs of the steps before from_step and continues there. Steps that completed before are never executed again, also on a newer version of the definition. In other branches and elements, completed steps stay completed, and the rest continues where it stopped. */
  replay(request: ReplayWorkflowRunRequest, options?: CallOptions): Promise<ReplayWorkflowRunResponse>;

  /** Returns what happened in a run, in order. */
  getHistory(request: GetWorkflowRunHistoryRequest, options?: CallOptions): List<WorkflowRunAdvance>;

  /** Explains why a run is where it is, and what would move it. */
  explain(request: ExplainWorkflowRunRequest, options?: CallOptions): Promise<WorkflowRunExplanation>;

  /** Executes a definition on a virtual clock, with given results of its steps. Nothing is stored, and no effect is performed. */
  simulate(request?: SimulateWorkflowRunRequest, options?: CallOptions): Promise<WorkflowSimulation>;
}

const workflowRunServiceOperations = {
  start: { verb: "POST", path: "/api/workflow-runs", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/workflow-runs/{run_id}" },
  list: { verb: "GET", path: "/api/workflow-runs", result: "cursor" },
  cancel: { verb: "POST", path: "/api/workflow-runs/{run_id}/cancel", body: "*", keyed: true },
  pause: { verb: "POST", path: "/api/workflow-runs/{run_id}/pause", body: "*", keyed: true },
  resume: { verb: "POST", path: "/api/workflow-runs/{run_id}/resume", body: "*", keyed: true },
  compensate: { verb: "POST", path: "/api/workflow-runs/{run_id}/compensate", body: "*", keyed: true },
  signal: { verb: "POST", path: "/api/workflow-runs/{run_id}/signal", body: "*", keyed: true },
  signalByKey: { verb: "POST", path: "/api/workflow-runs:signal", body: "*", keyed: true },
  applyUpdate: { verb: "POST", path: "/api/workflow-runs/{run_id}/update", body: "*", keyed: true },
  change: { verb: "POST", path: "/api/workflow-runs:change", body: "*", keyed: true },
  replay: { verb: "POST", path: "/api/workflow-runs/{run_id}/replay", body: "*", keyed: true },
  getHistory: { verb: "GET", path: "/api/workflow-runs/{run_id}/history", result: "cursor" },
  explain: { verb: "GET", path: "/api/workflow-runs/{run_id}/explain" },
  simulate: { verb: "POST", path: "/api/workflow-runs:simulate", body: "*" },
} as const satisfies Record<keyof WorkflowRunService, Operation>;

/** Creates the service over a transport. */
export function createWorkflowRunService(transport: Transport): WorkflowRunService {
  return bindOperations<WorkflowRunService>(transport, workflowRunServiceOperations);
}

/** An execution of a published workflow definition. */
export type WorkflowRun = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The definition. */
  readonly definition_id: string;
  /** The key of the definition. */
  readonly definition_key: string;
  /** The version of the definition. It never changes. */
  readonly version: number;
  /** The run key; empty if it has none. */
  readonly run_key: string;
  /** pending, running, waiting, paused, succeeded, failed, cancelled or timed_out. */
  readonly status: string;
  /** The input. */
  readonly input?: JsonValue;
  /** The output of a run that succeeded. */
  readonly output?: JsonValue;
  /** Why it failed, timed out or was cancelled. */
  readonly error?: WorkflowRunError;
  /** The steps in progress, in the order in which they started. */
  readonly active_steps: readonly WorkflowRunStep[];
  /** The outputs of completed steps that later steps may read, by step. */
  readonly values?: JsonObject;
  /** Who started it. */
  readonly started_by: string;
  /** How it was started: api, schedule, event, replay, subworkflow or continue_as_new. */
  readonly started_via: string;
  /** The run that waits for it; empty if none does. */
  readonly parent_run_id: string;
  /** The run that it replays; empty if it is no replay. */
  readonly replay_of_run_id: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When its first step started. */
  readonly started_at?: string;
  /** When it ended. */
  readonly ended_at?: string;
  /** When it times out. */
  readonly deadline?: string;
  /** When it continues by itself, if nothing happens before. */
  readonly wakes_at?: string;
  /** The number of advances so far. */
  readonly revision: number;
  /** What it is about, such as a customer. They never change. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The steps of an ended run whose compensation has failed and can be retried, with their positions in the maps around them. */
  readonly failed_compensations: readonly string[];
  /** The run that continues this one with a new input; empty if none does. */
  readonly continued_by_run_id: string;
  /** The run that this one continues; empty if it continues none. */
  readonly continues_run_id: string;
};

/** Why a run or a step failed. */
export type WorkflowRunError = {
  /** A stable code. */
  readonly code: string;
  /** A message for people. */
  readonly message: string;
  /** The id of the step that failed; empty for the run itself. */
  readonly step: string;
  /** Further data. */
  readonly details?: JsonValue;
};

/** A step in progress. */
export type WorkflowRunStep = {
  /** The step, with its positions in the maps around it, such as ocr[3]. A compensation starts with a tilde. */
  readonly step: string;
  /** What it does: task, effect, event, timer, approval, arm, catch, timeout, parallel or map. */
  readonly activity: string;
  /** When it started. */
  readonly since?: string;
  /** The current attempt; 0 if it has none. */
  readonly attempt: number;
  /** When something is due: the end of a timer or a wait, or the next attempt. */
  readonly due_at?: string;
  /** The task of an external worker; empty if it has none. */
  readonly task_id: string;
  /** The run that it waits for; empty if it waits for none. */
  readonly child_run_id: string;
};

/** What a replay executes, and what not. */
export type WorkflowReplayPlan = {
  /** The run that is replayed. */
  readonly run_id: string;
  /** The version of the definition. */
  readonly version: number;
  /** The step that it continues at: start for the beginning, empty if it continues where the run stopped. */
  readonly from_step: string;
  /** The completed steps that are not executed again; 1000 at most. */
  readonly kept_steps: readonly string[];
  /** The number of completed steps that are not executed again. */
  readonly kept_count: number;
  /** The steps that the run has started and that start again; 1000 at most. */
  readonly repeated_steps: readonly string[];
  /** The number of steps that start again. */
  readonly repeated_count: number;
  /** The steps that start first; 1000 at most. */
  readonly continued_steps: readonly string[];
};

/** An event that is sent to a run when it starts, or when it is in progress already. */
export type StartSignal = {
  /** The name of the event. */
  readonly event: string;
  /** What it is about. Only a wait with the same scope takes it. */
  readonly scope?: string;
  /** Data for the run, at most 64 KiB as JSON. */
  readonly payload?: unknown;
  /** Identifies the event: another one with the same id for the same run is ignored. A new id when empty. */
  readonly event_id?: string;
};

/** Starts a run. */
export type StartWorkflowRunRequest = {
  /** The key or the id of the definition. */
  readonly definition: string;
  /** The version; the active one when 0. */
  readonly version?: number;
  /** The id or the key of the environment; production when empty. */
  readonly environment_id?: string;
  /** The input. */
  readonly input?: unknown;
  /** At most one run per key and definition is in progress. */
  readonly run_key?: string;
  /** When the run starts; now when absent. At most a year ahead. */
  readonly start_at?: string | Date;
  /** Seconds to wait for the end of the run. */
  readonly wait_s?: number;
  /** An event for the run. A new run starts with it; a run in progress with the run key gets it. */
  readonly signal?: StartSignal;
  /** What the run is about, such as a customer, to find it by later. A replay has them too. */
  readonly attributes?: Readonly<Record<string, string>>;
};

/** The started run. */
export type StartWorkflowRunResponse = {
  /** The run. */
  readonly run?: WorkflowRun;
  /** False if a run with this key was in progress already. */
  readonly started: boolean;
  /** The id of the event; empty if the request has none. */
  readonly event_id: string;
};

/** Returns one run. */
export type GetWorkflowRunRequest = {
  /** The run. */
  readonly run_id: string;
  /** Seconds to wait for the end of the run. */
  readonly wait_s?: number;
};

/** Lists runs. */
export type ListWorkflowRunsRequest = {
  /** The page size: 50 by default, 1000 at most. */
  readonly limit?: number;
  /** The token of the previous page's response. */
  readonly cursor?: string;
  /** The number of items to skip. */
  readonly offset?: number;
  /** Only runs of this definition: its id or its key. */
  readonly definition_id?: string;
  /** Only runs with this status. */
  readonly status?: "" | "pending" | "running" | "waiting" | "paused" | "succeeded" | "failed" | "cancelled" | "timed_out";
  /** Only runs of this environment: its id or its key. */
  readonly environment_id?: string;
  /** Only runs with this run key. */
  readonly run_key?: string;
  /** Only runs that this run waits for. */
  readonly parent_run_id?: string;
  /** Only runs with all of these attributes, each as name=value. */
  readonly attributes?: readonly string[];
};

/** Cancels a run. */
export type CancelWorkflowRunRequest = {
  /** The run. */
  readonly run_id: string;
  /** Why. */
  readonly reason?: string;
  /** Whether completed steps are compensated first. */
  readonly compensate?: boolean;
};

/** Pauses a run. */
export type PauseWorkflowRunRequest = {
  /** The run. */
  readonly run_id: string;
  /** Why. */
  readonly reason?: string;
};

/** Resumes a paused run. */
export type ResumeWorkflowRunRequest = {
  /** The run. */
  readonly run_id: string;
};

/** Retries failed compensations. */
export type CompensateWorkflowRunRequest = {
  /** The run. It must have ended. */
  readonly run_id: string;
  /** The steps to undo, out of failed_compensations of the run. All of them when empty. */
  readonly steps?: readonly string[];
  /** Why. */
  readonly reason?: string;
};

/** Sends an event to a run. */
export type SignalWorkflowRunRequest = {
  /** The run. */
  readonly run_id: string;
  /** The name of the event. */
  readonly event: string;
  /** What it is about. Only a wait with the same scope takes it. */
  readonly scope?: string;
  /** Data for the run, at most 64 KiB as JSON. */
  readonly payload?: unknown;
  /** Identifies the event: another one with the same id is ignored. A new id when empty. */
  readonly event_id?: string;
};

/** What became of the event. */
export type SignalWorkflowRunResponse = {
  /** The id of the event. */
  readonly event_id: string;
  /** Whether an event with this id was sent to the run before. */
  readonly duplicate: boolean;
};

/** Sends an event to the run with a run key. */
export type SignalWorkflowRunByKeyRequest = {
  /** The key or the id of the definition. */
  readonly definition: string;
  /** The id or the key of the environment; production when empty. */
  readonly environment_id?: string;
  /** The run key of a run that has not ended. */
  readonly run_key: string;
  /** The name of the event. */
  readonly event: string;
  /** What it is about. Only a wait with the same scope takes it. */
  readonly scope?: string;
  /** Data for the run, at most 64 KiB as JSON. */
  readonly payload?: unknown;
  /** Identifies the event: another one with the same id for the same run is ignored. A new id when empty. */
  readonly event_id?: string;
};

/** What became of the event. */
export type SignalWorkflowRunByKeyResponse = {
  /** The run that got the event. */
  readonly run_id: string;
  /** The id of the event. */
  readonly event_id: string;
  /** Whether an event with this id was sent to the run before. */
  readonly duplicate: boolean;
};

/** Updates a run. */
export type ApplyWorkflowRunUpdateRequest = {
  /** The run. */
  readonly run_id: string;
  /** The name of the update: the event of a wait with an update. */
  readonly name: string;
  /** What it is about. Only a wait with the same scope takes it. */
  readonly scope?: string;
  /** Data for the run, at most 64 KiB as JSON. It must match the input_schema of the update. */
  readonly payload?: unknown;
  /** Identifies the update: another one with the same id waits for the answer of the first. A new id when empty. */
  readonly update_id?: string;
  /** Seconds to wait until a step takes the update, and for its answer. */
  readonly wait_s?: number;
};

/** What became of the update. */
export type ApplyWorkflowRunUpdateResponse = {
  /** The id of the update. */
  readonly update_id: string;
  /** Whether there is an answer. Without one, the run has taken the update, and a call with its id waits again. */
  readonly answered: boolean;
  /** The output of the step that answers. */
  readonly answer?: JsonValue;
  /** Whether an update with this id was applied before. */
  readonly duplicate: boolean;
};

/** How runs are replayed together. */
export type ReplayChoice = {
  /** The version of the definition: each run's own when 0, the active one when -1. */
  readonly version?: number;
  /** Where each replay continues: failed_step (default) or start. */
  readonly from?: "" | "failed_step" | "start";
};

/** Changes the runs that match. At least one filter is required. */
export type ChangeWorkflowRunsRequest = {
  /** What happens to them: cancel, pause, resume, signal or replay. */
  readonly action: "cancel" | "pause" | "resume" | "signal" | "replay";
  /** Only runs of this definition: its id or its key. */
  readonly definition_id?: string;
  /** Only runs of this environment: its id or its key. */
  readonly environment_id?: string;
  /** Only runs with this status: failed or timed_out for replay, and one of a run in progress otherwise. */
  readonly status?: "" | "pending" | "running" | "waiting" | "paused" | "failed" | "timed_out";
  /** Only runs of this version of the definition; any when 0. Needs definition_id. */
  readonly version?: number;
  /** Only runs that were created before. */
  readonly created_before?: string | Date;
  /** Why, for cancel, pause and replay. */
  readonly reason?: string;
  /** For cancel: whether completed steps are compensated first. */
  readonly compensate?: boolean;
  /** For signal: the event. Each run gets it once for each event_id. */
  readonly signal?: StartSignal;
  /** The maximum number of runs; 100 when 0. */
  readonly max_items?: number;
  /** The position of the previous response; empty for the first call. */
  readonly after?: string;
  /** Only runs with all of these attributes, each as name=value. */
  readonly attributes?: readonly string[];
  /** For replay: how each run is replayed. A run is replayed if its dead letter is open, at most three times. */
  readonly replay?: ReplayChoice;
};

/** The result. */
export type ChangeWorkflowRunsResponse = {
  /** The number of runs that were changed. */
  readonly changed_count: number;
  /** The number of runs that were not: those that were as requested already, or have ended meanwhile. */
  readonly unchanged_count: number;
  /** The runs that refused the change, with the reason. */
  readonly refused: readonly RefusedRunChange[];
  /** The position to continue after; empty if there are no more. */
  readonly next: string;
};

/** A run that refused a change. */
export type RefusedRunChange = {
  /** The run. */
  readonly run_id: string;
  /** The code of the error. */
  readonly error_code: string;
  /** The error. */
  readonly error_message: string;
};

/** Replays a run. */
export type ReplayWorkflowRunRequest = {
  /** The run. It must have ended. */
  readonly run_id: string;
  /** The step to continue at, with its positions in the maps around it, such as ocr[3]. Absent: the step that failed, or where the run stopped if no step failed; if steps before it were compensated, the first of those. Empty or start: the beginning. */
  readonly from_step?: string;
  /** The version of the definition: the run's own when 0, the active one when -1. Never older than the run's own. */
  readonly version?: number;
  /** Replaces the input. Absent: the input of the run. */
  readonly input?: unknown;
  /** Replaces outputs of steps before from_step, by step. May also give outputs of steps that never completed. */
  readonly values?: object;
  /** Why. */
  readonly reason?: string;
  /** Only returns the plan. */
  readonly dry_run?: boolean;
};

/** The replay. */
export type ReplayWorkflowRunResponse = {
  /** The new run; absent for a dry run. */
  readonly run?: WorkflowRun;
  /** What it executes. */
  readonly plan?: WorkflowReplayPlan;
};

/** Returns the history of a run. */
export type GetWorkflowRunHistoryRequest = {
  /** The run. */
  readonly run_id: string;
  /** The page size, in advances: 50 by default, 1000 at most. */
  readonly limit?: number;
  /** The token of the previous page's response. */
  readonly cursor?: string;
  /** The number of advances to skip. */
  readonly offset?: number;
};

/** Everything that was stored together. */
export type WorkflowRunAdvance = {
  /** The revision of the run after it. */
  readonly revision: number;
  /** When it happened. */
  readonly at?: string;
  /** What happened. Each entry has a kind, and fields that depend on it. */
  readonly entries: readonly JsonObject[];
};

/** Explains a run. */
export type ExplainWorkflowRunRequest = {
  /** The run. */
  readonly run_id: string;
};

/** Why a run is where it is. */
export type WorkflowRunExplanation = {
  /** The run. */
  readonly run_id: string;
  /** Its status. */
  readonly status: string;
  /** One sentence that sums it up. */
  readonly summary: string;
  /** What each step in progress waits for, or what the run has failed with. */
  readonly reasons: readonly WorkflowRunReason[];
};

/** What a step waits for, or has failed with. */
export type WorkflowRunReason = {
  /** The step; empty for the run itself. */
  readonly step: string;
  /** A stable code, such as waiting_for_event or no_worker. */
  readonly code: string;
  /** What it waits for or has failed with. */
  readonly message: string;
  /** What would move it. */
  readonly remedy: string;
  /** Since when. */
  readonly since?: string;
  /** When it continues by itself. */
  readonly until?: string;
};

/** The results of a step. */
export type WorkflowStepStub = {
  /** The output of every attempt. */
  readonly output?: unknown;
  /** The error of every attempt. */
  readonly error?: WorkflowStubError;
  /** The results of the attempts, instead of output and error. The last one repeats. */
  readonly outputs?: readonly WorkflowStubOutcome[];
  /** How long an attempt takes. */
  readonly after_s?: number;
};

/** The error of an attempt. */
export type WorkflowStubError = {
  /** The code. */
  readonly code: string;
  /** A message for people. */
  readonly message?: string;
  /** Whether the worker reports it as not retryable. */
  readonly not_retryable?: boolean;
};

/** The result of one attempt: an output or an error. */
export type WorkflowStubOutcome = {
  /** The output. */
  readonly output?: unknown;
  /** The error. */
  readonly error?: WorkflowStubError;
};

/** An event that is sent to a simulated run. */
export type SimulatedWorkflowEvent = {
  /** The name of the event. */
  readonly event: string;
  /** What it is about. */
  readonly scope?: string;
  /** Data for the run. */
  readonly payload?: unknown;
  /** When it is sent, in seconds after the start of the run. */
  readonly after_s?: number;
};

/** A decision on an approval of a simulated run. */
export type SimulatedWorkflowDecision = {
  /** The approval step: its id, or one element of a map such as ok[3]. */
  readonly step: string;
  /** Who decides: the subject of a caller. */
  readonly by: string;
  /** The roles of that caller. */
  readonly roles?: readonly string[];
  /** Whether the caller approves. */
  readonly approved?: boolean;
  /** A comment. */
  readonly comment?: string;
  /** When, in seconds after the approval was requested. */
  readonly after_s?: number;
};

/** Simulates a run. */
export type SimulateWorkflowRunRequest = {
  /** The key or the id of a published definition. Either this or a document is required. */
  readonly definition?: string;
  /** The version; the active one when 0. */
  readonly version?: number;
  /** A document of the workflow language, such as a draft. The pools, workflows and definitions that it names need not exist. */
  readonly document?: object;
  /** The id or the key of the environment; production when empty. */
  readonly environment_id?: string;
  /** The input. */
  readonly input?: unknown;
  /** The results of task, route, notify, action and subworkflow steps, by step id, or by step for one element of a map, such as ocr[3]. The name of a compensation starts with a tilde. A step without a stub outputs {} immediately. */
  readonly stubs?: Readonly<Record<string, WorkflowStepStub>>;
  /** The events that are sent to the run. */
  readonly events?: readonly SimulatedWorkflowEvent[];
  /** The decisions on approvals. */
  readonly decisions?: readonly SimulatedWorkflowDecision[];
  /** Stops the simulation after this virtual time. When 0, it continues to the end of the run. */
  readonly max_time_s?: number;
};

/** What a run would do. */
export type WorkflowSimulation = {
  /** The status of the run at the end of the simulation: succeeded, failed, timed_out, or waiting or running if the simulation stopped before. */
  readonly status: string;
  /** The output of a run that succeeded. */
  readonly output?: JsonValue;
  /** Why it failed or timed out. */
  readonly error?: WorkflowRunError;
  /** The virtual time from the start to the end. */
  readonly duration_s: number;
  /** Why the simulation stopped before the end of the run: max_time, max_steps (10,000), max_bytes (2 MiB of steps) or max_expression_steps (5,000,000). Empty if the run ended. */
  readonly stopped_by: string;
  /** The steps in the order in which they started. Compensations follow the steps. */
  readonly path: readonly SimulatedWorkflowStep[];
  /** What the run would cost. */
  readonly cost?: WorkflowSimulationCost;
  /** The ids of executed steps that had no stub. Their output was {}. */
  readonly steps_without_stub: readonly string[];
  /** The stubs that no step used. */
  readonly unused_stubs: readonly string[];
  /** What was ignored, for people. */
  readonly notes: readonly string[];
};

/** A step of a simulated run. */
export type SimulatedWorkflowStep = {
  /** The step, with its positions in the maps around it, such as ocr[3]. A compensation starts with a tilde. */
  readonly step: string;
  /** The kind: task, route, notify, action, subworkflow, branch, parallel, map, wait_event, wait_timer, approval, transform, fail or continue_as_new. */
  readonly kind: string;
  /** When it started, in seconds after the start of the run. */
  readonly started_s: number;
  /** When it ended; when the simulation stopped if it is still open. */
  readonly ended_s: number;
  /** completed, caught (it failed, and its catch gave the output), failed, cancelled or open. */
  readonly outcome: string;
  /** What it was given: the input of a task, the request of an effect or an approval, the events that it waits for, or the end of its timer. Absent for other kinds. */
  readonly input?: JsonValue;
  /** Its output. */
  readonly output?: JsonValue;
  /** Why it failed, even if the error was caught. */
  readonly error?: WorkflowRunError;
  /** The arm of a branch that was taken: its position from 0, or else. Empty if none was. */
  readonly arm: string;
  /** The number of attempts; 0 if it has none. */
  readonly attempts: number;
  /** Whether its output is the default for steps without a stub. */
  readonly default_output: boolean;
};

/** What a run would cost. */
export type WorkflowSimulationCost = {
  /** Steps that were executed, with compensations. */
  readonly steps: number;
  /** Advances that are stored, if every result and event arrives alone. */
  readonly commits: number;
  /** Steps of expressions that were evaluated. */
  readonly expression_steps: number;
  /** Tasks for workers. */
  readonly tasks: number;
  /** Effects that are performed: items, notifications and other runs, with repeated attempts. */
  readonly effects: number;
};
