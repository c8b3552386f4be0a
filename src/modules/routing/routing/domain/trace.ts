import type { TraceStep } from "./decision.ts";

const stepsMax = 64;
/** What rules may take of it, so that neither those that did something nor the steps behind them are lost. */
const quietRulesMax = 24;
const otherRulesMax = 16;

/** The steps that lead to a decision, in order and bounded: what does not fit is counted. */
export class Trace {
  readonly #steps: TraceStep[] = [];
  #quietRules = 0;
  #otherRules = 0;
  #omitted = 0;

  add(step: TraceStep["step"], result: string, about: { id?: string; detail?: string } = {}): void {
    if (this.#hasRoom(step, result)) this.#steps.push({ step, ...about, result });
    else this.#omitted++;
  }

  #hasRoom(step: TraceStep["step"], result: string): boolean {
    if (step !== "rule") return this.#steps.length < stepsMax - 1;
    return result === "not_matched" ? ++this.#quietRules <= quietRulesMax : ++this.#otherRules <= otherRulesMax;
  }

  /** All steps; the last one says how many more there were. */
  get steps(): readonly TraceStep[] {
    if (this.#omitted === 0) return this.#steps;
    return [...this.#steps, { step: "omitted", result: String(this.#omitted) }];
  }
}
