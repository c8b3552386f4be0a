import type { CompiledPool } from "../compilation/compiled-pool.ts";
import { type Facts, isBetter, type RankedCandidate, type RankingQuery, type RankingResult } from "./facts.ts";
import { type Availability, type Observation, parseAvailability } from "./observation.ts";

/**
 * Returns recorded state. Ranks and scores of candidates are computed again. If the record is too short, no
 * recipient can be chosen, and the replay reports a different decision.
 */
export class ReplayedFacts implements Facts {
  readonly ejectionIgnored: boolean;
  readonly exhausted: boolean;
  readonly deferred: boolean;
  readonly #pool: CompiledPool;
  readonly #observed: Observation;
  #standings = 0;
  #inFlight = 0;
  #turns = 0;
  #witnesses = 0;
  #surveys = 0;

  constructor(pool: CompiledPool, observed: Observation) {
    this.#pool = pool;
    this.#observed = observed;
    this.ejectionIgnored = observed.ejectionIgnored === true;
    this.exhausted = observed.exhausted === true;
    this.deferred = observed.deferred === true;
  }

  availability(): Availability {
    return parseAvailability(this.#observed.standings?.[this.#standings++]);
  }

  inFlight(): number {
    return this.#observed.inFlight?.[this.#inFlight++] ?? 0;
  }

  nthInTurn(): number {
    return this.#known(this.#observed.turns?.[this.#turns++] ?? -1);
  }

  findWitness(): number {
    return this.#known(this.#observed.witnesses?.[this.#witnesses++] ?? -1);
  }

  recordOffer(): void {}

  rankCandidates(query: RankingQuery): RankingResult {
    const record = this.#observed.surveys?.[this.#surveys++];
    if (record === undefined) return { top: [], atCapacity: 0, ejected: 0, refused: 0 };
    const top: RankedCandidate[] = [];
    for (let at = 0; at + 2 < record.top.length; at += 3) {
      const [index, value] = [this.#known(record.top[at]!), record.top[at + 2]!];
      if (index < 0) continue;
      const availability = record.top[at + 1] as Availability;
      const score = query.score(index, availability, value, Number.POSITIVE_INFINITY);
      const rank = query.rank(index);
      if (query.admits?.(index) === false || rank < 0 || Number.isNaN(score)) continue;
      const second = query.second?.(index, availability, value) ?? 0;
      top.push({ index, availability, value, rank, score, second, tie: query.tie(index) });
    }
    top.sort((one, other) => (isBetter(one, other) ? -1 : 1));
    const { atCapacity, ejected, refused } = record;
    return { top, atCapacity, ejected, refused };
  }

  observed(): Observation {
    return this.#observed;
  }

  /** Returns the index, or -1 for an index that is not eligible in this snapshot. */
  #known(index: number): number {
    return index < 0 || this.#pool.weights[index]! > 0 ? index : -1;
  }
}
