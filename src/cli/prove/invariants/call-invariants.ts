import type { Invariant } from "../invariant.ts";

/** A call that is repeated with its idempotency key gets the answer of the first one. */
export const repeatedCalls: Invariant = {
  subjectOf: ({ kind, name, subject }) => (kind === "observed" && name === "repeated call" ? subject : undefined),
  contradictionIn: (events) =>
    events.some(({ facts }) => facts.first !== facts.repeat) ? "The repeated call got another answer." : undefined,
};
