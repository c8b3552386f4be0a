import { type Backoff, backoffMs } from "../../../../platform/backoff/backoff.ts";
import type { Decision, DecisionReason } from "./decision.ts";

/** The cause ends by itself soon. */
const transientBackoff: Backoff = { firstMs: 1000, maxMs: 5000 };
/** A freed slot wakes the item; the delay covers lost notifications. */
const capacityBackoff: Backoff = { firstMs: 2000, maxMs: 30_000 };
/** A change of the pool wakes the item; the delay covers conditions that use `now`. */
const poolChangeBackoff: Backoff = { firstMs: 1000, maxMs: 60_000 };
/** An attempt is expensive, and the next one is unlikely to succeed. */
const costlyRulesBackoff: Backoff = { firstMs: 5000, maxMs: 900_000 };

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
  const waitS = backoffMs(backoffs[reason] ?? poolChangeBackoff, tries) / 1000;
  // Retry when the next fallback step is due.
  return nextStepInS > 0 ? Math.min(waitS, nextStepInS) : waitS;
}
