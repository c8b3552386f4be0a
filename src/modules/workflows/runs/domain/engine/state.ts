import type { Json } from "../../../definitions/index.ts";
import type { Positions, StepKey } from "./step-key.ts";

/** An error that failed a step or a run. */
export interface RunError {
  readonly code: string;
  readonly message: string;
  /** The id of the step that failed; empty for the run itself. */
  readonly step: string;
  readonly details: Json;
}

/** The snapshot of a run: plain JSON, stored after every advance. */
export interface RunState {
  readonly input: Json;
  /** When the run starts, if that is later than its creation. */
  readonly startAtMs?: number;
  /** Where a replay starts. Only before the start. */
  replay?: ReplayStart;
  /** 0 before the start. */
  startedAtMs: number;
  /** When the run times out. */
  deadlineMs: number;
  /** The outputs of completed steps that later steps may read. */
  readonly values: Record<StepKey, Json>;
  /** The steps in progress, in the order in which they started. */
  readonly active: Record<StepKey, Activity>;
  /** The compensations of completed steps, in the order of completion. */
  readonly undo: Undo[];
  /** How the run will end, once its compensations are done. */
  ending?: Ending;
  paused?: true;
  /** The run that continues this one. */
  nextRunId?: string;
  /** Events that arrived while the run was paused. */
  pending?: RunEvent[];
  /** Work that did not fit into the last advance. */
  todo?: Pending[];
  /** The approximate size of the history, in bytes of JSON. */
  historyBytes?: number;
}

/** Where a replay starts, and the state it keeps from the replayed run. */
export interface ReplayStart {
  readonly of: string;
  /** The step that it was told to continue at; empty if it continues where the other run stopped. */
  readonly from: StepKey;
  readonly kept: Pick<RunState, "values" | "active" | "undo"> & {
    /** The arms that the branches in progress have taken. */
    readonly arms: Readonly<Record<StepKey, string>>;
  };
}

/** A compensation, with its request as it was when the step completed. */
export interface Undo {
  readonly key: StepKey;
  readonly request: Json;
  /**
   * The attempt that a retry starts with: the last one, because it may have taken effect and its number is in the idempotency
   * key, or the one after it if the last one was refused.
   */
  readonly attempt?: number;
}

/** The end of a run that still compensates. */
export interface Ending {
  readonly status: "failed" | "cancelled" | "timed_out";
  readonly error: RunError;
  /** The compensations that failed. They can be retried once the run has ended. */
  failures: FailedCompensation[];
  /** Whether the run had ended before, and only retries compensations. */
  retried?: true;
}

export interface FailedCompensation {
  readonly undo: Undo;
  readonly error: RunError;
}

/** A step in progress. Times are milliseconds since 1970. */
export type Activity = ActivityTimes &
  /** A task. The request is that of a compensation. */
  (
    | { readonly s: "task"; readonly taskId: string; attempt: number; readonly request?: Json }
    /** An effect that is being performed, or that waits for its next attempt. */
    | {
        readonly s: "effect";
        readonly request: Json;
        attempt: number;
        /** The attempts that do not count for its retries. */
        readonly earlier?: number;
        phase: "open" | "backoff";
        /** The run that a subworkflow step waits for. */
        childId?: string;
        /** The time until the next check of an open effect. */
        recheckMs: number;
      }
    | { readonly s: "event"; readonly any: readonly WaitedEvent[] }
    | { readonly s: "timer" }
    | {
        readonly s: "approval";
        readonly request: Json;
        readonly decisions: Decision[];
      }
    | { readonly s: "arm" | "timeout" }
    | { readonly s: "catch"; readonly err: RunError }
    | { readonly s: "parallel"; open: number; readonly results: Record<string, Json> }
    | {
        readonly s: "map";
        readonly items: readonly Json[];
        next: number;
        open: number;
        readonly results: Json[];
        /** Work to start for each element that a replay continues, the next element first. */
        resume?: Pending[][];
      }
  );

interface ActivityTimes {
  readonly sinceMs: number;
  /** When something is due: the end of a timer or of a wait, the next attempt, the next check. */
  dueMs?: number;
  /** When the step times out, whatever its attempts. */
  totalMs?: number;
}

/** An event that a step waits for. */
export interface WaitedEvent {
  readonly event: string;
  readonly scope: string;
  /** Whether it is an update. A wait for an update takes no plain event, and the other way round. */
  readonly update?: true;
}

/** A person's decision on an approval. */
export interface Decision {
  readonly by: string;
  readonly approved: boolean;
  readonly comment: string;
  readonly at: string;
}

/** An event that was sent to a run and not consumed yet. */
export interface Mail extends WaitedEvent {
  readonly eventId: string;
  readonly payload: Json;
}

