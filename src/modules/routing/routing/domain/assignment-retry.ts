import type { Decision, DecisionReason } from "./decision.ts";

/** Waits between two tries to find a recipient: the first one, and the longest; each is twice the one before. */
interface Waits {
  readonly firstS: number;
  readonly longestS: number;
}

/** Ends by itself, soon. */
const untilTheMomentPasses: Waits = { firstS: 1, longestS: 5 };
/** A freed place wakes the item; this is for the case that nobody told of it. */
const untilAPlaceIsFree: Waits = { firstS: 2, longestS: 30 };
/** Only a change of the pool helps, and that wakes the item; or time, where a condition looks at `now`. */
const untilThePoolChanges: Waits = { firstS: 1, longestS: 60 };
/** A try is dear, and the next one hardly ends better. */
const untilRulesAreCheaper: Waits = { firstS: 5, longestS: 900 };

const waits: Partial<Record<DecisionReason, Waits>> = {
  all_at_capacity: untilAPlaceIsFree,
  none_available: untilTheMomentPasses,
  all_ejected: untilTheMomentPasses,
  recipient_unavailable: untilTheMomentPasses,
  rules_too_costly: untilRulesAreCheaper,
};

/** Reasons that may be gone as soon as a recipient is done with an item. */
export const placeReasons: readonly string[] = ["all_at_capacity", "none_available", "recipient_unavailable"];

/** In how many seconds an item that got no recipient is tried again; `tries` counts those that failed, this one included. */
export function retryInS(
  { reason, holdS, nextStepInS }: Pick<Decision, "reason" | "holdS" | "nextStepInS">,
  tries: number,
): number {
  if (holdS > 0) return holdS;
  const { firstS, longestS } = waits[reason] ?? untilThePoolChanges;
  const waitS = Math.min(longestS, firstS * 2 ** Math.min(tries - 1, 20));
  // The next step of the fallback is tried when it is due.
  return nextStepInS > 0 ? Math.min(waitS, nextStepInS) : waitS;
}
