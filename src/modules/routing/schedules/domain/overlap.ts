import { unreachable } from "../../../../errors/index.ts";
import type { Overlap } from "./schedule.ts";

/** The action at a due time: start a run, cancel the earlier items and start, wait for their end, or skip. */
export type OverlapDecision = "start" | "replace" | "wait" | "skip";

/** The state of a schedule's earlier runs. */
export interface EarlierRuns {
  /** Whether the item of one of them is unfinished. */
  readonly unfinished: boolean;
  /** Whether one of them waits. */
  readonly waiting: boolean;
}

/** Applies the overlap policy of a schedule to a due time. */
export function decideOverlap(overlap: Overlap, { unfinished, waiting }: EarlierRuns): OverlapDecision {
  switch (overlap) {
    case "allow":
      return "start";
    case "cancel_running":
      return unfinished ? "replace" : "start";
    case "queue_one":
      if (waiting) return "skip";
      return unfinished ? "wait" : "start";
    case "skip":
      return unfinished ? "skip" : "start";
    default:
      return unreachable(overlap);
  }
}
