import type { Subject } from "./subject.ts";

/** A promotion, as evidence sees it. */
export interface Candidate {
  readonly id: string;
  readonly environmentId: string;
  /** Whether it was promoted, rolled back, aborted or failed. */
  readonly hasEnded: boolean;
  /** Its artifacts. They never change. `baseSha256` is what each replaces now; empty if that is not known. */
  readonly subjects: readonly Subject[];
}
