// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { WorkflowReplayPlan, WorkflowRun } from "./workflow-run.ts";

/** Dead letters of workflow runs: runs that failed or timed out, until somebody replays or discards them. */
export interface WorkflowDeadLetterService {
  /** Lists dead letters, the newest first. */
  list(request?: ListWorkflowDeadLettersRequest, options?: CallOptions): List<WorkflowDeadLetter>;

  /** Returns one dead letter. */
  get(request: GetWorkflowDeadLetterRequest, options?: CallOptions): Promise<WorkflowDeadLetter>;

  /** Counts dead letters. */
  getStats(request?: GetWorkflowDeadLetterStatsRequest, options?: CallOptions): Promise<WorkflowDeadLetterStats>;

  /** Replays the run of a dead letter, from the step that failed by default. At most max_replays times. A replay that fails opens the same dead letter again. */
  replay(request: ReplayWorkflowDeadLetterRequest, options?: CallOptions): Promise<ReplayWorkflowDeadLetterResponse>;

  /** Replays the runs of the open dead letters that match, the oldest first. Quarantined ones and those that have reached their maximum are left out. One call handles at most max_items: repeat it with the returned position until that is empty. */
  replayAll(request?: ReplayAllWorkflowDeadLettersRequest, options?: CallOptions): Promise<ReplayAllWorkflowDeadLettersResponse>;

  /** Quarantines a dead letter: nothing replays it until it is released. */
  quarantine(request: QuarantineWorkflowDeadLetterRequest, options?: CallOptions): Promise<WorkflowDeadLetter>;

  /** Releases a dead letter from quarantine. */
  release(request: ReleaseWorkflowDeadLetterRequest, options?: CallOptions): Promise<WorkflowDeadLetter>;

  /** Discards a dead letter for good. Its run can still be read, and replayed as a run, until its retention ends. */
  discard(request: DiscardWorkflowDeadLetterRequest, options?: CallOptions): Promise<WorkflowDeadLetter>;
}

const workflowDeadLetterServiceOperations = {
  list: { verb: "GET", path: "/api/workflow-dlq", result: "cursor" },
  get: { verb: "GET", path: "/api/workflow-dlq/{run_id}" },
  getStats: { verb: "GET", path: "/api/workflow-dlq:stats" },
  replay: { verb: "POST", path: "/api/workflow-dlq/{run_id}/replay", body: "*", keyed: true },
  replayAll: { verb: "POST", path: "/api/workflow-dlq:replay-all", body: "*", keyed: true },
  quarantine: { verb: "POST", path: "/api/workflow-dlq/{run_id}/quarantine", body: "*", keyed: true },
  release: { verb: "POST", path: "/api/workflow-dlq/{run_id}/release", body: "*", keyed: true },
  discard: { verb: "POST", path: "/api/workflow-dlq/{run_id}/discard", body: "*", keyed: true },
} as const satisfies Record<keyof WorkflowDeadLetterService, Operation>;

/** Creates the service over a transport. */
export function createWorkflowDeadLetterService(transport: Transport): WorkflowDeadLetterService {
  return bindOperations<WorkflowDeadLetterService>(transport, workflowDeadLetterServiceOperations);
}

/** Lists dead letters. */
export type ListWorkflowDeadLettersRequest = {
  /** The page size: 50 by default, 1000 at most. */
  readonly limit?: number;
  /** The token of the previous page's response. */
  readonly cursor?: string;
  /** The number of items to skip. */
  readonly offset?: number;
  /** Only those in this state; open when empty. */
  readonly state?: "" | "open" | "replayed" | "quarantined" | "discarded";
  /** Only those of this definition: its id or its key. */
  readonly definition_id?: string;
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
  /** Only those with this error code. */
  readonly error_code?: string;
};

/** A run that failed or timed out. */
export type WorkflowDeadLetter = {
  /** The run that failed first. It names the dead letter. */
  readonly run_id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The definition. */
  readonly definition_id: string;
  /** The key of the definition. */
  readonly definition_key: string;
  /** The version that failed last. */
  readonly version: number;
  /** open, replayed, quarantined or discarded. */
  readonly state: string;
  /** The code of the last failure. */
  readonly error_code: string;
  /** The message of the last failure. */
  readonly error_message: string;
  /** The id of the step that failed last; empty if no step failed. */
  readonly step: string;
  /** The number of replays so far. */
  readonly replay_count: number;
  /** The maximum number of replays. */
  readonly max_replays: number;
  /** The latest replay; empty before the first. The next replay continues from this run. */
  readonly replay_run_id: string;
  /** When it failed first. */
  readonly first_failed_at?: string;
  /** When it failed last. */
  readonly failed_at?: string;
  /** Why it was quarantined or discarded. */
  readonly reason: string;
  /** Who replayed, quarantined, released or discarded it last. */
  readonly changed_by: string;
};

