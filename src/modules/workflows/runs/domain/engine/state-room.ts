import type { Json } from "../../../definitions/index.ts";
import type { Execution } from "./execution.ts";
import { bytesOf, entryBytes, historyBytesMax, stateBytesMax } from "./size-limits.ts";
import type { StepKey } from "./step-key.ts";

/**
 * The bytes of values that a step adds to the state; undefined if the state has no room for them. They must be part of the
 * state already. `closing` is the step whose activity leaves the state because of it.
 */
export function roomFor(execution: Execution, added: readonly Json[], closing?: StepKey): number | undefined {
  const { size, state } = execution;
  let bytes = 0;
  for (const value of added) bytes += bytesOf(value);
  size.workBytes += bytes;
  // A value is held by its step and then by the block around it, never by both and a third place.
  size.heldBytes += 2 * bytes + entryBytes;
  if (size.heldBytes <= stateBytesMax) return bytes;
  // Values that were deleted meanwhile are still counted, so the state is measured before the step fails.
  const { [closing ?? ""]: _, ...active } = state.active;
  size.heldBytes = bytesOf({ ...state, active } as unknown as Json);
  size.workBytes += size.heldBytes;
  return size.heldBytes <= stateBytesMax ? bytes : undefined;
}

/** Counts a value for the history. Returns null instead of the value if the history is full. */
export function recorded({ size, history }: Execution, value: Json): Json {
  const bytes = bytesOf(value);
  if (size.historyBytes(history.length) + bytes > historyBytesMax) return null;
  size.recordedBytes += bytes;
  return value;
}
