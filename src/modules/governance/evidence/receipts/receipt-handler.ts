import type {
  AddEvidenceReceiptRequest,
  EvidenceSubject,
  RolloutEvidenceService as Rpc,
} from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { JsonObject } from "../../../../platform/document/index.ts";
import type { CaseResult, Receipt, ReceiptResult } from "../domain/receipt.ts";
import { payloadType } from "../domain/statement.ts";
import type { ReceiptType, Subject, SubjectKind } from "../domain/subject.ts";
import type { PackChanges } from "../packs/pack-changes.ts";
import { envelopeOf } from "../signing/envelope.ts";
import type { NewReceipt, ReceiptService } from "./receipt-service.ts";
import { receiptStore } from "./receipt-store.ts";

export function receiptHandlers(service: ReceiptService, changes: PackChanges) {
  return {
    async addEvidenceReceipt(context, request) {
      const { environmentId, packId } = request;
      const receipt = await service.addReceipt(context, environmentId, packId, toNewReceipt(request));
      return { receipt: fromReceipt(receipt) };
    },

    async listEvidenceReceipts(context, request) {
      const { tenantId, sql } = context;
      const { type } = request;
      const { id: packId } = await changes.find(context, request.environmentId, request.packId);
      const page = await context.page("receipts", request, [packId, type], (wanted) =>
        receiptStore(sql).listWhere(tenantId, { packId, type }, wanted),
      );
      return { ...page, receipts: page.receipts.map(fromReceipt) };
    },
  } satisfies Partial<Handlers<typeof Rpc>>;
}

function toNewReceipt(request: AddEvidenceReceiptRequest): NewReceipt {
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

const fromReceipt = (receipt: Receipt) => ({
  ...receipt,
  tool: receipt.tool.name === "" ? undefined : receipt.tool,
  envelope: envelopeOf(payloadType, receipt),
});
