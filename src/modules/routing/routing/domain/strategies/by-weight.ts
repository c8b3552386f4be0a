import { AT_CAPACITY } from "../facts/observation.ts";
import type { AliasTable } from "../structures/alias-table.ts";
import {
  type Attempt,
  arrivalTime,
  type Choice,
  isSelective,
  rankCandidates,
  toChoice,
  weightFactor,
} from "./attempt.ts";

/** Maximum number of draws before all recipients are ranked. */
const drawsMax = 32;

/** weighted_random: random, proportional to weight. */
export function weightedRandom(attempt: Attempt): Choice {
  const drawn = drawByWeight(attempt, attempt.pool.eligibleTable);
  if (drawn !== undefined) return drawn;
  const { weights } = attempt.pool;
  return toChoice(
    rankCandidates(attempt, {
      metric: "nothing",
      score: (index, availability, _, best) =>
        arrivalTime(attempt, index, weights[index]! * weightFactor(attempt, index, availability), best),
    }),
  );
}

/** priority: the lowest number first; ties random, proportional to weight. */
export function byPriority(attempt: Attempt): Choice {
  const drawn = drawByWeight(attempt, attempt.pool.topPriorityTable);
  if (drawn !== undefined) return drawn;
  const { weights, snapshot } = attempt.pool;
  return toChoice(
    rankCandidates(attempt, {
      metric: "nothing",
      score: (index) => snapshot.recipients[index]!.priority,
      second: (index, availability) =>
        arrivalTime(
          attempt,
          index,
          weights[index]! * weightFactor(attempt, index, availability),
          Number.POSITIVE_INFINITY,
        ),
    }),
  );
}

/**
 * Draws a recipient from a table by weight; undefined if no draw succeeds. An unsuitable recipient is drawn again,
 * which keeps the relative probabilities of all others.
 */
export function drawByWeight(attempt: Attempt, table: AliasTable): Choice | undefined {
  const { draws, facts, filter } = attempt;
  if (table.size === 0 || isSelective(attempt)) return undefined;
  for (let nth = 1; nth <= drawsMax; nth++) {
    const index = table.draw(draws);
    if (!filter.admits(index)) continue;
    const availability = facts.availability(index);
    if (availability >= AT_CAPACITY) continue;
    const share = weightFactor(attempt, index, availability);
    if (share < 1 && draws.unit() >= share) continue;
    if (filter.rank(index) === 0) return { index, how: `draw ${nth}` };
  }
  return undefined;
}
