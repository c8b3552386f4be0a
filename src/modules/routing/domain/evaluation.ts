import { evaluateCondition } from "../../../platform/cel/index.ts";
import type { CompiledPool } from "./compiled-pool.ts";
import { type AnswerRow, type Condition, DOES_NOT, FAILED, HOLDS, UNKNOWN, type Verdict } from "./condition.ts";
import type { DecisionPoint } from "./decision.ts";
import type { RoutableItem } from "./item.ts";

/** How many conditions one decision may evaluate; remembered answers cost nothing. */
const evaluationsMax = 25_000;
/** How many evaluations pass between two looks at the time. */
const overdueEvery = 8;

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

/** Evaluates conditions for one item, each for each recipient at most once, within what a decision may cost. */
export class Evaluation {
  /** True once conditions took too much: every further answer would only be FAILED. */
  exhausted = false;
  readonly #pool: CompiledPool;
  readonly #item: RoutableItem;
  readonly #nowMs: number;
  readonly #overdue: (() => boolean) | undefined;
  #celItem: object | undefined;
  #alone: Values | undefined;
  #withRecipient: (Values & { recipient: object }) | undefined;
  #count = 0;

  constructor(pool: CompiledPool, item: RoutableItem, { nowMs, overdue }: DecisionPoint) {
    this.#pool = pool;
    this.#item = item;
    this.#nowMs = nowMs;
    this.#overdue = overdue;
  }

  /** What conditions and hash keys see of the item. */
  get item(): object {
    this.#celItem ??= celItem(this.#item);
    return this.#celItem;
  }

  question(condition: Condition): Question {
    return { condition, row: condition.rowFor(this.item) };
  }

  /** The verdict without a recipient: FAILED for a condition that cannot be told without one. */
  alone({ condition, row }: Question): Verdict {
    if (row.withoutRecipient !== UNKNOWN) return row.withoutRecipient;
    const verdict = this.#evaluate(condition, this.#valuesAlone());
    if (!this.exhausted) row.withoutRecipient = verdict;
    return verdict;
  }

  /** The verdict on a condition that names no recipient. */
  ofItem(condition: Condition): Verdict {
    return this.#evaluate(condition, this.#valuesAlone());
  }

  /** The verdict for one recipient. */
  of({ condition, row }: Question, index: number): Verdict {
    const known = row.get(index);
    if (known !== UNKNOWN) return known;
    this.#withRecipient ??= { ...this.#valuesAlone(), recipient: {} };
    this.#withRecipient.recipient = this.#pool.celRecipient(index);
    const verdict = this.#evaluate(condition, this.#withRecipient);
    if (!this.exhausted) row.set(index, verdict);
    return verdict;
  }

  #valuesAlone(): Values {
    this.#alone ??= { item: this.item, pool: this.#pool.celPool, now: new Date(this.#nowMs) };
    return this.#alone;
  }

  #evaluate({ expression }: Condition, values: Values): Verdict {
    if (expression === undefined || this.exhausted) return FAILED;
    this.#count++;
    if (this.#count > evaluationsMax || (this.#count % overdueEvery === 0 && this.#overdue?.() === true)) {
      this.exhausted = true;
      return FAILED;
    }
    try {
      return evaluateCondition(expression, values) ? HOLDS : DOES_NOT;
    } catch {
      return FAILED;
    }
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
