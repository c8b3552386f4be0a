import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  DeadLetterFilterSchema,
  type QueueItemFilter as ItemFilterMessage,
  type DeadLetterFilter as LetterFilterMessage,
  QueueItemFilterSchema,
  type BulkOperationService as Rpc,
} from "../../../../../gen/service/api/bulk_operation_pb.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { productionOf } from "../../../../platform/access/index.ts";
import { dateOf } from "../../../../platform/records/index.ts";
import type { BulkService } from "./bulk-service.ts";
import { bulkStore } from "./bulk-store.ts";
import type { BulkOperation, DeadLetterFilter, MatchedState, QueueItemFilter } from "./domain/bulk-operation.ts";

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
        bulkStore(sql).list(tenantId, { poolId, state, inProduction }, wanted, { newestFirst: true }),
      );
      return { ...page, operations: page.operations.map(fromOperation) };
    },

    async cancelBulkOperation(context, { operationId }) {
      return { operation: fromOperation(await service.cancel(context, operationId)) };
    },
  };
}

/** Reads a filter of items; all items when absent. */
function toItemFilter(message: ItemFilterMessage | undefined): QueueItemFilter {
  const { states, recipientId, type, key, attributes, minPriority, maxPriority, enqueuedBefore, enqueuedAfter } =
    message ?? create(QueueItemFilterSchema);
  return {
    ...{ states: states as MatchedState[], recipientId, type, key, attributes, minPriority, maxPriority },
    enqueuedBeforeMs: enqueuedBefore && dateOf(enqueuedBefore).getTime(),
    enqueuedAfterMs: enqueuedAfter && dateOf(enqueuedAfter).getTime(),
  };
}

/** Reads a filter of dead letters; all that can be retried when absent. */
function toLetterFilter(message: LetterFilterMessage | undefined): DeadLetterFilter {
  const { reasonCode, phase, type, key, failedBefore, failedAfter } = message ?? create(DeadLetterFilterSchema);
  return {
    ...{ reasonCode, phase, type, key },
    failedBeforeMs: failedBefore && dateOf(failedBefore).getTime(),
    failedAfterMs: failedAfter && dateOf(failedAfter).getTime(),
  };
}

/** Reads a maximum number of items. No queue has more items than a safe integer can count. */
function toItemLimit(maxItems: bigint): number {
  return Number(maxItems > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : maxItems);
}

const fromOperation = (operation: BulkOperation) => ({ ...operation, ...fromFilter(operation) });

function fromFilter(operation: BulkOperation) {
  if (operation.action === "retry") {
    const { failedBeforeMs, failedAfterMs, ...filter } = operation.filter;
    return {
      deadLetterFilter: { ...filter, failedBefore: timeOf(failedBeforeMs), failedAfter: timeOf(failedAfterMs) },
    };
  }
  const { enqueuedBeforeMs, enqueuedAfterMs, ...filter } = operation.filter;
  const times = { enqueuedBefore: timeOf(enqueuedBeforeMs), enqueuedAfter: timeOf(enqueuedAfterMs) };
  return { itemFilter: { ...filter, ...times } };
}

const timeOf = (ms: number | undefined) => (ms === undefined ? undefined : timestampFromMs(ms));
