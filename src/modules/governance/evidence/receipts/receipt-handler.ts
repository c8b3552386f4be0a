import { create } from "@bufbuild/protobuf";
import {
  AddEvidenceReceiptResponseSchema,
  ListEvidenceReceiptsResponseSchema,
  type RolloutEvidenceService as Rpc,
} from "../../../../../gen/service/api/rollout_evidence_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import type { Receipt } from "../domain/receipt.ts";
import type { PackChanges } from "../packs/pack-changes.ts";
import { fromReceipt, toNewReceipt } from "./receipt-message.ts";
import type { ReceiptService } from "./receipt-service.ts";
import { receiptStore } from "./receipt-store.ts";

interface Dependencies {
  readonly service: ReceiptService;
  readonly changes: PackChanges;
  readonly cursors: Cursors;
}

type ReceiptMethods = "addEvidenceReceipt" | "listEvidenceReceipts";

export function receiptHandlers({
  service,
  changes,
  cursors,
}: Dependencies): Pick<Handlers<typeof Rpc>, ReceiptMethods> {
  return {
    async addEvidenceReceipt(context, request) {
      const { environmentId, packId } = request;
      const receipt = await service.addReceipt(context, environmentId, packId, toNewReceipt(request));
      return create(AddEvidenceReceiptResponseSchema, { receipt: fromReceipt(receipt) });
    },

    async listEvidenceReceipts(context, request) {
      const { tenantId, sql, operation } = context;
      const { id: packId } = await changes.find(context, request.environmentId, request.packId);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [packId, request.type] },
        ({ id }: Receipt) => id,
        (wanted) => receiptStore(sql).list(tenantId, packId, request.type, wanted),
      );
      return create(ListEvidenceReceiptsResponseSchema, { ...page, receipts: page.items.map(fromReceipt) });
    },
  };
}
