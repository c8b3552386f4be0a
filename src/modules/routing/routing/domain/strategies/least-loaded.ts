import { AT_CAPACITY, type Standing } from "../facts/survey-record.ts";
import { type Attempt, areFew, arrival, type Choice, loadOf, survey, surveyed, tieOf, weightShare } from "./attempt.ts";

/**
 * least_loaded: draws some by weight and takes the least loaded of them (the power of two choices): nodes that see the same
 * moment do not all run to the same one. Equals are left to chance, so that nobody gains from coming first.
 */
export function leastLoaded(attempt: Attempt): Choice {
  const { choiceCount } = attempt.pool.snapshot.pool.config.selection;
  const drawn = areFew(attempt) || attempt.filter.among.length <= 2 * choiceCount ? [] : drawSome(attempt, choiceCount);
  if (drawn.length === choiceCount) {
    let best: Loaded | undefined;
    for (const { index, standing } of drawn) {
      const load = loadOf(attempt, index, standing, attempt.facts.inFlight(index));
      best = lighter(attempt, best, { index, load });
    }
    return { index: best!.index, how: `least loaded of ${choiceCount}` };
  }
  const { weights } = attempt.pool;
  const seen = survey(attempt, {
    measure: "inFlight",
    keep: choiceCount,
    score: (index, standing, _, best) =>
      arrival(attempt, index, weights[index]! * weightShare(attempt, index, standing), best),
  });
  let best: Loaded | undefined;
  for (const { index, standing, value, rank } of seen.top) {
    // Those that rules put second are compared only when there are no others.
    if (rank > seen.top[0]!.rank) break;
    best = lighter(attempt, best, { index, load: loadOf(attempt, index, standing, value) });
  }
  return { ...surveyed(seen), index: best?.index ?? -1, how: `least loaded of ${seen.top.length}` };
}

interface Loaded {
  readonly index: number;
  readonly load: number;
}

function lighter(attempt: Attempt, one: Loaded | undefined, other: Loaded): Loaded {
  if (one === undefined || other.load < one.load) return other;
  if (other.load > one.load) return one;
  return tieOf(attempt, other.index) < tieOf(attempt, one.index) ? other : one;
}

/** Different ones by weight; fewer than asked for when they are hard to come by. */
function drawSome(attempt: Attempt, count: number): { index: number; standing: Standing }[] {
  const { pool, draws, facts, filter } = attempt;
  const drawn: { index: number; standing: Standing }[] = [];
  for (let left = 4 * count + 24; left > 0 && drawn.length < count; left--) {
    const index = pool.everyone.draw(draws);
    if (!filter.admits(index) || drawn.some((earlier) => earlier.index === index)) continue;
    const standing = facts.standing(index);
    if (standing >= AT_CAPACITY) continue;
    const share = weightShare(attempt, index, standing);
    if (share < 1 && draws.unit() >= share) continue;
    if (filter.rank(index) === 0) drawn.push({ index, standing });
  }
  return drawn;
}
