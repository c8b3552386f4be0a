/**
 * The live state that a decision read, in the order of the reads, as JSON. The same code replays the decision from
 * it. An absent field was never read. Recipients are identified by their index in the snapshot.
 *
 * Its size does not grow with the pool: draws are bounded, and a ranking stores only its best candidates.
 */
export interface Observation {
  readonly v: 1;
  /** Too many recipients were ejected, so ejection was ignored. */
  readonly ejectionIgnored?: true;
  /** Conditions exceeded the work limit; nothing else was decided. */
  readonly exhausted?: true;
  /** The call ran out of time; nothing was decided. */
  readonly deferred?: true;
  /** The availability of recipients that were read one by one: a letter each, see `availabilityCodes`. */
  readonly standings?: string;
  /** Items in flight of recipients that were compared one by one. */
  readonly inFlight?: readonly number[];
  /** The recipients in round-robin order that were read. */
  readonly turns?: readonly number[];
  /** For each rule over recipients: a recipient for which it held, -1 for none, -2 if it failed for all. */
  readonly witnesses?: readonly number[];
  /** The rankings. */
  readonly surveys?: readonly RankingRecord[];
}

/** The stored part of a ranking. */
export interface RankingRecord {
  /** The best candidates, best first: index, availability and metric of each, concatenated. */
  readonly top: readonly number[];
  readonly atCapacity: number;
  readonly ejected: number;
  /** Number of evaluated candidates that rules excluded. */
  readonly refused: number;
}

/** The current availability of a recipient. Values below `AT_CAPACITY` can be chosen. */
export type Availability = 0 | 1 | 2 | 3;
export const AVAILABLE = 0;
/** Can be chosen, with a tenth of its weight. */
export const DEPRIORITIZED = 1;
export const AT_CAPACITY = 2;
export const EJECTED = 3;

/** The letter of each availability: available, deprioritized, at capacity (full), ejected. */
export const availabilityCodes = "adfe";

/** Parses a letter; an invalid one means that the recipient cannot be chosen. */
export function parseAvailability(letter: string | undefined): Availability {
  const availability = letter === undefined ? -1 : availabilityCodes.indexOf(letter);
  return availability < 0 ? AT_CAPACITY : (availability as Availability);
}
