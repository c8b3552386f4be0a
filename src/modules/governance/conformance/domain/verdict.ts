/** A report's verdict on a suite: `incomplete` if no case failed but some could not be decided. */
export type Verdict = "passed" | "failed" | "incomplete";
