/**
 * What a decision saw of the moment, in the order in which it asked, so that the same code comes to the same decision
 * without it. JSON as it is. Absent means never asked. Recipients are named by their index in the snapshot.
 *
 * Its size does not grow with the pool: draws are bounded, and a look over everyone keeps only those that came out on top.
 */
export interface Observed {
  readonly v: 1;
  /** So many were ejected that ejection was ignored. */
  readonly ejectionIgnored?: true;
  /** Conditions took too much work; nothing else was decided. */
  readonly exhausted?: true;
  /** The call had no time left: nothing was decided. */
  readonly deferred?: true;
  /** How those stood who were looked at one by one: a letter each, see `standingLetters`. */
  readonly standings?: string;
  /** What those had in flight who were compared one by one. */
  readonly inFlight?: readonly number[];
  /** Whose turn it was, and who would have been next. */
  readonly turns?: readonly number[];
  /** For each rule that depends on the recipient: one for whom it held, -1 for nobody, -2 where it failed for all. */
  readonly witnesses?: readonly number[];
  /** Each look over everyone. */
  readonly surveys?: readonly SurveyRecord[];
}

/** What is kept of a look over everyone. */
export interface SurveyRecord {
  /** The best, best first: index, standing and the number looked at, one after the other. */
  readonly top: readonly number[];
  readonly atCapacity: number;
  readonly ejected: number;
  /** Those of the others whom rules kept out, as far as they were asked about. */
  readonly refused: number;
}

/** How a recipient stands at the moment. Those below `AT_CAPACITY` may be chosen. */
export type Standing = 0 | 1 | 2 | 3;
export const AVAILABLE = 0;
/** May be chosen, but counts for a tenth. */
export const DEPRIORITIZED = 1;
export const AT_CAPACITY = 2;
export const EJECTED = 3;

/** The letter of each standing: available, deprioritized, at capacity (full), ejected. */
export const standingLetters = "adfe";

/** The standing that a letter means; what is no letter stands for one that cannot be chosen. */
export function standingOf(letter: string | undefined): Standing {
  const standing = letter === undefined ? -1 : standingLetters.indexOf(letter);
  return standing < 0 ? AT_CAPACITY : (standing as Standing);
}
