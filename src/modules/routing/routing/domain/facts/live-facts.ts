import { unreachable } from "../../../../../errors/index.ts";
import type { CompiledPool } from "../compilation/compiled-pool.ts";
import {
  type Facts,
  hasBetterScore,
  isBetter,
  type RankedCandidate,
  type RankingMetric,
  type RankingQuery,
  type RankingResult,
} from "./facts.ts";
import type { LivePool } from "./live-pool.ts";
import {
  AVAILABLE,
  type Availability,
  availabilityCodes,
  DEPRIORITIZED,
  type Observation,
  type RankingRecord,
} from "./observation.ts";

/** Reads the live state of a pool and records what it read. */
export class LiveFacts implements Facts {
  readonly ejectionIgnored: boolean;
  readonly exhausted = false;
  readonly deferred = false;
  readonly #live: LivePool;
  readonly #nowMs: number;
  #standings = "";
  readonly #inFlight: number[] = [];
  readonly #turns: number[] = [];
  readonly #witnesses: number[] = [];
  readonly #surveys: RankingRecord[] = [];
  #order: Iterator<number> | undefined;

  constructor(pool: CompiledPool, live: LivePool, nowMs: number) {
    live.follow(pool);
    this.#live = live;
    this.#nowMs = nowMs;
    // If more than the configured share is ejected, the recipients are probably not at fault. Spreading the work
    // over all of them is better than rejecting it.
    this.ejectionIgnored =
      live.ejectedCount(nowMs) * 100 > pool.snapshot.pool.config.outlier.maxEjectedPct * pool.eligible.length;
  }

  availability(index: number): Availability {
    const availability = this.#live.availability(index, this.#nowMs, this.ejectionIgnored);
    this.#standings += availabilityCodes[availability];
    return availability;
  }

  inFlight(index: number): number {
    const inFlight = this.#live.inFlight[index]!;
    this.#inFlight.push(inFlight);
    return inFlight;
  }

  nthInTurn(nth: number): number {
    // Every attempt starts with the first recipient.
    if (nth === 0) this.#order = undefined;
    const index = nth === 0 ? this.#live.turns.first : this.#nextInTurn();
    this.#turns.push(index);
    return index;
  }

  /** Returns the next recipient after the first and those returned before. */
  #nextInTurn(): number {
    if (this.#order === undefined) {
      this.#order = this.#live.turns.inOrder();
      this.#order.next();
    }
    const { done, value } = this.#order.next();
    return done === true ? -1 : value;
  }

  findWitness(search: () => number): number {
    const found = search();
    this.#witnesses.push(found);
    return found;
  }

  recordOffer(index: number): void {
    this.#live.offered = index;
  }

  rankCandidates(query: RankingQuery): RankingResult {
    const result = this.#rank(query);
    const top: number[] = [];
    for (const { index, availability, value } of result.top) top.push(index, availability, value);
    const { atCapacity, ejected, refused } = result;
    this.#surveys.push({ top, atCapacity, ejected, refused });
    return result;
  }

  observed(exhausted: boolean): Observation {
    if (exhausted) return { v: 1, exhausted: true };
    // Assigned field by field: spreading objects costs as much as the whole decision.
    const observed: { -readonly [Name in keyof Observation]: Observation[Name] } = { v: 1 };
    if (this.ejectionIgnored) observed.ejectionIgnored = true;
    if (this.#standings !== "") observed.standings = this.#standings;
    if (this.#inFlight.length > 0) observed.inFlight = this.#inFlight;
    if (this.#turns.length > 0) observed.turns = this.#turns;
    if (this.#witnesses.length > 0) observed.witnesses = this.#witnesses;
    if (this.#surveys.length > 0) observed.surveys = this.#surveys;
    return observed;
  }

  #rank(query: RankingQuery): RankingResult {
    const { among, metric, count, admits } = query;
    const { inFlight, ejectedUntilMs, deprioritizedUntilMs } = this.#live;
    const { capacities } = this.#live.pool;
    // If ejection is ignored, no ejection lasts long enough.
    const ejectedFromMs = this.ejectionIgnored ? Number.POSITIVE_INFINITY : this.#nowMs;
    const readMetric = metricReader(this.#live, metric);
    const top: RankedCandidate[] = [];
    let [atCapacity, ejected, refused] = [0, 0, 0];
    // The score needed to be among the best. Rules may still rank a candidate before those with a better score.
    let bar = Number.POSITIVE_INFINITY;
    let last: RankedCandidate | undefined;
    for (let at = 0; at < among.length; at++) {
      const index = among[at]!;
      if (admits !== undefined && !admits(index)) continue;
      // Same as `LivePool.availability`, inlined to avoid a call for each of thousands of recipients.
      if (ejectedUntilMs[index]! > ejectedFromMs) {
        ejected++;
        continue;
      }
      if (capacities[index]! > 0 && inFlight[index]! >= capacities[index]!) {
        atCapacity++;
        continue;
      }
      const availability: Availability = deprioritizedUntilMs[index]! > this.#nowMs ? DEPRIORITIZED : AVAILABLE;
      const value = readMetric(index);
      const score = query.score(index, availability, value, bar);
      if (!(score <= bar)) continue;
      const second = query.second?.(index, availability, value) ?? 0;
      const candidate = { index, availability, value, rank: 0, score, second, tie: query.tie(index) };
      if (last !== undefined && last.rank === 0 && !hasBetterScore(candidate, last)) continue;
      candidate.rank = query.rank(index);
      if (candidate.rank < 0) {
        refused++;
        continue;
      }
      insert(top, candidate, count);
      last = top[count - 1];
      if (last !== undefined && last.rank === 0) bar = last.score;
    }
    return { top, atCapacity, ejected, refused };
  }
}

function metricReader(live: LivePool, metric: RankingMetric): (index: number) => number {
  const { latencyMs, cost, turns } = live;
  switch (metric) {
    case "nothing":
      return () => 0;
    case "inFlight":
    case "latencyMs":
    case "lastAssignedAtMs": {
      const column = live[metric];
      return (index) => column[index]!;
    }
    case "untried":
      return (index) => (Number.isNaN(latencyMs[index]!) ? 0 : Number.NaN);
    case "cost": {
      const { costs } = live.pool;
      return (index) => (Number.isNaN(cost[index]!) ? costs[index]! : cost[index]!);
    }
    case "turn":
      return (index) => turns.rank(index);
    default:
      return unreachable(metric);
  }
}

/** Inserts a candidate in order and drops the last one if there are too many. */
function insert(top: RankedCandidate[], candidate: RankedCandidate, count: number): void {
  let position = top.length;
  while (position > 0 && isBetter(candidate, top[position - 1]!)) position--;
  if (position >= count) return;
  top.splice(position, 0, candidate);
  if (top.length > count) top.pop();
}
