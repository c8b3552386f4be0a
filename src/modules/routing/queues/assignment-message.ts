import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AssignmentRetrySchema } from "../../../../gen/service/api/queue_pb.ts";
import type { AssignmentRetry } from "./domain/queue-item.ts";

/** The search for an item's recipient, as its field in a message; none while the item has a recipient or no try failed. */
export function fromAssignment({ assignTries, assignReason, assignAfter }: AssignmentRetry) {
  if (assignTries === null || assignReason === null || assignAfter === null) return {};
  const nextTryAt = timestampFromDate(assignAfter);
  return { assignment: create(AssignmentRetrySchema, { tries: assignTries, reason: assignReason, nextTryAt }) };
}
