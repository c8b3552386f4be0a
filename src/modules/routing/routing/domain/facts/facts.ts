import type { Availability, Observation } from "./observation.ts";

/**
 * The live value of a recipient that a ranking uses. latencyMs: NaN if unknown. untried: 0 if the latency is
 * unknown, NaN otherwise. cost: the declared cost until outcomes report one. turn: the round-robin order.
 */
export type RankingMetric = "nothing" | "inFlight" | "latencyMs" | "untried" | "cost" | "lastAssignedAtMs" | "turn";

/** Defines which recipients are ranked and how they compare. */
export interface RankingQuery {
  readonly among: Uint32Array;
  readonly metric: RankingMetric;
  /** Number of best candidates to return. */
  readonly count: number;
  /** Returns whether a recipient fulfils the requirements of the item; absent if all do. */
  readonly admits?: ((index: number) => boolean) | undefined;
  /** Returns the rank by rules: 0 is best, below 0 is excluded. Called last because it may be costly. */
  rank(index: number): number;
  /** Smaller is better; NaN excludes a recipient. May return Infinity for any score above `best`. */
  score(index: number, availability: Availability, value: number, best: number): number;
  /** Breaks ties of the score; smaller is better. */
  second?(index: number, availability: Availability, value: number): number;
  /** Breaks remaining ties; different for all recipients. */
  tie(index: number): number;
}

export interface RankedCandidate {
  readonly index: number;
  readonly availability: Availability;
  readonly value: number;
  readonly rank: number;
  readonly score: number;
  readonly second: number;
  readonly tie: number;
}

export interface RankingResult {
  /** Best candidates first. */
  readonly top: readonly RankedCandidate[];
  readonly atCapacity: number;
  readonly ejected: number;
  readonly refused: number;
}

/**
 * The live state that a decision reads. LiveFacts reads and records it; ReplayedFacts returns recorded values. A
 * decision cannot tell them apart.
 */
export interface Facts {
  /** Too many recipients are ejected, so ejection is ignored. */
  readonly ejectionIgnored: boolean;
  /** Conditions exceeded the work limit in the original decision. */
  readonly exhausted: boolean;
  /** The original decision was deferred to the background. */
  readonly deferred: boolean;
  availability(index: number): Availability;
  inFlight(index: number): number;
  /** Returns the nth recipient in round-robin order; -1 if none is left. */
  nthInTurn(nth: number): number;
  rankCandidates(query: RankingQuery): RankingResult;
  /** Returns the result of a search that does not depend on live state but may be slow. */
  findWitness(search: () => number): number;
  /** Records the recipient that round robin offered the item to; -1 withdraws the offer. */
  recordOffer(index: number): void;
  /** Returns everything that was read; `exhausted` omits all other state. */
  observed(exhausted: boolean): Observation;
}

/** Returns whether one candidate precedes another. */
export function isBetter(one: RankedCandidate, other: RankedCandidate): boolean {
  return one.rank !== other.rank ? one.rank < other.rank : hasBetterScore(one, other);
}

/** Returns whether one candidate precedes another of the same rank. */
export function hasBetterScore(one: Omit<RankedCandidate, "rank">, other: RankedCandidate): boolean {
  if (one.score !== other.score) return one.score < other.score;
  if (one.second !== other.second) return one.second < other.second;
  return one.tie !== other.tie ? one.tie < other.tie : one.index < other.index;
}
