import type { AssignmentRetry } from "./domain/queue-item.ts";

/** The assignment retries of an item; undefined while the item has a recipient or no attempt has failed. */
export const fromAssignment = ({ assignTries, assignReason, assignAfter }: AssignmentRetry) =>
  assignTries === null || assignReason === null || assignAfter === null
    ? undefined
    : { tries: assignTries, reason: assignReason, nextTryAt: assignAfter };
