import type { Evaluation } from "../evaluation.ts";
import type { RuleResult } from "../rules.ts";
import type { Condition } from "./condition.ts";
import type { Filter } from "./filter.ts";

/** Restricts the candidates by the rules of the pool. */
export function filterByRules(candidates: Filter, result: RuleResult): Filter {
  const { require, prefer, routeTo } = result;
  const isUnrestricted = require.length === 0 && prefer.length === 0 && routeTo === "";
  return isUnrestricted ? candidates : candidates.withTerms({ require, prefer, routeTo });
}

/**
 * Restricts the candidates by a fallback step. The condition of the step replaces the requirements, preferences and
 * named recipients of rules and the required skills of the item; without a condition the step admits every
 * recipient. Recipients that the item names or excludes by id still apply.
 */
export function filterByStep(candidates: Filter, evaluation: Evaluation, condition: Condition | undefined): Filter {
  const require = condition === undefined ? [] : [evaluation.bind(condition)];
  return candidates.withTerms({ require, ignoreSkills: true });
}
