import { type Backoff, backoffMs } from "../../../../platform/backoff/backoff.ts";
import type { Action, AnswerClass } from "../../manifests/index.ts";
import { type Safety, safetyOf } from "./execution.ts";

/** The result of one request. */
export interface AttemptResult {
  readonly class: AnswerClass;
  /** Whether the request certainly did not reach the provider. */
  readonly notSent: boolean;
  /** Whether the provider may have performed the action, although the answer is not a success. */
  readonly mayHaveTakenEffect: boolean;
  /** When the provider allows the next request, if it said so. */
  readonly retryAtMs?: number | undefined;
}

/** Inputs to the decision on the next step. */
export interface Progress {
  readonly nowMs: number;
  readonly deadlineMs: number;
  /** The requests so far for this page, the last one included. */
  readonly attempt: number;
  /** Whether the credentials were renewed already, or cannot be. */
  readonly isRenewed: boolean;
  /** Whether an earlier request may have taken effect. */
  readonly mayHaveTakenEffect: boolean;
  /** From 0 to 1; spreads retries. */
  readonly random: number;
}

/** How an execution goes on. */
export type NextStep =
  | { readonly step: "retry"; readonly atMs: number }
  /** Renew the credentials, then send the request again. */
  | { readonly step: "renew" }
  | { readonly step: "end"; readonly status: "failed" | "outcome_unknown" };

const retryBackoff: Backoff = { firstMs: 200, maxMs: 5000, spread: [0.5, 1] };
/** A retry that leaves less time than this for the answer is not worth it. */
const answerMsMin = 50;

/** Decides what follows an unsuccessful answer. */
export function nextStep(
  action: Pick<Action, "mutation" | "retry">,
  result: AttemptResult,
  progress: Progress,
): NextStep {
  const safety = safetyOf(action);
  // A provider that rejects credentials has not performed the request.
  if (result.class === "auth_expired" && !result.mayHaveTakenEffect && !progress.isRenewed) return { step: "renew" };
  if (progress.attempt < action.retry.maxAttempts && canRepeat(safety, action, result)) {
    const waitMs = backoffMs(retryBackoff, progress.attempt, progress.random);
    const atMs = Math.max(result.retryAtMs ?? 0, progress.nowMs + waitMs);
    if (atMs + answerMsMin <= progress.deadlineMs) return { step: "retry", atMs };
  }
  return { step: "end", status: endStatus(safety, result.mayHaveTakenEffect || progress.mayHaveTakenEffect) };
}

/** The status of an execution without success. */
export function endStatus(safety: Safety, mayHaveTakenEffect: boolean): "failed" | "outcome_unknown" {
  return safety !== "read" && mayHaveTakenEffect ? "outcome_unknown" : "failed";
}

function canRepeat(safety: Safety, { retry }: Pick<Action, "retry">, result: AttemptResult): boolean {
  if (result.notSent) return result.class === "unavailable";
  if (!retry.on.includes(result.class)) return false;
  // The manifest lists only refusals for actions that must not be performed twice.
  return safety !== "once" || !result.mayHaveTakenEffect;
}