/** Returns one dead letter. */
export type GetWorkflowDeadLetterRequest = {
  /** The run that failed first. */
  readonly run_id: string;
};

/** Counts dead letters. */
export type GetWorkflowDeadLetterStatsRequest = {
  /** Only those of this definition: its id or its key. */
  readonly definition_id?: string;
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** Counts of dead letters. */
export type WorkflowDeadLetterStats = {
  /** The number of open ones, counted up to 10,000. */
  readonly open_count: number;
  /** Whether counting stopped early. */
  readonly open_capped: boolean;
  /** The number of quarantined ones, counted up to 10,000. */
  readonly quarantined_count: number;
  /** The number of open ones that have reached their maximum number of replays, among those counted. */
  readonly exhausted_count: number;
  /** When the open one that failed first failed, among those counted. */
  readonly oldest_failure_at?: string;
  /** The open ones by error code, the most frequent first; 20 codes at most. */
  readonly by_error_code: readonly WorkflowDeadLetterCount[];
};

/** A number of dead letters. */
export type WorkflowDeadLetterCount = {
  /** The error code. */
  readonly error_code: string;
  /** The number of open dead letters with it. */
  readonly count: number;
};

/** Replays a dead letter. */
export type ReplayWorkflowDeadLetterRequest = {
  /** The run that failed first. */
  readonly run_id: string;
  /** The step to continue at, as for a run. */
  readonly from_step?: string;
  /** The version of the definition: the run's own when 0, the active one when -1. Never older than the run's own. */
  readonly version?: number;
  /** Replaces the input. Absent: the input of the run. */
  readonly input?: unknown;
  /** Replaces outputs of steps before from_step, by step. */
  readonly values?: object;
  /** Why. */
  readonly reason?: string;
};

/** The replay. */
export type ReplayWorkflowDeadLetterResponse = {
  /** The new run. */
  readonly run?: WorkflowRun;
  /** What it executes. */
  readonly plan?: WorkflowReplayPlan;
  /** The dead letter. */
  readonly dead_letter?: WorkflowDeadLetter;
};

/** Replays many dead letters. */
export type ReplayAllWorkflowDeadLettersRequest = {
  /** Only those of this definition: its id or its key. */
  readonly definition_id?: string;
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
  /** Only those with this error code. */
  readonly error_code?: string;
  /** The version of the definition: that of each run when 0, the active one when -1. Any but 0 needs definition_id. */
  readonly version?: number;
  /** Where each replay continues: failed_step (the default) or start. */
  readonly from?: "" | "failed_step" | "start";
  /** The maximum number of dead letters; 100 when 0. */
  readonly max_items?: number;
  /** The position of the previous response; empty for the first call. */
  readonly after?: string;
  /** Why. */
  readonly reason?: string;
};

/** The result. */
export type ReplayAllWorkflowDeadLettersResponse = {
  /** The number of started runs. */
  readonly replayed_count: number;
  /** The number of dead letters that were not replayed. */
  readonly skipped_count: number;
  /** Those that were not replayed, with the reason; 100 at most. */
  readonly skipped: readonly SkippedWorkflowDeadLetter[];
  /** The position to continue after; empty if there are no more. */
  readonly next: string;
};

/** A dead letter that was not replayed. */
export type SkippedWorkflowDeadLetter = {
  /** The run that failed first. */
  readonly run_id: string;
  /** A stable code: changed (somebody else has replayed, quarantined or discarded it), run_key_taken, quota_exceeded, history_expired or refused (the replay is not possible). */
  readonly reason: string;
  /** What to do about it. */
  readonly message: string;
};

/** Quarantines a dead letter. */
export type QuarantineWorkflowDeadLetterRequest = {
  /** The run that failed first. */
  readonly run_id: string;
  /** Why. */
  readonly reason?: string;
};

/** Releases a dead letter. */
export type ReleaseWorkflowDeadLetterRequest = {
  /** The run that failed first. */
  readonly run_id: string;
};

/** Discards a dead letter. */
export type DiscardWorkflowDeadLetterRequest = {
  /** The run that failed first. */
  readonly run_id: string;
  /** Why. */
  readonly reason?: string;
};
