import { unreachable } from "../../../../../errors/index.ts";
import { DEPRIORITIZED } from "../facts/observation.ts";
import { type Attempt, availabilityFactor, type Choice, loadOf, rankCandidates, tieOf, toChoice } from "./attempt.ts";
import { drawByWeight } from "./by-weight.ts";

/** The share of items chosen by weight instead, to notice improved metrics. */
const explorationShare = 0.01;
/** Ranks recipients that never had an item first; small enough to stay exact with milliseconds. */
const neverAssignedMs = 1e15;

/** skills_based: one of the recipients with the required skills, as the config of the pool says. */
export function skillsBased(attempt: Attempt): Choice {
  const { skillChoice } = attempt.pool.snapshot.pool.config.selection;
  switch (skillChoice) {
    case "best_skilled":
      return byMargin(attempt, -1);
    case "least_skilled":
      return { ...byMargin(attempt, 1), how: "least skilled that suffices" };
    case "longest_idle":
      return { ...longestIdle(attempt), how: "longest idle of the skilled" };
    default:
      return unreachable(skillChoice);
  }
}

/** Ranks by how far a recipient is above the required levels in total: the furthest first if negative. Ties by load. */
function byMargin(attempt: Attempt, sign: 1 | -1): Choice {
  return toChoice(
    rankCandidates(attempt, {
      metric: "inFlight",
      score: (index) => sign * attempt.filter.margin(index),
      second: (index, availability, inFlight) => loadOf(attempt, index, availability, inFlight),
    }),
  );
}

/** longest_idle: the least recently assigned recipient; first those never assigned, longest available first. */
export function longestIdle(attempt: Attempt): Choice {
  const { nowMs, pool } = attempt;
  return toChoice(
    rankCandidates(attempt, {
      metric: "lastAssignedAtMs",
      score: (index, availability, lastAssignedAtMs) => {
        const since = lastAssignedAtMs > 0 ? lastAssignedAtMs : pool.availableSinceMs[index]!;
        if (availability === DEPRIORITIZED) return nowMs - (nowMs - since) * availabilityFactor(availability);
        return lastAssignedAtMs > 0 ? since : since - neverAssignedMs;
      },
    }),
  );
}

/** lowest_cost: the lowest cost by outcomes, or the declared cost without outcomes. */
export function lowestCost(attempt: Attempt): Choice {
  return (
    explore(attempt) ??
    toChoice(
      rankCandidates(attempt, {
        metric: "cost",
        score: (_, availability, cost) => cost / availabilityFactor(availability),
      }),
    )
  );
}

/**
 * lowest_latency: the lowest latency by outcomes. A recipient without outcomes ties with the fastest, so it is
 * tried.
 */
export function lowestLatency(attempt: Attempt): Choice {
  const found = explore(attempt);
  if (found !== undefined) return found;
  const known = rankCandidates(attempt, {
    metric: "latencyMs",
    score: (_, availability, latencyMs) => latencyMs / availabilityFactor(availability),
  });
  const untried = rankCandidates(attempt, {
    metric: "untried",
    score: (_, availability, zero) => (availability === DEPRIORITIZED ? zero + 1 : zero),
  });
  const [fastest, newest] = [known.top[0], untried.top[0]];
  if (fastest === undefined || newest === undefined) {
    const ranking = { ...known, refused: known.refused + untried.refused };
    return toChoice(ranking, fastest ?? newest);
  }
  if (fastest.rank !== newest.rank) return toChoice(known, fastest.rank < newest.rank ? fastest : newest);
  const isNewest = newest.score === 0 && tieOf(attempt, newest.index) < tieOf(attempt, fastest.index);
  return toChoice(known, isNewest ? newest : fastest);
}

function explore(attempt: Attempt): Choice | undefined {
  if (attempt.draws.unit() >= explorationShare) return undefined;
  const drawn = drawByWeight(attempt, attempt.pool.eligibleTable);
  return drawn && { ...drawn, how: "explored" };
}
