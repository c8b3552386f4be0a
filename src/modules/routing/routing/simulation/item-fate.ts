import type { Verdict } from "../../admission/index.ts";
import type { Decision } from "../domain/decision.ts";

/** What becomes of an item when it arrives. */
export interface ItemFate {
  /** not_chosen: the item names no pool, and no rule chooses this one. */
  readonly outcome: Decision["outcome"] | Verdict["status"] | "not_chosen";
  readonly reason: string;
  readonly recipientId: string;
  /** A recipient with a priority, another pool, or an outcome. */
  readonly label: string;
  readonly ruleIds: readonly string[];
  /** The constraint that decided; empty for none. */
  readonly constraint: string;
}

/** An item that a pool does not choose. */
export const notChosen: ItemFate = {
  outcome: "not_chosen",
  reason: "",
  recipientId: "",
  label: "not_chosen",
  ruleIds: [],
  constraint: "",
};

export function fateOf(decision: Decision): ItemFate {
  const { outcome, reason, recipientId, matchedRuleIds } = decision;
  return { outcome, reason, recipientId, label: labelOf(decision), ruleIds: matchedRuleIds, constraint: "" };
}

/** The result of a decision: a recipient, another pool, or an outcome. */
function labelOf({ outcome, recipientId, redirectPoolId, priority, retryAfterS }: Decision): string {
  if (outcome === "routed") return `${recipientId} (priority ${priority})`;
  if (outcome === "rejected" && retryAfterS > 0) return `rejected (again after ${retryAfterS} s)`;
  return outcome === "redirected" ? `redirected to ${redirectPoolId}` : outcome;
}

/** The fate of an item that is not admitted. */
export function refused(fate: ItemFate, outcome: ItemFate["outcome"], reason: string, constraint: string): ItemFate {
  return { ...fate, outcome, reason, constraint, recipientId: "", label: `${outcome} (${reason})` };
}