export type RunEvent =
  | { readonly kind: "start" }
  /** Time has passed. */
  | { readonly kind: "tick" }
  | { readonly kind: "attempt_succeeded"; readonly key: StepKey; readonly attempt: number; readonly output: Json }
  | ({ readonly kind: "attempt_failed"; readonly key: StepKey; readonly attempt: number } & Failure)
  | { readonly kind: "effect_succeeded"; readonly key: StepKey; readonly attempt: number; readonly output: Json }
  | ({ readonly kind: "effect_failed"; readonly key: StepKey; readonly attempt: number } & Failure)
  | { readonly kind: "mail"; readonly mail: Mail }
  | { readonly kind: "decision"; readonly key: StepKey; readonly decision: Decision }
  | { readonly kind: "pause"; readonly by: string; readonly reason: string }
  | { readonly kind: "resume"; readonly by: string }
  | { readonly kind: "cancel"; readonly by: string; readonly reason: string; readonly compensate: boolean }
  /** Failed compensations of a run that had ended are retried. */
  | {
      readonly kind: "retry_compensations";
      readonly by: string;
      readonly reason: string;
      readonly steps: readonly StepKey[];
    }
  /** The run cannot go on. */
  | { readonly kind: "abort"; readonly error: RunError };

/** A failed attempt. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details: Json;
  readonly retryable: boolean;
  readonly retryAfterMs?: number | undefined;
}

/** A step that is about to start or to complete, or a map that is about to start its next element. */
export type Pending =
  | { readonly id: string; readonly at: Positions }
  | { readonly map: StepKey }
  | { readonly done: StepKey; readonly output: Json };

export function createRunState(input: Json, startAtMs?: number): RunState {
  const start = startAtMs === undefined ? {} : { startAtMs };
  return { input, ...start, startedAtMs: 0, deadlineMs: 0, values: {}, active: {}, undo: [] };
}

/** The steps whose compensations have failed, the first one that failed first. */
export function failedCompensations({ ending }: RunState): StepKey[] {
  return ending?.failures.map(({ undo }) => undo.key.slice(1)) ?? [];
}

/** A compensation in progress, to be performed again, and the code of its failure. */
export function undoOf(key: StepKey, activity: Activity | undefined, code = ""): Undo {
  const request = (activity !== undefined && "request" in activity ? activity.request : undefined) ?? null;
  if (activity?.s !== "effect") return { key, request };
  // A refusal has no effect, and a repeat with its idempotency key would get it again.
  return { key, request, attempt: code === "route_rejected" ? activity.attempt + 1 : activity.attempt };
}

/** When a run needs attention without an event; undefined if only an event can move it. */
export function wakeTime(state: RunState, nowMs: number): number | undefined {
  if (state.paused) return undefined;
  if (state.startedAtMs === 0) return state.startAtMs ?? nowMs;
  if (state.todo !== undefined) return nowMs;
  let wakeMs = state.ending === undefined ? state.deadlineMs : Number.POSITIVE_INFINITY;
  for (const { dueMs, totalMs } of Object.values(state.active)) {
    if (dueMs !== undefined && dueMs < wakeMs) wakeMs = dueMs;
    if (totalMs !== undefined && totalMs < wakeMs) wakeMs = totalMs;
  }
  return Number.isFinite(wakeMs) ? wakeMs : undefined;
}

/** The status of a run that has not ended. */
export function statusOf(state: RunState): "pending" | "running" | "waiting" | "paused" {
  if (state.paused) return "paused";
  if (state.startedAtMs === 0) return "pending";
  const works = Object.values(state.active).some(({ s }) => s === "task" || s === "effect");
  return works || state.todo !== undefined ? "running" : "waiting";
}

/** The decisions on an approval in progress: those that count already, and those that count when the run is resumed. */
export function decisionsOf({ active, pending = [] }: RunState, key: StepKey): readonly Decision[] {
  const activity = active[key];
  const decisions = activity?.s === "approval" ? [...activity.decisions] : [];
  for (const event of pending) {
    if (event.kind !== "decision" || event.key !== key) continue;
    // Of several decisions of one person, the first one counts.
    if (!decisions.some(({ by }) => by === event.decision.by)) decisions.push(event.decision);
  }
  return decisions;
}

/** Whether an attempt of a task or an effect has no outcome yet. Each attempt has one outcome. */
export function isAttemptOpen({ active, pending = [] }: RunState, key: StepKey, attempt: number): boolean {
  const activity = active[key];
  if (activity?.s !== "task" && activity?.s !== "effect") return false;
  if (activity.attempt !== attempt || (activity.s === "effect" && activity.phase === "backoff")) return false;
  return !pending.some((event) => "attempt" in event && event.key === key && event.attempt === attempt);
}
