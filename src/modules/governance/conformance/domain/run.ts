import type { TenantId } from "../../../../platform/access/index.ts";
import type { Stamps } from "../../../../platform/records/index.ts";

/** How a run works: in a scratch tenant, or without any change. */
export type RunMode = "sandbox" | "dry_run";

/** A report's verdict on a suite: `incomplete` if no case failed but some could not be decided. */
export type Verdict = "passed" | "failed" | "incomplete";

export type RunState = "queued" | "running" | "completed" | "cancelled" | "deadline_exceeded" | "failed";

/** A run of a suite. */
export interface ConformanceRun extends Stamps {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly environmentId: string;
  readonly environmentKey: string;
  readonly suiteId: string;
  readonly mode: RunMode;
  readonly state: RunState;
  readonly casesDone: number;
  readonly casesTotal: number;
  /** Empty unless it is completed. */
  readonly reportId: string;
  readonly verdict: Verdict | "";
  readonly requestedBy: string;
  /** Counts the executions. Only the newest one may write. */
  readonly attempt: number;
  readonly scratchTenantIds: readonly TenantId[];
  readonly deadlineAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
}

/** Transitions of a run. `begin` is repeated when another node takes over. */
export type RunStep = "begin" | "complete" | "cancel" | "expire" | "give_up";

/** The next state for each step; a missing entry is a step that is not possible. */
const transitions: Readonly<Record<RunState, Partial<Record<RunStep, RunState>>>> = {
  queued: { begin: "running", cancel: "cancelled", expire: "deadline_exceeded", give_up: "failed" },
  running: {
    begin: "running",
    complete: "completed",
    cancel: "cancelled",
    expire: "deadline_exceeded",
    give_up: "failed",
  },
  completed: {},
  cancelled: {},
  deadline_exceeded: {},
  failed: {},
};

/** The state after a step; undefined if the step is not possible. */
export function nextState(state: RunState, step: RunStep): RunState | undefined {
  return transitions[state][step];
}

/** The states in which a step is possible. */
export function statesBefore(step: RunStep): RunState[] {
  return (Object.keys(transitions) as RunState[]).filter((state) => nextState(state, step) !== undefined);
}

/** Whether a run in this state has ended. */
export function hasEnded(state: RunState): boolean {
  return Object.keys(transitions[state]).length === 0;
}
