import type { StepKey } from "../engine/step-key.ts";

/** Why a run cannot be replayed from a step. */
export interface ReplayRefusal {
  readonly code: ReplayRefusalCode;
  /** The step that does not fit. */
  readonly step: StepKey;
  readonly message: string;
}

/**
 * unknown_step: the version has no such step. step_required: the run has no step that failed. not_reached: the run never got
 * to the block around the step. history_sealed: the history of this run does not say what happened inside the block.
 * nesting_changed: the blocks around the step differ. order_changed: steps of a list are in another order. would_run_again:
 * a completed step would be executed a second time. output_missing: a step reads the output of one that never completed.
 * compensated: the effect of a completed step has been undone. compensation_missing: the version cannot compensate a
 * completed step. unknown_value: a value is not the output of a step before the first one that is executed.
 */
export type ReplayRefusalCode =
  | "unknown_step"
  | "step_required"
  | "not_reached"
  | "history_sealed"
  | "nesting_changed"
  | "order_changed"
  | "would_run_again"
  | "output_missing"
  | "compensated"
  | "compensation_missing"
  | "unknown_value";
