import type { CompiledPool } from "../compilation/compiled-pool.ts";
import type { Filter } from "../compilation/filter.ts";
import type { Facts, RankedCandidate, RankingQuery, RankingResult } from "../facts/facts.ts";
import { type Availability, DEPRIORITIZED } from "../facts/observation.ts";
import { type Draws, unitAt } from "../structures/seeded-random.ts";

/** An attempt to choose a recipient with one strategy. */
export interface Attempt {
  readonly pool: CompiledPool;
  readonly facts: Facts;
  readonly filter: Filter;
  readonly draws: Draws;
  /** The two halves of the seed. */
  readonly low: number;
  readonly high: number;
  readonly nowMs: number;
  /** The value that sticky_hash hashes. */
  readonly stickyKey: () => string;
}

export interface Choice {
  /** -1 for none. */
  readonly index: number;
  /** How the recipient was found, for the trace. */
  readonly how: string;
  /** The last ranking, if any; always present if no recipient was found. */
  readonly ranking?: RankingResult;
}

/** Default number of candidates in a ranking: the winner, and some for the trace. */
const candidatesRetained = 4;
/** The weight factor of a deprioritized recipient. */
const deprioritizedShare = 0.1;

/** Returns the weight factor of an availability. */
export function availabilityFactor(availability: Availability): number {
  return availability === DEPRIORITIZED ? deprioritizedShare : 1;
}

/** Returns the current weight factor: reduced during slow start and when deprioritized. */
export function weightFactor({ pool, nowMs }: Attempt, index: number, availability: Availability): number {
  return pool.slowStartFactor(index, nowMs) * availabilityFactor(availability);
}

/** Returns items in flight relative to the capacity, or to the weight if the capacity is unlimited. */
export function loadOf({ pool }: Attempt, index: number, availability: Availability, inFlight: number): number {
  return inFlight / ((pool.capacities[index]! || pool.weights[index]!) * availabilityFactor(availability));
}

/** Returns a random number of the recipient in this decision, for ties. */
export function tieOf({ low, high }: Attempt, index: number): number {
  return unitAt(low ^ 0x5bd1e995, high, index);
}

/**
 * Returns an exponential variate with rate `weight`: the arrival time in a race that each recipient wins with a
 * probability proportional to its weight. The first c arrivals are a sample of c without replacement. Returns
 * Infinity for arrivals after `best`.
 */
export function arrivalTime({ low, high }: Attempt, index: number, weight: number, best: number): number {
  return arrivalTimeOf(unitAt(low, high, index), weight, best);
}

/** Returns the arrival time for a known uniform variate. */
export function arrivalTimeOf(unit: number, weight: number, best: number): number {
  // -ln(u) >= 1 - u, and most recipients are far behind the best: this avoids the logarithm.
  return (1 - unit) / weight > best ? Number.POSITIVE_INFINITY : -Math.log(unit) / weight;
}

/** Ranks all recipients that may take the item. */
export function rankCandidates(
  attempt: Attempt,
  terms: Pick<RankingQuery, "metric" | "score" | "second"> & { readonly count?: number },
): RankingResult {
  const { filter } = attempt;
  return attempt.facts.rankCandidates({
    among: filter.among,
    metric: terms.metric,
    count: terms.count ?? candidatesRetained,
    admits: filter.admitsAll ? undefined : (index) => filter.admits(index),
    rank: (index) => filter.rank(index),
    score: terms.score,
    ...(terms.second && { second: terms.second }),
    tie: (index) => tieOf(attempt, index),
  });
}

/** Converts a ranking to a choice; the first candidate wins unless another one is given. */
export function toChoice(ranking: RankingResult, winner: RankedCandidate | undefined = ranking.top[0]): Choice {
  return { index: winner?.index ?? -1, how: "best of all", ranking };
}

/** Returns whether so few recipients match that random draws would mostly miss them. */
export function isSelective({ filter, pool }: Attempt): boolean {
  return filter.among.length * 8 < pool.eligible.length;
}
