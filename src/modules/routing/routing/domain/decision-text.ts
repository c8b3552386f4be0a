import type { Rule } from "../../pools/index.ts";
import type { DecisionReason } from "./decision.ts";
import type { Evidence, EvidenceTraceStep } from "./evidence.ts";

const reasonTexts: Readonly<Record<DecisionReason, string>> = {
  chosen: "The strategy of the pool chose the recipient.",
  named_by_rule: "A rule named the recipient.",
  named_by_item: "The item named the recipient.",
  chosen_by_fallback: "A fallback step chose the recipient, because nobody else could take the item.",
  rule_hold: "A rule holds the item.",
  rule_reject: "A rule rejected the item.",
  rule_redirect: "A rule redirected the item to another pool.",
  rule_error: "A rule could not be evaluated, and rejects items in that case.",
  no_recipients: "No recipient was active.",
  requirements_unmet: "No recipient fulfilled the requirements of the item.",
  rules_exclude_all: "The rules excluded every recipient.",
  all_at_capacity: "Every recipient that could take the item was at capacity.",
  all_ejected: "Every recipient that could take the item was ejected because of failures.",
  none_available: "Every recipient that could take the item was at capacity or ejected.",
  recipient_not_eligible: "The named recipient could not take the item.",
  recipient_unavailable: "The named recipient was at capacity or ejected.",
  awaiting_acceptance: "The first worker that asks for the item gets it.",
  awaiting_assignment: "Somebody has to assign the item.",
  rules_too_costly: "The rules needed more work than a decision may take.",
  decided_later: "The decision was deferred to the background.",
};

/** Reasons that do not come from the decision itself. */
const otherTexts: Readonly<Record<string, string>> = {
  awaiting_dependencies: "It waits for other items to end.",
  debounce_collected: "The earlier item took its payload.",
};

const outcomeTexts: Readonly<Record<string, string>> = {
  routed: "The item was routed",
  queued: "The item was queued without a recipient",
  held: "The item was held",
  deduplicated: "The item was dropped as a duplicate",
  debounced: "The item was accepted and waits for its debounce window",
  rejected: "The item was rejected",
  no_match: "The item was refused",
};

/** A decision in words. */
export function describeDecision(
  outcome: string,
  { reason, message, existingItemId, retryAfterMs }: Evidence,
  recipient: string,
): string {
  const what = outcomeTexts[outcome] ?? `The outcome was ${outcome}`;
  const to = outcome === "routed" && recipient !== "" ? ` to ${recipient}` : "";
  const duplicate = existingItemId === "" ? "" : ` The earlier item is ${existingItemId}.`;
  const said = message === "" ? "" : ` The rule says: ${message}`;
  const why =
    outcome === "deduplicated" ? "" : ` ${reasonTexts[reason as DecisionReason] ?? otherTexts[reason] ?? reason}`;
  const again = retryAfterMs === 0 ? "" : ` It could be sent again after ${Math.ceil(retryAfterMs / 1000)} s.`;
  return `${what}${to}.${why}${said}${duplicate}${again}`;
}

const stepTexts: Readonly<Record<EvidenceTraceStep["step"], string>> = {
  eligibility: "Eligible recipients",
  requirement: "Requirement of the item",
  rule: "Rule",
  strategy: "Strategy",
  fallback: "Fallback step",
  admission: "Admission",
  redirect: "Redirect",
  experiment: "Experiment",
  canary: "Canary",
  dependency: "Items that it waits for",
  pool: "Choice of the pool for an item without one",
  omitted: "Further steps that were not recorded",
};

const ruleTexts: Readonly<Record<string, string>> = {
  matched: "applied",
  not_matched: "did not apply",
  nobody: "applied, and holds for no recipient",
  error: "could not be evaluated",
  served: "had already held the item",
};

/** A step of the trace in words; a rule with its name and its text, if they are known. */
export function describeStep(
  { step, result, detail }: EvidenceTraceStep,
  rule?: Pick<Rule, "name" | "condition">,
): string {
  if (rule !== undefined) {
    const condition = rule.condition === "" ? "always" : rule.condition;
    return `The rule "${rule.name}" (${detail}) ${ruleTexts[result] ?? result}: ${condition}`;
  }
  return `${stepTexts[step]}: ${result}${detail === undefined ? "" : ` (${detail})`}.`;
}
