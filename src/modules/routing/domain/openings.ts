import type { Condition } from "./condition.ts";
import type { Evaluation } from "./evaluation.ts";
import type { Filter } from "./filter.ts";
import type { Ruling } from "./rules.ts";

/** Who of the candidates may take an item by the pool's rules. */
export function filterOfRules(candidates: Filter, ruling: Ruling): Filter {
  const { require, prefer, routeTo } = ruling;
  const isUnruled = require.length === 0 && prefer.length === 0 && routeTo === "";
  return isUnruled ? candidates : candidates.narrowed({ require, prefer, routeTo });
}

/**
 * Who may take an item by a step of the fallback: its condition stands in for all that rules require, prefer or name. What the
 * item requires itself still holds, with one exception: a condition that looks at `recipient.skills` or at
 * `item.requirements` judges skills itself, so that it can ask for less.
 */
export function filterOfStep(candidates: Filter, evaluation: Evaluation, condition: Condition | undefined): Filter {
  if (condition === undefined) return candidates;
  return candidates.narrowed({ require: [evaluation.question(condition)], skillsAside: condition.namesSkills });
}
