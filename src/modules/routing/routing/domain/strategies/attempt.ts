import type { CompiledPool } from "../compilation/compiled-pool.ts";
import type { Filter } from "../compilation/filter.ts";
import type { Contender, Facts, Survey, SurveyResult } from "../facts/facts.ts";
import { DEPRIORITIZED, type Standing } from "../facts/survey-record.ts";
import { type Draws, unitAt } from "../structures/chance.ts";

/** One try to find a recipient by one strategy. */
export interface Attempt {
  readonly pool: CompiledPool;
  readonly facts: Facts;
  readonly filter: Filter;
  readonly draws: Draws;
  /** The two halves of the seed. */
  readonly low: number;
  readonly high: number;
  readonly nowMs: number;
  /** What sticky_hash hashes. */
  readonly stickyKey: () => string;
}

/** What a strategy came to. */
export interface Choice {
  /** -1 for nobody. */
  readonly index: number;
  /** How it was found, for the trace. */
  readonly how: string;
  /** The last look over everyone, where there was one; always where nobody was found. */
  readonly seen?: SurveyResult;
}

/** How many contenders a survey keeps unless it needs more: the winner, and some to see it beside. */
const contendersKept = 4;
/** What counts of one that is deprioritized. */
const deprioritizedShare = 0.1;

/** What counts of a weight for how one stands. */
export function standingShare(standing: Standing): number {
  return standing === DEPRIORITIZED ? deprioritizedShare : 1;
}

/** What counts of a recipient's weight at the moment: less in slow start, and less when it is deprioritized. */
export function weightShare({ pool, nowMs }: Attempt, index: number, standing: Standing): number {
  return pool.warmth(index, nowMs) * standingShare(standing);
}

/** Work in flight for what one can bear: its capacity, or its weight where that has no bound. */
export function loadOf({ pool }: Attempt, index: number, standing: Standing, inFlight: number): number {
  return inFlight / ((pool.capacities[index]! || pool.weights[index]!) * standingShare(standing));
}

/** A number of one's own in this decision, for ties. */
export function tieOf({ low, high }: Attempt, index: number): number {
  return unitAt(low ^ 0x5bd1e995, high, index);
}

/**
 * When one arrives in a race in which chances are proportional to weights: an exponential variate of that rate. The first c
 * to arrive are a sample of c without replacement. Infinity for any that arrives after `best`.
 */
export function arrival({ low, high }: Attempt, index: number, weight: number, best: number): number {
  return arrivalOf(unitAt(low, high, index), weight, best);
}

/** The same for a number between 0 and 1 that is known already. */
export function arrivalOf(unit: number, weight: number, best: number): number {
  // -ln(u) is never below 1 - u, and most are far behind the best: that spares the logarithm.
  return (1 - unit) / weight > best ? Number.POSITIVE_INFINITY : -Math.log(unit) / weight;
}

/** Looks over all who may take the item. */
export function survey(
  attempt: Attempt,
  terms: Pick<Survey, "measure" | "score" | "second"> & { readonly keep?: number },
): SurveyResult {
  const { filter } = attempt;
  return attempt.facts.survey({
    among: filter.among,
    measure: terms.measure,
    keep: terms.keep ?? contendersKept,
    admits: filter.admitsAll ? undefined : (index) => filter.admits(index),
    rank: (index) => filter.rank(index),
    score: terms.score,
    ...(terms.second && { second: terms.second }),
    tie: (index) => tieOf(attempt, index),
  });
}

/** The choice that a survey leads to; its first unless another contender is named. */
export function surveyed(seen: SurveyResult, winner: Contender | undefined = seen.top[0]): Choice {
  return { index: winner?.index ?? -1, how: "best of all", seen };
}

/** Whether so few may take the item that drawing from everyone would mostly miss them. */
export function areFew({ filter, pool }: Attempt): boolean {
  return filter.among.length * 8 < pool.eligible.length;
}
