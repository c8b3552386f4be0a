import type { WorkMeter } from "../../../../../platform/cel/index.ts";
import type { Json } from "../../../definitions/index.ts";
import type { ConsumedMail, Effect, NewTask, RetriedTask, RunEnd } from "./advance-result.ts";
import type { HistoryEntry } from "./history-entry.ts";
import { type Plan, type PlanStep, type PlanUnit, unitOf } from "./plan.ts";
import { RunSize } from "./size-limits.ts";
import type { Mail, Pending, RunError, RunState } from "./state.ts";
import { type Positions, parseStepKey, type StepKey } from "./step-key.ts";

/** Inputs of an advance besides the plan and the state. */
export interface AdvanceContext {
  readonly nowMs: number;
  /** The variable `run`. */
  readonly run: Readonly<Record<string, unknown>>;
  /** The events that wait in the run's mailbox, in order of arrival. */
  readonly mail: readonly Mail[];
  readonly newId: () => string;
  /** Whether another run waits for this one. */
  readonly isAwaited?: boolean;
  /** Whether nothing is stored. Plain events serve as updates then. */
  readonly isSimulated?: true;
  /** The size of the state before the advance, as bytes of JSON; undefined if it is not known. */
  readonly stateBytes?: number;
  /** How much one advance may do; undefined for the default. */
  readonly budget?: AdvanceBudget;
}

/** How much work one advance does at most, so that it never blocks other runs. The rest follows in the next advance. */
export interface AdvanceBudget {
  /** Steps and elements of maps that are started. */
  readonly starts: number;
  readonly expressionSteps: number;
  /** Bytes of values that are serialised. They bound the new history, too. */
  readonly bytes: number;
}

/**
 * The working data of one advance: the state that it changes, and everything that has to be stored or performed because of
 * the changes. The functions of this folder execute a run by changing it.
 */
export class Execution {
  readonly plan: Plan;
  readonly state: RunState;
  readonly context: AdvanceContext;
  readonly history: HistoryEntry[] = [];
  readonly newTasks: NewTask[] = [];
  readonly retriedTasks: RetriedTask[] = [];
  /** Tasks whose step is over. */
  readonly endedTasks: string[] = [];
  readonly effects: Effect[] = [];
  /** Runs that no step waits for any more. */
  readonly cancelledRuns: string[] = [];
  readonly consumed: ConsumedMail[] = [];
  /** The approvals that have changed, and whether they opened in this advance. Those not in progress have closed. */
  readonly approvals = new Map<StepKey, "opened" | "changed">();
  /** Whether to hold tasks without a lease, or to release them; undefined changes nothing. */
  hold: boolean | undefined;
  ended: RunEnd | undefined;
  /** The events that no step has consumed, in order of arrival. */
  readonly mail: Mail[];
  /** Counts the steps of expressions. */
  readonly meter: WorkMeter = { steps: 0 };
  readonly size: RunSize;
  /** Steps to start and maps to continue, the next one last. */
  readonly stack: Pending[];

  constructor(plan: Plan, state: RunState, context: AdvanceContext) {
    this.plan = plan;
    this.state = state;
    this.context = context;
    this.mail = [...context.mail];
    this.size = new RunSize(context.stateBytes ?? Number.POSITIVE_INFINITY, state.historyBytes ?? 0);
    this.stack = state.todo ?? [];
  }

  /** The step of a key that is not a compensation. */
  stepOf(key: StepKey): { readonly step: PlanStep; readonly positions: Positions } {
    const { id, positions } = parseStepKey(key);
    return { step: this.plan.steps.get(id)!, positions };
  }

  /** The step or the compensation of a key. */
  unitOf(key: StepKey): PlanUnit {
    return unitOf(this.plan, key);
  }
}

/** Notes that an approval was decided on or has closed. */
export function noteApproval({ approvals }: Execution, key: StepKey): void {
  if (!approvals.has(key)) approvals.set(key, "changed");
}

/** Whether a key names a compensation. */
export function isCompensation(key: StepKey): boolean {
  return key.startsWith("~");
}

export function stepError(key: StepKey, code: string, message: string, details: Json = null): RunError {
  return { code, message, step: parseStepKey(isCompensation(key) ? key.slice(1) : key).id, details };
}

/** The error of the run itself. */
export function runError(code: string, message: string): RunError {
  return { code, message, step: "", details: null };
}
