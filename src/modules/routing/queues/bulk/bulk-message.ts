import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  DeadLetterFilterSchema,
  type QueueItemFilter as ItemFilterMessage,
  type DeadLetterFilter as LetterFilterMessage,
  QueueItemFilterSchema,
} from "../../../../../gen/service/api/bulk_operation_pb.ts";
import { dateOf } from "../../../../platform/records/index.ts";
import type { BulkOperation, DeadLetterFilter, MatchedState, QueueItemFilter } from "./domain/bulk-operation.ts";

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

export const fromOperation = (operation: BulkOperation) => ({ ...operation, ...fromFilter(operation) });

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
