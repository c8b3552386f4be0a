import { create } from "@bufbuild/protobuf";
import {
  CancelBulkOperationResponseSchema,
  GetBulkOperationResponseSchema,
  ListBulkOperationsResponseSchema,
  PreviewDeadLetterOperationResponseSchema,
  PreviewQueueOperationResponseSchema,
  type BulkOperationService as Rpc,
  StartDeadLetterOperationResponseSchema,
  StartQueueOperationResponseSchema,
} from "../../../../../gen/service/api/bulk_operation_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { productionOf } from "../../../../platform/access/index.ts";
import type { Cursors } from "../../../../platform/cursor/index.ts";
import { readPage } from "../../../../platform/paging/index.ts";
import { fromCount, fromOperation, toItemFilter, toItemLimit, toLetterFilter } from "./bulk-message.ts";
import type { BulkService } from "./bulk-service.ts";
import { bulkStore } from "./bulk-store.ts";
import type { BulkOperation } from "./domain/bulk-operation.ts";

/** Creates the handlers of BulkOperationService. */
export function bulkHandlers(service: BulkService, cursors: Cursors): Handlers<typeof Rpc> {
  return {
    async previewQueueOperation(context, { poolId, action, filter }) {
      const selection = { action: action as "cancel" | "requeue", filter: toItemFilter(filter) };
      const count = await service.preview(context, poolId, selection);
      return create(PreviewQueueOperationResponseSchema, { preview: fromCount(count) });
    },

    async startQueueOperation(context, { poolId, action, filter, maxItems, reason }) {
      const selection = { action: action as "cancel" | "requeue", filter: toItemFilter(filter) };
      const input = { ...selection, poolId, maxItems: toItemLimit(maxItems), reason };
      const operation = await service.start(context, input);
      return create(StartQueueOperationResponseSchema, { operation: fromOperation(operation) });
    },

    async previewDeadLetterOperation(context, { poolId, filter }) {
      const count = await service.preview(context, poolId, { action: "retry", filter: toLetterFilter(filter) });
      return create(PreviewDeadLetterOperationResponseSchema, { preview: fromCount(count) });
    },

    async startDeadLetterOperation(context, { poolId, filter, maxItems, reason }) {
      const selection = { action: "retry" as const, filter: toLetterFilter(filter) };
      const input = { ...selection, poolId, maxItems: toItemLimit(maxItems), reason };
      const operation = await service.start(context, input);
      return create(StartDeadLetterOperationResponseSchema, { operation: fromOperation(operation) });
    },

    async getBulkOperation(context, { operationId }) {
      const operation = await service.getOperation(context, operationId);
      return create(GetBulkOperationResponseSchema, { operation: fromOperation(operation) });
    },

    async listBulkOperations({ sql, tenantId, operation, principal }, request) {
      const { poolId, state } = request;
      const inProduction = productionOf(principal);
      const page = await readPage(
        cursors,
        request,
        { tenantId, operation: operation.id, filter: [poolId, state, inProduction] },
        ({ id }: BulkOperation) => id,
        (wanted) => bulkStore(sql).list(tenantId, { poolId, state, inProduction }, wanted),
      );
      return create(ListBulkOperationsResponseSchema, { ...page, operations: page.items.map(fromOperation) });
    },

    async cancelBulkOperation(context, { operationId }) {
      const operation = await service.cancel(context, operationId);
      return create(CancelBulkOperationResponseSchema, { operation: fromOperation(operation) });
    },
  };
}
