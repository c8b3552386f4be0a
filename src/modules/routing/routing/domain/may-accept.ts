import type { CompiledPool } from "./compilation/compiled-pool.ts";
import { Filter } from "./compilation/filter.ts";
import { filterOfRules, filterOfStep } from "./compilation/opening-filters.ts";
import type { DecisionPoint, DecisionReason } from "./decision.ts";
import { Evaluation } from "./evaluation.ts";
import { LiveFacts } from "./facts/live-facts.ts";
import type { LivePool } from "./facts/live-pool.ts";
import { AT_CAPACITY } from "./facts/survey-record.ts";
import type { RoutableItem } from "./item.ts";
import { applyRules } from "./rules.ts";
import { Trace } from "./trace.ts";

/** Whether a recipient that asks for work may have an item, and if not, why. */
export type Acceptance = { readonly may: true } | { readonly may: false; readonly reason: DecisionReason };

/**
 * Whether a recipient that asks for work may have a waiting item. Rules and the steps of the fallback that are due say whom
 * the item is open to; among those it is whoever asks first, so that preferences and the strategy have no say. An item of
 * manual is open to nobody until it names a recipient, or a step of the fallback lets others in. Undefined when the evaluation
 * paused: resume it, and ask again.
 */
export function mayAccept(
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
  if (facts.standing(index) >= AT_CAPACITY) return { may: false, reason: "recipient_unavailable" };
  const acceptance = isOpenTo(pool, item, index, at, { facts, evaluation });
  if (evaluation.paused) return undefined;
  return evaluation.exhausted ? { may: false, reason: "rules_too_costly" } : acceptance;
}

function isOpenTo(
  pool: CompiledPool,
  item: RoutableItem,
  index: number,
  at: DecisionPoint,
  { facts, evaluation }: { facts: LiveFacts; evaluation: Evaluation },
): Acceptance {
  const candidates = new Filter(pool, evaluation, item);
  const ruling = applyRules(pool, { item, candidates, waitedS: at.waitedS, evaluation, facts, trace: new Trace() });
  if (ruling.ending !== undefined) return { may: false, reason: endingReasons[ruling.ending.type] };
  const admits = (filter: Filter) => filter.includes(index) && filter.rank(index) >= 0;
  const isManual = pool.snapshot.pool.strategy === "manual" && candidates.only === -1 && ruling.routeTo === "";
  if (!isManual && !ruling.excludesAll && admits(filterOfRules(candidates, ruling))) return { may: true };
  for (const { step, condition } of pool.steps) {
    if (step.afterS > at.waitedS) break;
    if (step.strategy !== "manual" && admits(filterOfStep(candidates, evaluation, condition))) return { may: true };
  }
  return { may: false, reason: isManual ? "awaiting_assignment" : "recipient_not_eligible" };
}

const endingReasons = {
  reject: "rule_reject",
  error: "rule_error",
  hold: "rule_hold",
  redirect: "rule_redirect",
} as const;
