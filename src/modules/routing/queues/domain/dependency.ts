import { unreachable } from "../../../../errors/index.ts";
import { type ItemState, isEndState } from "./queue-item.ts";

/** How an item ended, for the items that wait for it. */
export type DependencyOutcome = "completed" | "failed";

/** How an item proceeds when the items that it waits for have ended. It is kept afterwards: leases add their results then. */
export interface Resumption {
  readonly onFailure: "cancel" | "run";
  /** Reason to hold the item then; empty for none. */
  readonly reason: "" | "not_before" | "rule";
  /** Until when. */
  readonly atMs?: number | undefined;
}

/** The unfinished items that an item waits for; none if all have ended. */
export interface ItemDependencies {
  readonly onIds: readonly string[];
  readonly resume: Resumption;
}

/** The outcome of an item for those that wait for it; undefined while it has not ended. */
export function dependencyOutcome(state: ItemState): DependencyOutcome | undefined {
  if (!isEndState(state)) return undefined;
  return state === "completed" ? "completed" : "failed";
}

/** The next step of an item after some of the items that it waits for have ended. */
export function nextStep({ onFailure }: Pick<Resumption, "onFailure">, outcomes: readonly DependencyOutcome[]) {
  switch (onFailure) {
    case "cancel":
      return outcomes.includes("failed") ? "cancel" : "release";
    case "run":
      return "release";
    default:
      return unreachable(onFailure);
  }
}
