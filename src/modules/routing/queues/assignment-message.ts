import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AssignmentRetrySchema } from "../../../../gen/service/api/queue_pb.ts";
import type { AssignmentRetry } from "./domain/queue-item.ts";

/** Converts an item's assignment retries to message fields; empty while the item has a recipient or no attempt has failed. */
export function toAssignmentField({ assignTries, assignReason, assignAfter }: AssignmentRetry) {
  if (assignTries === null || assignReason === null || assignAfter === null) return {};
  const nextTryAt = timestampFromDate(assignAfter);
  return { assignment: create(AssignmentRetrySchema, { tries: assignTries, reason: assignReason, nextTryAt }) };
}
