import { filterByRules, filterByStep } from "./compilation/candidate-filters.ts";
import type { CompiledPool } from "./compilation/compiled-pool.ts";
import { Filter } from "./compilation/filter.ts";
import type { DecisionPoint, DecisionReason } from "./decision.ts";
import { Evaluation } from "./evaluation.ts";
import { LiveFacts } from "./facts/live-facts.ts";
import type { LivePool } from "./facts/live-pool.ts";
import { AT_CAPACITY } from "./facts/observation.ts";
import type { RoutableItem } from "./item.ts";
import { applyRules } from "./rules.ts";
import { Trace } from "./trace.ts";

/** Whether a recipient may take an item, and the reason if not. */
export type Acceptance = { readonly may: true } | { readonly may: false; readonly reason: DecisionReason };

/**
 * Checks whether a recipient that requests work may take a waiting item. Rules and due fallback steps determine
 * which recipients may take it; preferences and the strategy do not apply, because the first request wins. A manual
 * item is closed until it names a recipient or a fallback step admits others. Returns undefined if the evaluation
 * paused: resume it and call again.
 */
export function checkAcceptance(
  pool: CompiledPool,
  live: LivePool,
  item: RoutableItem,
  recipientId: string,
  at: DecisionPoint,
  evaluation = new Evaluation(pool, item, at),
): Acceptance | undefined {
  const index = pool.indexById.get(recipientId);
  if (index === undefined || pool.weights[index] === 0) return { may: false, reason: "recipient_not_eligible" };
  const facts = new LiveFacts(pool, live, at.nowMs);
  if (facts.availability(index) >= AT_CAPACITY) return { may: false, reason: "recipient_unavailable" };
  const acceptance = evaluateAcceptance(pool, item, index, at, { facts, evaluation });
  if (evaluation.paused) return undefined;
  return evaluation.exhausted ? { may: false, reason: "rules_too_costly" } : acceptance;
}

function evaluateAcceptance(
  pool: CompiledPool,
  item: RoutableItem,
  index: number,
  at: DecisionPoint,
  { facts, evaluation }: { facts: LiveFacts; evaluation: Evaluation },
): Acceptance {
  const candidates = new Filter(pool, evaluation, item);
  const result = applyRules(pool, { item, candidates, waitedS: at.waitedS, evaluation, facts, trace: new Trace() });
  if (result.termination !== undefined) return { may: false, reason: terminationReasons[result.termination.type] };
  const admits = (filter: Filter) => filter.includes(index) && filter.rank(index) >= 0;
  const isManual = pool.snapshot.pool.strategy === "manual" && candidates.only === -1 && result.routeTo === "";
  if (!isManual && !result.excludesAll && admits(filterByRules(candidates, result))) return { may: true };
  for (const { step, condition } of pool.steps) {
    if (step.afterS > at.waitedS) break;
    if (step.strategy !== "manual" && admits(filterByStep(candidates, evaluation, condition))) return { may: true };
  }
  return { may: false, reason: isManual ? "awaiting_assignment" : "recipient_not_eligible" };
}

const terminationReasons = {
  reject: "rule_reject",
  error: "rule_error",
  hold: "rule_hold",
  redirect: "rule_redirect",
} as const;
