import { type CelExpression, evaluateCondition, type WorkMeter } from "../../../../platform/cel/index.ts";
import type { CompiledPool } from "./compilation/compiled-pool.ts";
import {
  type Condition,
  DOES_NOT_HOLD,
  FAILED,
  HOLDS,
  type ResultRow,
  UNKNOWN,
  type Verdict,
} from "./compilation/condition.ts";
import type { DecisionPoint } from "./decision.ts";
import type { RoutableItem } from "./item.ts";

/** Limit of CEL steps for the conditions of one decision; cached results cost nothing. */
const stepsMax = 250_000;
/** The overhead of an evaluation in CEL steps. */
const stepsPerEvaluation = 10;
/** The number of steps between two checks of the time slice. */
const stepsPerCheck = 500;

/** A condition with its cached results for the current item. */
export interface BoundCondition {
  readonly condition: Condition;
  readonly row: ResultRow;
}

/** Variables of conditions. */
interface Values extends Readonly<Record<string, unknown>> {
  readonly item: object;
  readonly pool: object;
  readonly now: Date;
}

/**
 * Evaluates conditions for one item, at most once per recipient and within the work limit of a decision.
 *
 * An evaluation can pause: every further result is FAILED, and the caller starts over after `resume`. Results are
 * cached, so starting over is cheap and gives the same result.
 */
export class Evaluation {
  /** Conditions exceeded the work limit. */
  exhausted = false;
  /** The time slice ended. */
  paused = false;
  readonly #pool: CompiledPool;
  readonly #item: RoutableItem;
  readonly #nowMs: number;
  readonly #stepsMax: number;
  readonly #meter: WorkMeter;
  // Created on first use: most decisions evaluate no condition.
  #verdicts: Map<Condition, Verdict> | undefined;
  #bound: Map<Condition, BoundCondition> | undefined;
  #values: Map<CelExpression, unknown> | undefined;
  #sliceIsOver: (() => boolean) | undefined;
  #checkAtSteps = stepsPerCheck;
  #celItem: object | undefined;
  #itemValues: Values | undefined;
  #withRecipient: (Values & { recipient: object }) | undefined;

  /** `steps`: work done before for the same decision. */
  constructor(pool: CompiledPool, item: RoutableItem, at: DecisionPoint, steps = 0) {
    this.#meter = { steps };
    this.#pool = pool;
    this.#item = item;
    this.#nowMs = at.nowMs;
    this.#stepsMax = at.stepsMax ?? stepsMax;
  }

  /** No further result is available; results from here on are invalid. */
  get stopped(): boolean {
    return this.exhausted || this.paused;
  }

  /** Work done so far. */
  get steps(): number {
    return this.#meter.steps;
  }

  /** Continues until the slice ends; each slice evaluates at least one condition. */
  resume(sliceIsOver: () => boolean): void {
    this.paused = false;
    this.#sliceIsOver = sliceIsOver;
    this.#checkAtSteps = this.#meter.steps + stepsPerCheck;
  }

  /** The item as seen by conditions and hash keys. */
  get item(): object {
    this.#celItem ??= celItem(this.#item);
    return this.#celItem;
  }

  bind(condition: Condition): BoundCondition {
    let bound = this.#bound?.get(condition);
    if (bound === undefined) {
      bound = { condition, row: condition.rowFor(this.item) };
      this.#bound ??= new Map();
      this.#bound.set(condition, bound);
    }
    return bound;
  }

  /** Returns the result without a recipient; FAILED if the condition needs one. */
  evaluateWithoutRecipient({ condition, row }: BoundCondition): Verdict {
    if (row.withoutRecipient !== UNKNOWN) return row.withoutRecipient;
    const verdict = this.#evaluate(condition, this.#valuesForItem());
    if (!this.stopped) row.withoutRecipient = verdict;
    return verdict;
  }

  /** Returns the result of a condition that does not use the recipient. */
  evaluateForItem(condition: Condition): Verdict {
    const known = this.#verdicts?.get(condition);
    if (known !== undefined) return known;
    const verdict = this.#evaluate(condition, this.#valuesForItem());
    if (this.stopped) return verdict;
    this.#verdicts ??= new Map();
    this.#verdicts.set(condition, verdict);
    return verdict;
  }

  /** Returns the result for one recipient. */
  evaluateForRecipient({ condition, row }: BoundCondition, index: number): Verdict {
    const known = row.get(index);
    if (known !== UNKNOWN) return known;
    this.#withRecipient ??= { ...this.#valuesForItem(), recipient: {} };
    this.#withRecipient.recipient = this.#pool.celRecipient(index);
    const verdict = this.#evaluate(condition, this.#withRecipient);
    if (!this.stopped) row.set(index, verdict);
    return verdict;
  }

  /** Returns the value of an expression over the item; undefined if it fails. */
  valueOf(expression: CelExpression): unknown {
    this.#values ??= new Map();
    if (this.#values.has(expression)) return this.#values.get(expression);
    if (!this.#canEvaluate()) return undefined;
    let value: unknown;
    try {
      value = expression.evaluate({ item: this.item }, this.#meter);
    } catch {
      value = undefined;
    }
    this.#values.set(expression, value);
    return value;
  }

  #valuesForItem(): Values {
    this.#itemValues ??= { item: this.item, pool: this.#pool.celPool, now: new Date(this.#nowMs) };
    return this.#itemValues;
  }

  #evaluate({ expression }: Condition, values: Values): Verdict {
    if (expression === undefined || !this.#canEvaluate()) return FAILED;
    try {
      return evaluateCondition(expression, values, this.#meter) ? HOLDS : DOES_NOT_HOLD;
    } catch {
      return FAILED;
    }
  }

  #canEvaluate(): boolean {
    if (this.stopped) return false;
    const meter = this.#meter;
    if (meter.steps >= this.#stepsMax) {
      this.exhausted = true;
      return false;
    }
    if (meter.steps >= this.#checkAtSteps) {
      this.#checkAtSteps = meter.steps + stepsPerCheck;
      if (this.#sliceIsOver?.() === true) {
        this.paused = true;
        return false;
      }
    }
    meter.steps += stepsPerEvaluation;
    return true;
  }
}

/** Converts the item to its wire names for conditions. */
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
