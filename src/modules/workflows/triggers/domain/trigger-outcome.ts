import { failuresMax, type TriggerStatus } from "./trigger.ts";

/**
 * The outcome of one time or event. started: a run started. skipped: a run that is in progress takes its place. ignored: the
 * time was missed, or the condition could not be evaluated. failed: no run started.
 */
export type FiringOutcome =
  | { readonly kind: "started"; readonly runId: string }
  | { readonly kind: "skipped" }
  | { readonly kind: "ignored"; readonly message: string }
  | FiringFailure;

export interface FiringFailure {
  readonly kind: "failed";
  readonly code: string;
  readonly message: string;
  /** Whether a retry cannot succeed without a change. */
  readonly permanent: boolean;
}

/** The status of a trigger after some outcomes. */
export interface StatusChange extends TriggerStatus {
  /** The last failure, if there was one. */
  readonly failure: FiringFailure | undefined;
  readonly failedCount: number;
  /** Whether the trigger failed too often and is disabled. */
  readonly disable: boolean;
}

/** Applies outcomes to the status of a trigger, in their order. */
export function applyOutcomes(status: TriggerStatus, outcomes: readonly FiringOutcome[], now: Date): StatusChange {
  let { lastFiredAt, lastRunId, lastSkippedAt, lastError, consecutiveFailures } = status;
  let failure: FiringFailure | undefined;
  let failedCount = 0;
  for (const outcome of outcomes) {
    switch (outcome.kind) {
      case "started":
        [lastFiredAt, lastRunId, lastError, consecutiveFailures] = [now, outcome.runId, "", 0];
        break;
      case "skipped":
        lastSkippedAt = now;
        break;
      case "ignored":
        lastError = outcome.message;
        break;
      case "failed":
        [failure, lastError] = [outcome, outcome.message];
        failedCount += 1;
        if (outcome.permanent) consecutiveFailures += 1;
    }
  }
  const disable = consecutiveFailures >= failuresMax;
  return { lastFiredAt, lastRunId, lastSkippedAt, lastError, consecutiveFailures, failure, failedCount, disable };
}
