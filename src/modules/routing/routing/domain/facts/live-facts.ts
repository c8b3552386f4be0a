import { unreachable } from "../../../../../errors/index.ts";
import type { CompiledPool } from "../compilation/compiled-pool.ts";
import {
  type Contender,
  type Facts,
  hasBetterScore,
  isBetter,
  type Measure,
  type Survey,
  type SurveyResult,
} from "./facts.ts";
import type { LivePool } from "./live-pool.ts";
import {
  AVAILABLE,
  DEPRIORITIZED,
  type Observed,
  type Standing,
  type SurveyRecord,
  standingLetters,
} from "./survey-record.ts";

/** Looks at the moment, and writes down what it saw. */
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
  readonly #surveys: SurveyRecord[] = [];
  #order: Iterator<number> | undefined;

  constructor(pool: CompiledPool, live: LivePool, nowMs: number) {
    live.follow(pool);
    this.#live = live;
    this.#nowMs = nowMs;
    // Where more than the pool's share is ejected, the fault is hardly theirs: work spread over all of them beats none at all.
    this.ejectionIgnored =
      live.ejectedCount(nowMs) * 100 > pool.snapshot.pool.config.outlier.maxEjectedPct * pool.eligible.length;
  }

  standing(index: number): Standing {
    const standing = this.#live.standing(index, this.#nowMs, this.ejectionIgnored);
    this.#standings += standingLetters[standing];
    return standing;
  }

  inFlight(index: number): number {
    const inFlight = this.#live.inFlight[index]!;
    this.#inFlight.push(inFlight);
    return inFlight;
  }

  turn(nth: number): number {
    // Every try begins with the first.
    if (nth === 0) this.#order = undefined;
    const index = nth === 0 ? this.#live.turns.first : this.#nextInTurn();
    this.#turns.push(index);
    return index;
  }

  /** Whoever comes next after the first and those that were asked for before. */
  #nextInTurn(): number {
    if (this.#order === undefined) {
      this.#order = this.#live.turns.inOrder();
      this.#order.next();
    }
    const { done, value } = this.#order.next();
    return done === true ? -1 : value;
  }

  witness(search: () => number): number {
    const found = search();
    this.#witnesses.push(found);
    return found;
  }

  offered(index: number): void {
    this.#live.offered = index;
  }

  survey(survey: Survey): SurveyResult {
    const result = this.#look(survey);
    const top: number[] = [];
    for (const { index, standing, value } of result.top) top.push(index, standing, value);
    const { atCapacity, ejected, refused } = result;
    this.#surveys.push({ top, atCapacity, ejected, refused });
    return result;
  }

  observed(exhausted: boolean): Observed {
    if (exhausted) return { v: 1, exhausted: true };
    // Set one by one, since an object that is put together from others costs as much as the decision.
    const observed: { -readonly [Name in keyof Observed]: Observed[Name] } = { v: 1 };
    if (this.ejectionIgnored) observed.ejectionIgnored = true;
    if (this.#standings !== "") observed.standings = this.#standings;
    if (this.#inFlight.length > 0) observed.inFlight = this.#inFlight;
    if (this.#turns.length > 0) observed.turns = this.#turns;
    if (this.#witnesses.length > 0) observed.witnesses = this.#witnesses;
    if (this.#surveys.length > 0) observed.surveys = this.#surveys;
    return observed;
  }

  #look(survey: Survey): SurveyResult {
    const { among, measure, keep, admits } = survey;
    const { inFlight, ejectedUntilMs, deprioritizedUntilMs } = this.#live;
    const { capacities } = this.#live.pool;
    // Where ejection is ignored, nobody's lasts long enough.
    const ejectedFromMs = this.ejectionIgnored ? Number.POSITIVE_INFINITY : this.#nowMs;
    const measured = measuring(this.#live, measure);
    const top: Contender[] = [];
    let [atCapacity, ejected, refused] = [0, 0, 0];
    // The score to be among the best; rules may still put one before those with a better score.
    let bar = Number.POSITIVE_INFINITY;
    let last: Contender | undefined;
    for (let at = 0; at < among.length; at++) {
      const index = among[at]!;
      if (admits !== undefined && !admits(index)) continue;
      // The same as `LivePool.standing`, without a call for each of thousands.
      if (ejectedUntilMs[index]! > ejectedFromMs) {
        ejected++;
        continue;
      }
      if (capacities[index]! > 0 && inFlight[index]! >= capacities[index]!) {
        atCapacity++;
        continue;
      }
      const standing: Standing = deprioritizedUntilMs[index]! > this.#nowMs ? DEPRIORITIZED : AVAILABLE;
      const value = measured(index);
      const score = survey.score(index, standing, value, bar);
      if (!(score <= bar)) continue;
      const second = survey.second?.(index, standing, value) ?? 0;
      const contender = { index, standing, value, rank: 0, score, second, tie: survey.tie(index) };
      if (last !== undefined && last.rank === 0 && !hasBetterScore(contender, last)) continue;
      contender.rank = survey.rank(index);
      if (contender.rank < 0) {
        refused++;
        continue;
      }
      insert(top, contender, keep);
      last = top[keep - 1];
      if (last !== undefined && last.rank === 0) bar = last.score;
    }
    return { top, atCapacity, ejected, refused };
  }
}

/** How a measure is read. */
function measuring(live: LivePool, measure: Measure): (index: number) => number {
  const { latencyMs, cost, turns } = live;
  switch (measure) {
    case "nothing":
      return () => 0;
    case "inFlight":
    case "latencyMs":
    case "lastAssignedAtMs": {
      const column = live[measure];
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
      return unreachable(measure);
  }
}

/** Puts a contender in its place among the best, and drops the one that is too many. */
function insert(top: Contender[], contender: Contender, keep: number): void {
  let place = top.length;
  while (place > 0 && isBetter(contender, top[place - 1]!)) place--;
  if (place >= keep) return;
  top.splice(place, 0, contender);
  if (top.length > keep) top.pop();
}
