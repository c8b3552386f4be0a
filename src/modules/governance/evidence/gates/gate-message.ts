import type { Finding, Gate } from "../domain/gate.ts";
import { explain, nextStepOf, nextStepOfGate } from "../domain/gate-text.ts";
import type { Pack } from "../domain/pack.ts";
import { reasonsOf } from "./gate-service.ts";

const consideredMax = 20;

export function fromGate(gate: Gate, pack: Pack) {
  const nextStep = nextStepOfGate(gate);
  const noArtifacts = { reason: "missing", requirementId: "artifacts", receiptId: "", nextStep };
  return {
    state: gate.state,
    validUntil: gate.end?.at,
    reasons: gate.findings.length === 0 ? [noArtifacts] : reasonsOf(gate),
    nextStep,
    digest: gate.digest,
    candidateId: pack.attachment?.candidateId ?? "",
    packRevision: pack.revision,
    packDigest: pack.digest,
    requirementsVersion: pack.requirementsVersion,
  };
}

/** Converts a finding, with the newest receipts that were considered. */
export const fromFinding = (finding: Finding) => ({
  ...finding,
  explanation: explain(finding),
  nextStep: nextStepOf(finding),
  receipts: finding.considered.slice(0, consideredMax).map(({ receipt, verdict }) => ({
    receiptId: receipt.id,
    verdict,
    decisive: receipt.id === finding.decisive?.id,
    issuedAt: receipt.issuedAt,
    expiresAt: receipt.expiresAt,
  })),
});
