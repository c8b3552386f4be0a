import type { BulkOperationService as Rpc } from "../../../../../gen/service/api/bulk_operation_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { productionOf } from "../../../../platform/access/index.ts";
import { fromOperation, toItemFilter, toItemLimit, toLetterFilter } from "./bulk-message.ts";
import type { BulkService } from "./bulk-service.ts";
import { bulkStore } from "./bulk-store.ts";

/** Creates the handlers of BulkOperationService. */
export function bulkHandlers(service: BulkService): Handlers<typeof Rpc> {
  return {
    async previewQueueOperation(context, { poolId, action, filter }) {
      const selection = { action: action as "cancel" | "requeue", filter: toItemFilter(filter) };
      return { preview: await service.preview(context, poolId, selection) };
    },

    async startQueueOperation(context, { poolId, action, filter, maxItems, reason }) {
      const selection = { action: action as "cancel" | "requeue", filter: toItemFilter(filter) };
      const input = { ...selection, poolId, maxItems: toItemLimit(maxItems), reason };
      return { operation: fromOperation(await service.start(context, input)) };
    },

    async previewDeadLetterOperation(context, { poolId, filter }) {
      return { preview: await service.preview(context, poolId, { action: "retry", filter: toLetterFilter(filter) }) };
    },

    async startDeadLetterOperation(context, { poolId, filter, maxItems, reason }) {
      const selection = { action: "retry" as const, filter: toLetterFilter(filter) };
      const input = { ...selection, poolId, maxItems: toItemLimit(maxItems), reason };
      return { operation: fromOperation(await service.start(context, input)) };
    },

    async getBulkOperation(context, { operationId }) {
      return { operation: fromOperation(await service.getOperation(context, operationId)) };
    },

    async listBulkOperations(context, request) {
      const { sql, tenantId, principal } = context;
      const { poolId, state } = request;
      const inProduction = productionOf(principal);
      const page = await context.page("operations", request, [poolId, state, inProduction], (wanted) =>
        bulkStore(sql).list(tenantId, { poolId, state, inProduction }, wanted),
      );
      return { ...page, operations: page.operations.map(fromOperation) };
    },

    async cancelBulkOperation(context, { operationId }) {
      return { operation: fromOperation(await service.cancel(context, operationId)) };
    },
  };
}
