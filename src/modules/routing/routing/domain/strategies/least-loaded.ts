import { AT_CAPACITY, type Availability } from "../facts/observation.ts";
import {
  type Attempt,
  arrivalTime,
  type Choice,
  isSelective,
  loadOf,
  rankCandidates,
  tieOf,
  toChoice,
  weightFactor,
} from "./attempt.ts";

/**
 * least_loaded: draws some recipients by weight and chooses the least loaded of them (the power of two choices), so
 * nodes with the same view do not all choose the same recipient. Ties are random, so the order gives no advantage.
 */
export function leastLoaded(attempt: Attempt): Choice {
  const { choiceCount } = attempt.pool.snapshot.pool.config.selection;
  const drawn =
    isSelective(attempt) || attempt.filter.among.length <= 2 * choiceCount ? [] : drawCandidates(attempt, choiceCount);
  if (drawn.length === choiceCount) {
    let best: LoadedCandidate | undefined;
    for (const { index, availability } of drawn) {
      const load = loadOf(attempt, index, availability, attempt.facts.inFlight(index));
      best = lessLoaded(attempt, best, { index, load });
    }
    return { index: best!.index, how: `least loaded of ${choiceCount}` };
  }
  const { weights } = attempt.pool;
  const ranking = rankCandidates(attempt, {
    metric: "inFlight",
    count: choiceCount,
    score: (index, availability, _, best) =>
      arrivalTime(attempt, index, weights[index]! * weightFactor(attempt, index, availability), best),
  });
  let best: LoadedCandidate | undefined;
  for (const { index, availability, value, rank } of ranking.top) {
    // Compare candidates of a lower rank only if there are no others.
    if (rank > ranking.top[0]!.rank) break;
    best = lessLoaded(attempt, best, { index, load: loadOf(attempt, index, availability, value) });
  }
  return { ...toChoice(ranking), index: best?.index ?? -1, how: `least loaded of ${ranking.top.length}` };
}

interface LoadedCandidate {
  readonly index: number;
  readonly load: number;
}

function lessLoaded(attempt: Attempt, one: LoadedCandidate | undefined, other: LoadedCandidate): LoadedCandidate {
  if (one === undefined || other.load < one.load) return other;
  if (other.load > one.load) return one;
  return tieOf(attempt, other.index) < tieOf(attempt, one.index) ? other : one;
}

/** Draws distinct recipients by weight; fewer than requested if they are hard to find. */
function drawCandidates(attempt: Attempt, count: number): { index: number; availability: Availability }[] {
  const { pool, draws, facts, filter } = attempt;
  const drawn: { index: number; availability: Availability }[] = [];
  for (let left = 4 * count + 24; left > 0 && drawn.length < count; left--) {
    const index = pool.eligibleTable.draw(draws);
    if (!filter.admits(index) || drawn.some((earlier) => earlier.index === index)) continue;
    const availability = facts.availability(index);
    if (availability >= AT_CAPACITY) continue;
    const share = weightFactor(attempt, index, availability);
    if (share < 1 && draws.unit() >= share) continue;
    if (filter.rank(index) === 0) drawn.push({ index, availability });
  }
  return drawn;
}
