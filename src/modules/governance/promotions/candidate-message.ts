import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Candidate as CandidateMessage,
  CandidateSchema,
  type WhatIf,
  WhatIfSchema,
} from "../../../../gen/service/api/promotion_pb.ts";
import { stampFields } from "../../../platform/records/index.ts";
import type { ReplayReport } from "../../promotable-artifacts.ts";
import type { Candidate, CandidateArtifact } from "./domain/candidate.ts";
import { callsOfVoidApproval, possibleCalls } from "./domain/states.ts";
import type { InspectedCandidate } from "./service.ts";

/** Converts a candidate with its results. */
export function fromCandidate(candidate: InspectedCandidate): CandidateMessage {
  const { preflight, guardrailReport, canary, approval, promotion, voidReasons, state } = candidate;
  return create(CandidateSchema, {
    ...headOf(candidate),
    possibleCalls: voidReasons.length === 0 ? possibleCalls(state) : callsOfVoidApproval,
    preflight: preflight && { ...preflight, checkedAt: timeOf(preflight.checkedAt) },
    guardrailReport: guardrailReport && { ...guardrailReport, evaluatedAt: timeOf(guardrailReport.evaluatedAt) },
    canary: canary && {
      running: state === "canary_running",
      percent: canary.sharePpm / 10_000,
      keysMin: canary.keysMin,
      margin: canary.margin,
      verdict: canary.verdict,
      scores: canary.scores.map((score) => ({ ...score })),
      startedAt: timeOf(canary.startedAt),
      stoppedAt: state === "canary_running" ? undefined : timeOf(canary.stoppedAt),
    },
    approval: approval && {
      ...{ approvedBy: approval.approvedBy, approvedAt: timeOf(approval.approvedAt), note: approval.note },
      ...{ sha256: approval.sha256, voidReasons: [...voidReasons] },
    },
    promotion: promotion && {
      ...{ promotedBy: promotion.promotedBy, promotedAt: timeOf(promotion.promotedAt) },
      handles: promotion.handles.map((handle) => ({ ...handle })),
      rolledBackBy: promotion.rolledBackBy ?? "",
      rolledBackAt: timeOf(promotion.rolledBackAt),
      rollbackReason: promotion.rollbackReason ?? "",
    },
  } as never);
}

/** Converts a candidate of a list, without its results. */
export function fromListedCandidate(candidate: Candidate): CandidateMessage {
  return create(CandidateSchema, { ...headOf(candidate), possibleCalls: [...possibleCalls(candidate.state)] });
}

function headOf(candidate: Candidate) {
  const { id, tenantId, environmentId, name, description, state, packId, waiverReason, createdBy } = candidate;
  return {
    ...{ id, tenantId, environmentId, name, description, state, packId, waiverReason, createdBy },
    artifacts: candidate.artifacts.map(({ targetKind: _, ...artifact }) => artifact),
    guardrails: candidate.guardrails.map((guardrail) => ({ ...guardrail })),
    ...stampFields(candidate),
  };
}

/** Converts what a candidate would have changed. */
export function fromReplays(
  reports: readonly (ReplayReport & { readonly artifact: CandidateArtifact })[],
  since: Date,
): WhatIf {
  return create(WhatIfSchema, {
    targets: reports.map(({ artifact, items, changed, recipients, outcomes, examples }) => ({
      ...{ kind: artifact.kind, targetId: artifact.targetId, items, changed },
      recipients: recipients.map(({ id, before, after }) => ({ recipientId: id, before, after })),
      outcomes: outcomes.map((outcome) => ({ ...outcome })),
      examples: examples.map((example) => ({ ...example })),
    })),
    since: timestampFromDate(since),
  });
}

function timeOf(text: string | undefined): Timestamp | undefined {
  return text === undefined ? undefined : timestampFromDate(new Date(text));
}
