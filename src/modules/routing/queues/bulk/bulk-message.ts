import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  BulkOperationSchema,
  type BulkPreview,
  BulkPreviewSchema,
  DeadLetterFilterSchema,
  type QueueItemFilter as ItemFilterMessage,
  type DeadLetterFilter as LetterFilterMessage,
  type BulkOperation as OperationMessage,
  QueueItemFilterSchema,
} from "../../../../../gen/service/api/bulk_operation_pb.ts";
import { dateOf, optionalTime } from "../../../../platform/records/index.ts";
import type {
  BulkCount,
  BulkOperation,
  DeadLetterFilter,
  MatchedState,
  QueueItemFilter,
} from "./domain/bulk-operation.ts";

/** Reads a filter of items; all items when absent. */
export function toItemFilter(message: ItemFilterMessage | undefined): QueueItemFilter {
  const { states, recipientId, type, key, attributes, minPriority, maxPriority, enqueuedBefore, enqueuedAfter } =
    message ?? create(QueueItemFilterSchema);
  return {
    ...{ states: states as MatchedState[], recipientId, type, key, attributes, minPriority, maxPriority },
    enqueuedBeforeMs: enqueuedBefore && dateOf(enqueuedBefore).getTime(),
    enqueuedAfterMs: enqueuedAfter && dateOf(enqueuedAfter).getTime(),
  };
}

/** Reads a filter of dead letters; all that can be retried when absent. */
export function toLetterFilter(message: LetterFilterMessage | undefined): DeadLetterFilter {
  const { reasonCode, phase, type, key, failedBefore, failedAfter } = message ?? create(DeadLetterFilterSchema);
  return {
    ...{ reasonCode, phase, type, key },
    failedBeforeMs: failedBefore && dateOf(failedBefore).getTime(),
    failedAfterMs: failedAfter && dateOf(failedAfter).getTime(),
  };
}

/** Reads a maximum number of items. No queue has more items than a safe integer can count. */
export function toItemLimit(maxItems: bigint): number {
  return Number(maxItems > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : maxItems);
}

export function fromCount({ count, countByState, capped }: BulkCount): BulkPreview {
  const byState = Object.entries(countByState).map(([state, each]) => [state, BigInt(each)]);
  return create(BulkPreviewSchema, { count: BigInt(count), countByState: Object.fromEntries(byState), capped });
}

export function fromOperation(operation: BulkOperation): OperationMessage {
  const { id, tenantId, poolId, action, reason, state, error, createdBy } = operation;
  return create(BulkOperationSchema, {
    ...{ id, tenantId, poolId, action, reason, state, error, createdBy },
    ...fromFilter(operation),
    maxItems: BigInt(operation.maxItems),
    matchedCount: BigInt(operation.matchedCount),
    changedCount: BigInt(operation.changedCount),
    skippedCount: BigInt(operation.skippedCount),
    createdAt: optionalTime(operation.createdAt),
    updatedAt: optionalTime(operation.updatedAt),
    endedAt: optionalTime(operation.endedAt),
  });
}

function fromFilter(operation: BulkOperation) {
  if (operation.action === "retry") {
    const { failedBeforeMs, failedAfterMs, ...rest } = operation.filter;
    const times = { ...timeField("failedBefore", failedBeforeMs), ...timeField("failedAfter", failedAfterMs) };
    return { deadLetterFilter: create(DeadLetterFilterSchema, { ...rest, ...times }) };
  }
  const { enqueuedBeforeMs, enqueuedAfterMs, states, attributes, ...rest } = operation.filter;
  const times = { ...timeField("enqueuedBefore", enqueuedBeforeMs), ...timeField("enqueuedAfter", enqueuedAfterMs) };
  const itemFilter = { ...rest, ...times, states: [...states], attributes: { ...attributes } };
  return { itemFilter: create(QueueItemFilterSchema, itemFilter) };
}

function timeField(name: string, ms: number | undefined) {
  return ms === undefined ? {} : { [name]: timestampFromMs(ms) };
}
