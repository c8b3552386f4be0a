import type { TraceStep } from "./decision.ts";

const stepsMax = 64;
/** Separate limits for rules, so that rules without effect crowd out neither effective rules nor later steps. */
const quietRulesMax = 24;
const otherRulesMax = 16;

/** The steps of a decision in order, bounded; steps that exceed the bound are counted. */
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

  /** All steps; a final step reports the number of omitted ones. */
  get steps(): readonly TraceStep[] {
    if (this.#omitted === 0) return this.#steps;
    return [...this.#steps, { step: "omitted", result: String(this.#omitted) }];
  }
}
