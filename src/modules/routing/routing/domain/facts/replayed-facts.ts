import type { CompiledPool } from "../compilation/compiled-pool.ts";
import { type Contender, type Facts, isBetter, type Survey, type SurveyResult } from "./facts.ts";
import { type Observed, type Standing, standingOf } from "./survey-record.ts";

/**
 * Answers as it was written down. Contenders are judged anew: what rules and scores say of them is worked out again.
 * Where a record ends too early, nobody can be chosen: the decision comes out different, and that is what a replay shows.
 */
export class ReplayedFacts implements Facts {
  readonly ejectionIgnored: boolean;
  readonly exhausted: boolean;
  readonly deferred: boolean;
  readonly #pool: CompiledPool;
  readonly #observed: Observed;
  #standings = 0;
  #inFlight = 0;
  #turns = 0;
  #witnesses = 0;
  #surveys = 0;

  constructor(pool: CompiledPool, observed: Observed) {
    this.#pool = pool;
    this.#observed = observed;
    this.ejectionIgnored = observed.ejectionIgnored === true;
    this.exhausted = observed.exhausted === true;
    this.deferred = observed.deferred === true;
  }

  standing(): Standing {
    return standingOf(this.#observed.standings?.[this.#standings++]);
  }

  inFlight(): number {
    return this.#observed.inFlight?.[this.#inFlight++] ?? 0;
  }

  turn(): number {
    return this.#known(this.#observed.turns?.[this.#turns++] ?? -1);
  }

  witness(): number {
    return this.#known(this.#observed.witnesses?.[this.#witnesses++] ?? -1);
  }

  offered(): void {}

  survey(survey: Survey): SurveyResult {
    const record = this.#observed.surveys?.[this.#surveys++];
    if (record === undefined) return { top: [], atCapacity: 0, ejected: 0, refused: 0 };
    const top: Contender[] = [];
    for (let at = 0; at + 2 < record.top.length; at += 3) {
      const [index, value] = [this.#known(record.top[at]!), record.top[at + 2]!];
      if (index < 0) continue;
      const standing = record.top[at + 1] as Standing;
      const score = survey.score(index, standing, value, Number.POSITIVE_INFINITY);
      const rank = survey.rank(index);
      if (survey.admits?.(index) === false || rank < 0 || Number.isNaN(score)) continue;
      const second = survey.second?.(index, standing, value) ?? 0;
      top.push({ index, standing, value, rank, score, second, tie: survey.tie(index) });
    }
    top.sort((one, other) => (isBetter(one, other) ? -1 : 1));
    const { atCapacity, ejected, refused } = record;
    return { top, atCapacity, ejected, refused };
  }

  observed(): Observed {
    return this.#observed;
  }

  /** An index as it is, or -1 for one that no decision over this snapshot could have seen. */
  #known(index: number): number {
    return index < 0 || this.#pool.weights[index]! > 0 ? index : -1;
  }
}
