import { type Failure, fail, invalid } from "../../../../errors/index.ts";
import type { StreamHead } from "./stream.ts";

/** The refusal of a cursor; undefined if the records after it can be read. */
export function cursorRefusal(
  cursor: number,
  { firstSequence, lastSequence }: Pick<StreamHead, "firstSequence" | "lastSequence">,
): Failure | undefined {
  if (cursor > lastSequence) {
    return invalid("cursor", "cursor", `must not be after the latest sequence, which is ${lastSequence}`);
  }
  if (cursor + 1 < firstSequence) return resyncFailure(cursor, firstSequence, lastSequence);
  return undefined;
}

/** The failure of a read after records that retention removed. */
function resyncFailure(requested: number, earliest: number, latest: number): Failure {
  return fail("STREAM_RESYNC_REQUIRED", {
    public: `Retention removed the records after ${requested}. Read the current state elsewhere, then continue with the cursor ${earliest - 1}.`,
    extra: {
      requested_sequence: requested,
      earliest_sequence: earliest,
      latest_sequence: latest,
      resync_reason: "retention",
    },
  });
}
