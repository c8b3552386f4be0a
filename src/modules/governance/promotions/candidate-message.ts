import type { ReplayReport } from "../../promotable-artifacts.ts";
import type { Candidate, CandidateArtifact } from "./domain/candidate.ts";
import { callsOfVoidApproval, possibleCalls } from "./domain/states.ts";
import type { InspectedCandidate } from "./service.ts";

/** Converts a candidate with its results. */
export function fromCandidate({ voidReasons, ...candidate }: InspectedCandidate) {
  const { preflight, guardrailReport, canary, approval, promotion, state } = candidate;
  return {
    ...candidate,
    possibleCalls: voidReasons.length === 0 ? possibleCalls(state) : callsOfVoidApproval,
    preflight: preflight && { ...preflight, checkedAt: timeOf(preflight.checkedAt) },
    guardrailReport: guardrailReport && { ...guardrailReport, evaluatedAt: timeOf(guardrailReport.evaluatedAt) },
    canary: canary && {
      ...canary,
      running: state === "canary_running",
      percent: canary.sharePpm / 10_000,
      startedAt: timeOf(canary.startedAt),
      stoppedAt: state === "canary_running" ? undefined : timeOf(canary.stoppedAt),
    },
    approval: approval && { ...approval, approvedAt: timeOf(approval.approvedAt), voidReasons },
    promotion: promotion && {
      ...promotion,
      promotedAt: timeOf(promotion.promotedAt),
      rolledBackBy: promotion.rolledBackBy ?? "",
      rolledBackAt: timeOf(promotion.rolledBackAt),
      rollbackReason: promotion.rollbackReason ?? "",
    },
  };
}

/** Converts a candidate of a list, without its results. */
export const fromListedCandidate = (candidate: Candidate) => ({
  ...candidate,
  possibleCalls: possibleCalls(candidate.state),
  ...{ preflight: null, guardrailReport: null, canary: null, approval: null, promotion: null },
});

/** Converts what a candidate would have changed. */
export const fromReplays = (
  reports: readonly (ReplayReport & { readonly artifact: CandidateArtifact })[],
  since: Date,
) => ({
  targets: reports.map(({ artifact: { kind, targetId }, recipients, ...report }) => ({
    ...report,
    ...{ kind, targetId, recipients: recipients.map(({ id, ...shift }) => ({ ...shift, recipientId: id })) },
  })),
  since,
});

const timeOf = (text: string | undefined) => (text === undefined ? undefined : new Date(text));
