import type { Observed, Standing } from "./survey-record.ts";

/**
 * What of a recipient's moment a survey looks at. latencyMs: NaN while it is not known. untried: 0 while its latency is not
 * known, NaN otherwise. cost: the declared one until outcomes tell. turn: orders everyone by turn.
 */
export type Measure = "nothing" | "inFlight" | "latencyMs" | "untried" | "cost" | "lastAssignedAtMs" | "turn";

/** How a look over everyone is done: who is in it, and who is better than whom. */
export interface Survey {
  readonly among: Uint32Array;
  readonly measure: Measure;
  /** How many of the best are kept. */
  readonly keep: number;
  /** Whether one fulfils what the item requires; absent where all do. */
  readonly admits?: ((index: number) => boolean) | undefined;
  /** How rules rank one: 0 is best, below 0 is not let in. Asked last: it may be costly. */
  rank(index: number): number;
  /** Smaller is better; NaN leaves one out. May be Infinity for any that is above `best`. */
  score(index: number, standing: Standing, value: number, best: number): number;
  /** Decides between equal scores; smaller is better. */
  second?(index: number, standing: Standing, value: number): number;
  /** Decides between those that are still equal; different for all. */
  tie(index: number): number;
}

/** One that a survey kept. */
export interface Contender {
  readonly index: number;
  readonly standing: Standing;
  readonly value: number;
  readonly rank: number;
  readonly score: number;
  readonly second: number;
  readonly tie: number;
}

/** What came of a survey. */
export interface SurveyResult {
  /** Best first. */
  readonly top: readonly Contender[];
  readonly atCapacity: number;
  readonly ejected: number;
  readonly refused: number;
}

/**
 * What a decision asks about the moment. One implementation looks and writes down what it saw, the other one reads that
 * back: the decision cannot tell them apart.
 */
export interface Facts {
  /** So many are ejected that ejection is ignored. */
  readonly ejectionIgnored: boolean;
  /** Conditions took too much work when this was first decided. */
  readonly exhausted: boolean;
  /** The decision was left to the background. */
  readonly deferred: boolean;
  standing(index: number): Standing;
  inFlight(index: number): number;
  /** Whose turn it is: the nth to ask after; -1 when there is nobody left. */
  turn(nth: number): number;
  survey(survey: Survey): SurveyResult;
  /** The result of a search that depends on no moment, but may be long. */
  witness(search: () => number): number;
  /** Tells that a decision in turn came to one; -1 takes that back. */
  offered(index: number): void;
  /** All that was asked and answered; `exhausted` leaves everything else out. */
  observed(exhausted: boolean): Observed;
}

/** Whether one contender goes before another. */
export function isBetter(one: Contender, other: Contender): boolean {
  return one.rank !== other.rank ? one.rank < other.rank : hasBetterScore(one, other);
}

/** Whether one goes before another whom rules rank the same. */
export function hasBetterScore(one: Omit<Contender, "rank">, other: Contender): boolean {
  if (one.score !== other.score) return one.score < other.score;
  if (one.second !== other.second) return one.second < other.second;
  return one.tie !== other.tie ? one.tie < other.tie : one.index < other.index;
}
