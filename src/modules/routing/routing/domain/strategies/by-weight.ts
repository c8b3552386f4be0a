import { AT_CAPACITY } from "../facts/survey-record.ts";
import type { AliasTable } from "../structures/alias-table.ts";
import { type Attempt, areFew, arrival, type Choice, survey, surveyed, weightShare } from "./attempt.ts";

/** How often is drawn before everyone is looked at. */
const drawsMax = 32;

/** weighted_random: by chance, in proportion to weight. */
export function weightedRandom(attempt: Attempt): Choice {
  const drawn = drawByWeight(attempt, attempt.pool.everyone);
  if (drawn !== undefined) return drawn;
  const { weights } = attempt.pool;
  return surveyed(
    survey(attempt, {
      measure: "nothing",
      score: (index, standing, _, best) =>
        arrival(attempt, index, weights[index]! * weightShare(attempt, index, standing), best),
    }),
  );
}

/** priority: the lowest number first, equals by chance in proportion to weight. */
export function byPriority(attempt: Attempt): Choice {
  const drawn = drawByWeight(attempt, attempt.pool.firstByPriority);
  if (drawn !== undefined) return drawn;
  const { weights, snapshot } = attempt.pool;
  return surveyed(
    survey(attempt, {
      measure: "nothing",
      score: (index) => snapshot.recipients[index]!.priority,
      second: (index, standing) =>
        arrival(attempt, index, weights[index]! * weightShare(attempt, index, standing), Number.POSITIVE_INFINITY),
    }),
  );
}

/**
 * One of a table by weight; undefined when none of some draws will do. A draw that will not do is drawn again, which leaves
 * the chances of all others as they are.
 */
export function drawByWeight(attempt: Attempt, table: AliasTable): Choice | undefined {
  const { draws, facts, filter } = attempt;
  if (table.size === 0 || areFew(attempt)) return undefined;
  for (let nth = 1; nth <= drawsMax; nth++) {
    const index = table.draw(draws);
    if (!filter.admits(index)) continue;
    const standing = facts.standing(index);
    if (standing >= AT_CAPACITY) continue;
    const share = weightShare(attempt, index, standing);
    if (share < 1 && draws.unit() >= share) continue;
    if (filter.rank(index) === 0) return { index, how: `draw ${nth}` };
  }
  return undefined;
}
