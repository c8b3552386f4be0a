/** What a report says about a suite: `incomplete` if no case failed but some could not be decided. */
export type Verdict = "passed" | "failed" | "incomplete";
