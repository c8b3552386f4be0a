import type { Decision, DecisionReason } from "./decision.ts";

/** Delays between attempts to find a recipient; each is twice the previous one. */
interface Backoff {
  readonly firstS: number;
  readonly longestS: number;
}

/** The cause ends by itself soon. */
const transientBackoff: Backoff = { firstS: 1, longestS: 5 };
/** A freed slot wakes the item; the delay covers lost notifications. */
const capacityBackoff: Backoff = { firstS: 2, longestS: 30 };
/** A change of the pool wakes the item; the delay covers conditions that use `now`. */
const poolChangeBackoff: Backoff = { firstS: 1, longestS: 60 };
/** An attempt is expensive, and the next one is unlikely to succeed. */
const costlyRulesBackoff: Backoff = { firstS: 5, longestS: 900 };

const backoffs: Partial<Record<DecisionReason, Backoff>> = {
  all_at_capacity: capacityBackoff,
  none_available: transientBackoff,
  all_ejected: transientBackoff,
  recipient_unavailable: transientBackoff,
  rules_too_costly: costlyRulesBackoff,
};

/** Reasons that may no longer apply once a recipient finishes an item. */
export const capacityReasons: readonly string[] = ["all_at_capacity", "none_available", "recipient_unavailable"];

/** Returns the delay in seconds before the next attempt. `tries` counts failed attempts, including this one. */
export function retryInS(
  { reason, holdS, nextStepInS }: Pick<Decision, "reason" | "holdS" | "nextStepInS">,
  tries: number,
): number {
  if (holdS > 0) return holdS;
  const { firstS, longestS } = backoffs[reason] ?? poolChangeBackoff;
  const waitS = Math.min(longestS, firstS * 2 ** Math.min(tries - 1, 20));
  // Retry when the next fallback step is due.
  return nextStepInS > 0 ? Math.min(waitS, nextStepInS) : waitS;
}
