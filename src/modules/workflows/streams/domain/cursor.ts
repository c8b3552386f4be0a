import { type Failure, fail, invalid } from "../../../../errors/index.ts";
import type { StreamHead } from "./stream.ts";

/** Throws if the records after a cursor cannot be read. */
export function requireReadable(
  cursor: number,
  { firstSequence, lastSequence }: Pick<StreamHead, "firstSequence" | "lastSequence">,
): void {
  if (cursor > lastSequence) {
    throw invalid("cursor", "cursor", `must not be after the latest sequence, which is ${lastSequence}`);
  }
  if (cursor + 1 < firstSequence) throw resyncFailure(cursor, firstSequence, lastSequence);
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
