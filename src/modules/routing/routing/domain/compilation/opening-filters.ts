import type { Evaluation } from "../evaluation.ts";
import type { Ruling } from "../rules.ts";
import type { Condition } from "./condition.ts";
import type { Filter } from "./filter.ts";

/** Who of the candidates may take an item by the pool's rules. */
export function filterOfRules(candidates: Filter, ruling: Ruling): Filter {
  const { require, prefer, routeTo } = ruling;
  const isUnruled = require.length === 0 && prefer.length === 0 && routeTo === "";
  return isUnruled ? candidates : candidates.narrowed({ require, prefer, routeTo });
}

/**
 * Who may take an item by a step of the fallback. The step's condition replaces all that rules require, prefer or name,
 * and the skills that the item requires: without a condition everyone may take it. Whom the item names or excludes by id
 * still holds.
 */
export function filterOfStep(candidates: Filter, evaluation: Evaluation, condition: Condition | undefined): Filter {
  const require = condition === undefined ? [] : [evaluation.question(condition)];
  return candidates.narrowed({ require, skillsAside: true });
}
