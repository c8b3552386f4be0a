import type { AddEvidenceReceiptRequest, EvidenceSubject } from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import type { CaseResult, Receipt, ReceiptResult } from "../domain/receipt.ts";
import { payloadType } from "../domain/statement.ts";
import type { ReceiptType, Subject, SubjectKind } from "../domain/subject.ts";
import { envelopeOf } from "../signing/envelope.ts";
import type { NewReceipt } from "./receipt-service.ts";

export function toNewReceipt(request: AddEvidenceReceiptRequest): NewReceipt {
  const { type, result, observedEnvironmentId, candidateId, runId, token, cases, tool, details, ttlS, reportId } =
    request;
  return {
    type: type as ReceiptType,
    result: result as ReceiptResult,
    subjects: request.subjects.map(toSubject),
    ...{ observedEnvironmentId, candidateId, runId, token, ttlS, reportId },
    cases: cases.map(({ id, status }) => ({ id, status: status as CaseResult["status"] })),
    tool: { name: tool?.name ?? "", version: tool?.version ?? "" },
    details: details === undefined ? null : (details as JsonObject),
  };
}

function toSubject({ kind, name, version, sha256, baseSha256 }: EvidenceSubject): Subject {
  return { kind: kind as SubjectKind, name, version, sha256, baseSha256 };
}

export const fromReceipt = (receipt: Receipt) => ({
  ...receipt,
  tool: receipt.tool.name === "" ? undefined : receipt.tool,
  envelope: envelopeOf(payloadType, receipt),
});
