import type { Candidate, CandidateGuardrailReport } from "@client/gen/promotion";

/** The state, with the verdict where the state alone would sound like a failure. */
export function stateOf({ state, guardrail_report: guardrails, canary }: Candidate): string {
  if (state === "guardrails_failed" && guardrails) return `guardrails_${verdictOf(guardrails)}`;
  return state === "canary_stopped" && canary ? `canary_${canary.verdict}` : state;
}

/** Guardrails that did not pass have only failed if one of them did. */
export function verdictOf({ passed, scores }: CandidateGuardrailReport): string {
  if (passed) return "passed";
  return scores.some(({ verdict }) => verdict === "failed") ? "failed" : "inconclusive";
}
