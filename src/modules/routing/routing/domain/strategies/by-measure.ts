import { DEPRIORITIZED } from "../facts/survey-record.ts";
import { type Attempt, type Choice, loadOf, standingShare, survey, surveyed, tieOf } from "./attempt.ts";
import { drawByWeight } from "./by-weight.ts";

/** The share of items that go by weight instead, so that a number that has become better is noticed. */
const explorationShare = 0.01;
/** Puts those who never had an item before all others, and stays exact beside milliseconds. */
const neverAssignedMs = 1e15;

/** skills_based: whoever is furthest above the levels that are asked for, all skills together; equals by load. */
export function skillsBased(attempt: Attempt): Choice {
  return surveyed(
    survey(attempt, {
      measure: "inFlight",
      score: (index) => -attempt.filter.margin(index),
      second: (index, standing, inFlight) => loadOf(attempt, index, standing, inFlight),
    }),
  );
}

/** longest_idle: whoever was given an item longest ago; before them those who never were, the longest available first. */
export function longestIdle(attempt: Attempt): Choice {
  const { nowMs, pool } = attempt;
  return surveyed(
    survey(attempt, {
      measure: "lastAssignedAtMs",
      score: (index, standing, lastAssignedAtMs) => {
        const since = lastAssignedAtMs > 0 ? lastAssignedAtMs : pool.availableSinceMs[index]!;
        if (standing === DEPRIORITIZED) return nowMs - (nowMs - since) * standingShare(standing);
        return lastAssignedAtMs > 0 ? since : since - neverAssignedMs;
      },
    }),
  );
}

/** lowest_cost: the cheapest by outcomes; where there are none yet, by what the recipient declares. */
export function lowestCost(attempt: Attempt): Choice {
  return (
    explored(attempt) ??
    surveyed(survey(attempt, { measure: "cost", score: (_, standing, cost) => cost / standingShare(standing) }))
  );
}

/** lowest_latency: the fastest by outcomes. One without outcomes counts as fast as the fastest, so that it gets its try. */
export function lowestLatency(attempt: Attempt): Choice {
  const found = explored(attempt);
  if (found !== undefined) return found;
  const known = survey(attempt, {
    measure: "latencyMs",
    score: (_, standing, latencyMs) => latencyMs / standingShare(standing),
  });
  const untried = survey(attempt, {
    measure: "untried",
    score: (_, standing, zero) => (standing === DEPRIORITIZED ? zero + 1 : zero),
  });
  const [fastest, newest] = [known.top[0], untried.top[0]];
  if (fastest === undefined || newest === undefined) {
    const seen = { ...known, refused: known.refused + untried.refused };
    return surveyed(seen, fastest ?? newest);
  }
  if (fastest.rank !== newest.rank) return surveyed(known, fastest.rank < newest.rank ? fastest : newest);
  const isNewest = newest.score === 0 && tieOf(attempt, newest.index) < tieOf(attempt, fastest.index);
  return surveyed(known, isNewest ? newest : fastest);
}

function explored(attempt: Attempt): Choice | undefined {
  if (attempt.draws.unit() >= explorationShare) return undefined;
  const drawn = drawByWeight(attempt, attempt.pool.everyone);
  return drawn && { ...drawn, how: "explored" };
}
