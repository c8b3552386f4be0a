import type { Json } from "../../../definitions/index.ts";
import type { ReplayStart, RunError, WaitedEvent } from "./state.ts";
import type { StepKey } from "./step-key.ts";

/** One thing that happened in a run. Stored as written here. */
export type HistoryEntry =
  | { readonly kind: "run_started" }
  | ({ readonly kind: "run_replayed" } & ReplayStart)
  | {
      readonly kind: "step_started" | "step_cancelled" | "wait_timed_out" | "approval_requested";
      readonly step: StepKey;
    }
  | {
      readonly kind: "step_completed";
      readonly step: StepKey;
      readonly output: Json;
      /** The request of its compensation, if it has one. */
      readonly undo?: Json;
    }
  | { readonly kind: "step_failed"; readonly step: StepKey; readonly error: HistoryError }
  | {
      readonly kind: "attempt_failed";
      readonly step: StepKey;
      readonly attempt: number;
      readonly error: HistoryError;
      readonly delay_ms: number;
    }
  | { readonly kind: "branch_taken"; readonly step: StepKey; readonly arm: string }
  | { readonly kind: "map_started"; readonly step: StepKey; readonly items: readonly Json[] }
  | { readonly kind: "wait_started"; readonly step: StepKey; readonly any: readonly WaitedEvent[] }
  | { readonly kind: "timer_started"; readonly step: StepKey; readonly until: string }
  | ({ readonly kind: "event_received"; readonly event_id: string } & WaitedEvent)
  | {
      readonly kind: "approval_decided";
      readonly step: StepKey;
      readonly by: string;
      readonly approved: boolean;
      readonly comment: string;
      readonly at: string;
    }
  | { readonly kind: "run_paused" | "run_cancelled"; readonly by: string; readonly reason: string }
  | { readonly kind: "run_resumed"; readonly by: string }
  | {
      readonly kind: "compensations_retried";
      readonly by: string;
      readonly reason: string;
      readonly steps: readonly StepKey[];
    }
  | {
      readonly kind: "run_ended";
      readonly status: string;
      readonly error?: HistoryError;
      readonly next_run_id?: string;
    };

export type HistoryError = Omit<RunError, "step"> & Partial<Pick<RunError, "step">>;
