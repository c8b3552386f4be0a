import type { RolloutEvidenceService as Rpc } from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { PackChanges } from "../packs/pack-changes.ts";
import { fromReceipt, toNewReceipt } from "./receipt-message.ts";
import type { ReceiptService } from "./receipt-service.ts";
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
        receiptStore(sql).list(tenantId, packId, type, wanted),
      );
      return { ...page, receipts: page.receipts.map(fromReceipt) };
    },
  } satisfies Partial<Handlers<typeof Rpc>>;
}
