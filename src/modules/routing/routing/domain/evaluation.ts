import { type CelExpression, evaluateCondition, type WorkMeter } from "../../../../platform/cel/index.ts";
import type { CompiledPool } from "./compilation/compiled-pool.ts";
import {
  type AnswerRow,
  type Condition,
  DOES_NOT,
  FAILED,
  HOLDS,
  UNKNOWN,
  type Verdict,
} from "./compilation/condition.ts";
import type { DecisionPoint } from "./decision.ts";
import type { RoutableItem } from "./item.ts";

/** Work that the conditions of one decision may do, in steps of CEL; remembered answers cost nothing. */
const stepsMax = 250_000;
/** What an evaluation costs besides the steps that CEL counts. */
const stepsPerEvaluation = 10;
/** How much work is done between two looks at the slice's time. */
const stepsPerLook = 500;

/** A condition together with its answers for the item in hand. */
export interface Question {
  readonly condition: Condition;
  readonly row: AnswerRow;
}

/** What conditions see. */
interface Values extends Readonly<Record<string, unknown>> {
  readonly item: object;
  readonly pool: object;
  readonly now: Date;
}

/**
 * Evaluates conditions for one item, each for each recipient at most once, within what a decision may cost.
 *
 * An evaluation can pause: from then on every new answer is FAILED, and whoever asked starts over after `resume`. All answers
 * are remembered, so starting over costs little and comes to the same result.
 */
export class Evaluation {
  /** Conditions took more work than a decision may do. */
  exhausted = false;
  /** The slice of the event loop is used up. */
  paused = false;
  readonly #pool: CompiledPool;
  readonly #item: RoutableItem;
  readonly #nowMs: number;
  readonly #stepsMax: number;
  readonly #work: WorkMeter;
  // Made when first used: most decisions ask nothing.
  #verdicts: Map<Condition, Verdict> | undefined;
  #questions: Map<Condition, Question> | undefined;
  #values: Map<CelExpression, unknown> | undefined;
  #sliceIsOver: (() => boolean) | undefined;
  #lookAtSteps = stepsPerLook;
  #celItem: object | undefined;
  #alone: Values | undefined;
  #withRecipient: (Values & { recipient: object }) | undefined;

  /** `steps`: work that was done for the same decision before. */
  constructor(pool: CompiledPool, item: RoutableItem, at: DecisionPoint, steps = 0) {
    this.#work = { steps };
    this.#pool = pool;
    this.#item = item;
    this.#nowMs = at.nowMs;
    this.#stepsMax = at.stepsMax ?? stepsMax;
  }

  /** No new answer can be had: whatever is decided from here on does not count. */
  get stopped(): boolean {
    return this.exhausted || this.paused;
  }

  /** Work done so far. */
  get steps(): number {
    return this.#work.steps;
  }

  /** Goes on until the slice is over; at least one condition is evaluated in each slice. */
  resume(sliceIsOver: () => boolean): void {
    this.paused = false;
    this.#sliceIsOver = sliceIsOver;
    this.#lookAtSteps = this.#work.steps + stepsPerLook;
  }

  /** What conditions and hash keys see of the item. */
  get item(): object {
    this.#celItem ??= celItem(this.#item);
    return this.#celItem;
  }

  question(condition: Condition): Question {
    let question = this.#questions?.get(condition);
    if (question === undefined) {
      question = { condition, row: condition.rowFor(this.item) };
      this.#questions ??= new Map();
      this.#questions.set(condition, question);
    }
    return question;
  }

  /** The verdict without a recipient: FAILED for a condition that cannot be told without one. */
  alone({ condition, row }: Question): Verdict {
    if (row.withoutRecipient !== UNKNOWN) return row.withoutRecipient;
    const verdict = this.#evaluate(condition, this.#valuesAlone());
    if (!this.stopped) row.withoutRecipient = verdict;
    return verdict;
  }

  /** The verdict on a condition that names no recipient. */
  ofItem(condition: Condition): Verdict {
    const known = this.#verdicts?.get(condition);
    if (known !== undefined) return known;
    const verdict = this.#evaluate(condition, this.#valuesAlone());
    if (this.stopped) return verdict;
    this.#verdicts ??= new Map();
    this.#verdicts.set(condition, verdict);
    return verdict;
  }

  /** The verdict for one recipient. */
  of({ condition, row }: Question, index: number): Verdict {
    const known = row.get(index);
    if (known !== UNKNOWN) return known;
    this.#withRecipient ??= { ...this.#valuesAlone(), recipient: {} };
    this.#withRecipient.recipient = this.#pool.celRecipient(index);
    const verdict = this.#evaluate(condition, this.#withRecipient);
    if (!this.stopped) row.set(index, verdict);
    return verdict;
  }

  /** The value of an expression over the item alone; undefined when it fails. */
  valueOf(expression: CelExpression): unknown {
    this.#values ??= new Map();
    if (this.#values.has(expression)) return this.#values.get(expression);
    if (!this.#mayEvaluate()) return undefined;
    let value: unknown;
    try {
      value = expression.evaluate({ item: this.item }, this.#work);
    } catch {
      value = undefined;
    }
    this.#values.set(expression, value);
    return value;
  }

  #valuesAlone(): Values {
    this.#alone ??= { item: this.item, pool: this.#pool.celPool, now: new Date(this.#nowMs) };
    return this.#alone;
  }

  #evaluate({ expression }: Condition, values: Values): Verdict {
    if (expression === undefined || !this.#mayEvaluate()) return FAILED;
    try {
      return evaluateCondition(expression, values, this.#work) ? HOLDS : DOES_NOT;
    } catch {
      return FAILED;
    }
  }

  #mayEvaluate(): boolean {
    if (this.stopped) return false;
    const work = this.#work;
    if (work.steps >= this.#stepsMax) {
      this.exhausted = true;
      return false;
    }
    if (work.steps >= this.#lookAtSteps) {
      this.#lookAtSteps = work.steps + stepsPerLook;
      if (this.#sliceIsOver?.() === true) {
        this.paused = true;
        return false;
      }
    }
    work.steps += stepsPerEvaluation;
    return true;
  }
}

/** The item as conditions see it: named as on the wire. */
function celItem({ type, key, attributes, requirements, priority }: RoutableItem): object {
  return {
    type,
    key,
    attributes,
    requirements: {
      skills: requirements.skills,
      recipient_id: requirements.recipientId,
      excluded_recipient_ids: requirements.excludedRecipientIds,
    },
    priority,
  };
}
