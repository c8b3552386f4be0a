import { invalid } from "../../../../errors/index.ts";
import type { CanaryRecord, CanaryStep, Verdict } from "./candidate.ts";

/** What follows for a canary: nothing yet, its next step, or its end. */
export type CanaryMove = "wait" | "advance" | "stop";

function isTimeOver({ steps, step, stepStartedAt }: CanaryRecord, nowMs: number): boolean {
  return Date.parse(stepStartedAt) + (steps[step]?.minDurationS ?? 0) * 1000 <= nowMs;
}

/** What a canary does without a call. A failed one stops; one without steps goes on until somebody stops it. */
export function nextMove(canary: CanaryRecord, verdict: Verdict, nowMs: number): CanaryMove {
  if (verdict === "failed") return "stop";
  const { steps, step } = canary;
  if (steps.length === 0 || verdict === "inconclusive" || !isTimeOver(canary, nowMs)) return "wait";
  return step === steps.length - 1 ? "stop" : "advance";
}

/** The verdict of a canary that stops now. One with steps passes only with its last step, and after its time. */
export function verdictOfStop(canary: CanaryRecord, verdict: Verdict, nowMs: number): Verdict {
  const isEarly = canary.steps.length > 0 && nextMove(canary, verdict, nowMs) !== "stop";
  return verdict === "passed" && isEarly ? "inconclusive" : verdict;
}

/** Throws INVALID_ARGUMENT if steps cannot follow each other or cannot be scored. */
export function checkSteps(steps: readonly CanaryStep[]): void {
  for (const [at, { sharePpm, guardrails }] of steps.entries()) {
    if (at > 0 && sharePpm <= steps[at - 1]!.sharePpm) {
      throw invalid(`steps[${at}].percent`, "order", "must be larger than that of the step before");
    }
    const simulated = guardrails.findIndex(({ metric }) => metric.startsWith("simulated_"));
    if (simulated < 0) continue;
    const message = "must not be a simulated metric: a simulation does not change while the canary is running";
    throw invalid(`steps[${at}].guardrails[${simulated}].metric`, "metric", message);
  }
}
