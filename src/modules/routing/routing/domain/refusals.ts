import { retryInS } from "./assignment-retry.ts";
import type { Decision, DecisionReason } from "./decision.ts";
import type { RoutableItem } from "./item.ts";

/** Recipients that refused an item since everyone was last considered, and for how long. */
export interface Refusals {
  readonly refusedBy: readonly string[] | null;
  /** Seconds since the last refusal; null when there was none. */
  readonly refusedForS: number | null;
  /** Why the last search found no recipient; null when there was none. */
  readonly lastReason: string | null;
}

/** The reason for which an item waits that everyone who may take it has refused. */
export const allRefused = "all_refused";

/** Reasons that do not change while the same recipients are left out: nobody else remains. */
const nobodyRemains: readonly DecisionReason[] = [
  "no_recipients",
  "requirements_unmet",
  "rules_exclude_all",
  "recipient_not_eligible",
];

/** The shortest wait before a refused item is decided again. */
const retryMinS = 1;

/** Whether everyone is considered again: nobody else remained, and the last refusal is long enough ago. */
export function isNewRound({ refusedBy, refusedForS, lastReason }: Refusals, reofferAfterS: number): boolean {
  return refusedBy !== null && lastReason === allRefused && (refusedForS ?? 0) >= reofferAfterS;
}

/** The item without the recipients that refused it. */
export function withoutRefusing(item: RoutableItem, { refusedBy }: Pick<Refusals, "refusedBy">): RoutableItem {
  if (refusedBy === null || refusedBy.length === 0) return item;
  const { excludedRecipientIds } = item.requirements;
  const excluded = [...excludedRecipientIds, ...refusedBy];
  return { ...item, requirements: { ...item.requirements, excludedRecipientIds: excluded } };
}

/** How long an item waits for which no recipient was found, and why. */
export function waitAfter(
  decision: Pick<Decision, "reason" | "holdS" | "nextStepInS">,
  tries: number,
  refusals: Refusals,
  reofferAfterS: number,
): { readonly reason: string; readonly retryInS: number } {
  const hasRefusals = refusals.refusedBy !== null && refusals.refusedBy.length > 0;
  if (!hasRefusals || !nobodyRemains.includes(decision.reason)) {
    return { reason: decision.reason, retryInS: retryInS(decision, tries) };
  }
  const roundInS = Math.max(retryMinS, reofferAfterS - (refusals.refusedForS ?? 0));
  const { nextStepInS } = decision;
  // A fallback step may admit others before.
  return { reason: allRefused, retryInS: nextStepInS > 0 ? Math.min(roundInS, nextStepInS) : roundInS };
}
