import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type EvidenceFinding,
  EvidenceFindingSchema,
  type EvidenceGate,
  EvidenceGateSchema,
  type EvidenceRequirement,
  EvidenceRequirementSchema,
} from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import { optionalTime } from "../../../../platform/records/index.ts";
import type { Finding, Gate } from "../domain/gate.ts";
import { explain, nextStepOf, nextStepOfGate } from "../domain/gate-text.ts";
import type { Pack } from "../domain/pack.ts";
import type { Requirement } from "../domain/requirements.ts";
import { fromSubject } from "../receipts/receipt-message.ts";
import { reasonsOf } from "./gate-service.ts";

const consideredMax = 20;

export function fromGate(gate: Gate, pack: Pack): EvidenceGate {
  const noArtifacts = { reason: "missing", requirementId: "artifacts", nextStep: nextStepOfGate(gate) };
  const reasons = reasonsOf(gate).map(({ subject, ...reason }) => ({ ...reason, subject: fromSubject(subject) }));
  return create(EvidenceGateSchema, {
    state: gate.state,
    validUntil: optionalTime(gate.end?.at),
    reasons: gate.findings.length === 0 ? [noArtifacts] : reasons,
    nextStep: nextStepOfGate(gate),
    digest: gate.digest,
    candidateId: pack.attachment?.candidateId ?? "",
    packRevision: pack.revision,
    packDigest: pack.digest,
    requirementsVersion: pack.requirementsVersion,
  });
}

/** Converts a finding, with the newest receipts that were considered. */
export function fromFinding(finding: Finding): EvidenceFinding {
  const { requirement, subject, verdict, decisive, considered } = finding;
  return create(EvidenceFindingSchema, {
    requirement: fromRequirement(requirement),
    subject: fromSubject(subject),
    verdict,
    explanation: explain(finding),
    nextStep: nextStepOf(finding),
    receipts: considered.slice(0, consideredMax).map((each) => ({
      receiptId: each.receipt.id,
      verdict: each.verdict,
      decisive: each.receipt.id === decisive?.id,
      issuedAt: timestampFromDate(each.receipt.issuedAt),
      expiresAt: timestampFromDate(each.receipt.expiresAt),
    })),
  });
}

export function fromRequirement(requirement: Requirement): EvidenceRequirement {
  return create(EvidenceRequirementSchema, { ...requirement });
}
