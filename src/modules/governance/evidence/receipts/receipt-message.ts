import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type AddEvidenceReceiptRequest,
  type EvidenceEnvelope,
  EvidenceEnvelopeSchema,
  type EvidenceReceipt,
  EvidenceReceiptSchema,
  type EvidenceSubject,
  EvidenceSubjectSchema,
} from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import type { CaseResult, Receipt, ReceiptResult } from "../domain/receipt.ts";
import { payloadType } from "../domain/statement.ts";
import type { ReceiptType, Subject, SubjectKind } from "../domain/subject.ts";
import { type Envelope, envelopeOf } from "../signing/envelope.ts";
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

export function fromSubject(subject: Subject): EvidenceSubject {
  return create(EvidenceSubjectSchema, { ...subject });
}

export function fromReceipt(receipt: Receipt): EvidenceReceipt {
  const { id, tenantId, packId, type, result, environmentId, candidateId, runId, revision, digest } = receipt;
  const { tool, details, producer } = receipt;
  return create(EvidenceReceiptSchema, {
    ...{ id, tenantId, packId, type, result, environmentId, candidateId, runId, revision, digest, producer },
    subjects: receipt.subjects.map(fromSubject),
    cases: receipt.cases.map((each) => ({ ...each })),
    ...(tool.name !== "" && { tool: { ...tool } }),
    ...(details !== null && { details: details as never }),
    issuedAt: timestampFromDate(receipt.issuedAt),
    expiresAt: timestampFromDate(receipt.expiresAt),
    envelope: fromEnvelope(envelopeOf(payloadType, receipt)),
  });
}

export function fromEnvelope({ payloadType: type, payload, signatures }: Envelope): EvidenceEnvelope {
  return create(EvidenceEnvelopeSchema, {
    payloadType: type,
    payload,
    signatures: signatures.map((each) => ({ ...each })) as never,
  });
}
