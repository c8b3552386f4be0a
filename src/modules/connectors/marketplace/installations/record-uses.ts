import { type Failure, fail } from "../../../../errors/index.ts";
import type { RecordUse } from "../../../pack-records.ts";

const usesShownMax = 5;

/** The failure to delete records that others refer to. It names them. */
export function inUse(uses: readonly RecordUse[]): Failure {
  const shown = uses.slice(0, usesShownMax).map(({ what, name }) => `${what} ${name}`);
  const rest = uses.length > usesShownMax ? " and others" : "";
  return fail("IN_USE", {
    public: `Records of the pack are in use by: ${shown.join(", ")}${rest}.`,
    extra: { used_by: uses.map(({ what, name }) => ({ what, name })) },
  });
}
