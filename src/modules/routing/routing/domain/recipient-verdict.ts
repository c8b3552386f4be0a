import type { Recipient, RecipientNames } from "../../pools/index.ts";
import type { CompiledPool } from "./compilation/compiled-pool.ts";
import { type Condition, HOLDS } from "./compilation/condition.ts";
import type { DecisionPoint, DecisionReason } from "./decision.ts";
import { replayFrom } from "./decision-engine.ts";
import { comparedValues, type DecisiveValues, type SeenMetric, valuesRead } from "./decision-values.ts";
import { Evaluation } from "./evaluation.ts";
import type { Evidence } from "./evidence.ts";
import type { RankingQuery, RankingResult } from "./facts/facts.ts";
import { AT_CAPACITY, type Availability, EJECTED } from "./facts/observation.ts";
import { ReplayedFacts } from "./facts/replayed-facts.ts";
import type { RoutableItem } from "./item.ts";

/** Why a recipient was or was not chosen. */
export interface RecipientVerdict {
  /** A stable code. */
  readonly code:
    | "chosen"
    | "not_active"
    | "other_named"
    | "excluded"
    | "skills_missing"
    | "rule_excludes"
    | "at_capacity"
    | "ejected"
    | "not_preferred"
    | "nobody_chosen";
  readonly message: string;
  /** What a rule read of it, or what the strategy compared. */
  readonly values: DecisiveValues;
}

type Judgement = Pick<RecipientVerdict, "code" | "message"> & { readonly values?: DecisiveValues };

/** Judges recipients of a stored decision, from its snapshot and what it observed. */
export class RecipientJudge {
  readonly #pool: CompiledPool;
  readonly #item: RoutableItem;
  readonly #evidence: Evidence;
  readonly #evaluation: Evaluation;
  readonly #facts: RememberedFacts;
  readonly #nameOf: RecipientNames;

  constructor(pool: CompiledPool, item: RoutableItem, at: DecisionPoint, evidence: Evidence, nameOf: RecipientNames) {
    this.#pool = pool;
    this.#item = item;
    this.#evidence = evidence;
    this.#nameOf = nameOf;
    this.#evaluation = new Evaluation(pool, item, at);
    this.#facts = new RememberedFacts(pool, evidence.observed);
    replayFrom(this.#facts, pool, item, at);
  }

  judge(index: number): RecipientVerdict {
    const recipient = this.#pool.snapshot.recipients[index]!;
    const compared = comparedValues(this.#pool, recipient, index, this.#facts.metrics.get(index));
    const { values = {}, ...judgement } = this.#judge(recipient, index);
    return { ...judgement, values: { ...compared, ...values } };
  }

  /** The values that a rule read of the item and the pool; undefined for a rule that the pool does not have. */
  valuesOf(ruleId: string): DecisiveValues | undefined {
    const found = this.#pool.rules.find(({ rule }) => rule.id === ruleId);
    return found && (found.condition === undefined ? {} : this.#valuesRead(found.condition));
  }

  #valuesRead(condition: Condition, index?: number): DecisiveValues {
    const { item } = this.#evaluation;
    const recipient = index === undefined ? undefined : this.#pool.celRecipient(index);
    const roots = { item, pool: this.#pool.celPool, now: new Date(this.#evidence.nowMs), recipient };
    const values = Object.entries(valuesRead(condition, roots));
    return Object.fromEntries(values.filter(([path]) => index !== undefined || !path.startsWith("recipient")));
  }

  #judge(recipient: Recipient, index: number): Judgement {
    const name = this.#nameOf(recipient.id);
    if (recipient.id === this.#evidence.decided.recipientId) {
      const choice = this.#evidence.trace.findLast(({ result }) => result === "chosen")?.detail;
      return {
        code: "chosen",
        message: `${name} was chosen.`,
        ...(choice !== undefined && { values: { choice: choice.replace(/^\w+: /, "") } }),
      };
    }
    return (
      this.#ofRecipient(recipient, index, name) ??
      this.#ofItem(recipient, name) ??
      this.#ofRules(recipient, index, name) ??
      this.#ofAvailability(index, name) ??
      this.#ofChoice(name)
    );
  }

  #ofRecipient({ status }: Recipient, index: number, name: string): Judgement | undefined {
    if (this.#pool.weights[index]! > 0) return undefined;
    const cause = status === "active" ? "has a weight of 0" : `was ${status}`;
    return { code: "not_active", message: `${name} ${cause}.` };
  }

  #ofItem({ id, skills: has }: Recipient, name: string): Judgement | undefined {
    const { recipientId, excludedRecipientIds, skills } = this.#item.requirements;
    if (recipientId !== "" && recipientId !== id) {
      return { code: "other_named", message: `The item may only go to ${this.#nameOf(recipientId)}, not to ${name}.` };
    }
    if (excludedRecipientIds.includes(id)) return { code: "excluded", message: `The item excludes ${name}.` };
    const missing = Object.entries(skills).filter(([skill, level]) => (has[skill] ?? 0) < level);
    if (missing.length === 0) return undefined;
    const texts = missing.map(([skill, level]) => `${skill} ${level} (has ${has[skill] ?? 0})`);
    return { code: "skills_missing", message: `${name} lacks the required skills: ${texts.join(", ")}.` };
  }

  #ofRules({ id }: Recipient, index: number, name: string): Judgement | undefined {
    for (const { rule, condition } of this.#pool.rules) {
      if (!this.#evidence.ruleIds.includes(rule.id)) continue;
      if (rule.action.type === "route" && rule.action.recipientId !== id) {
        const message = `The rule "${rule.name}" sends the item to ${this.#nameOf(rule.action.recipientId)}, not to ${name}.`;
        return { code: "other_named", message };
      }
      if (rule.action.type !== "require" || condition?.namesRecipient !== true) continue;
      if (this.#evaluation.evaluateForRecipient(this.#evaluation.bind(condition), index) === HOLDS) continue;
      const values = this.#valuesRead(condition, index);
      return { code: "rule_excludes", message: `The rule "${rule.name}" excludes ${name}.`, values };
    }
    return undefined;
  }

  #ofAvailability(index: number, name: string): Judgement | undefined {
    const availability = this.#facts.seen.get(index) ?? availabilityOfAll[this.#evidence.reason as DecisionReason];
    if (availability === AT_CAPACITY) {
      const { capacity } = this.#pool.snapshot.recipients[index]!;
      return { code: "at_capacity", message: `${name} was at its capacity of ${capacity} items.` };
    }
    if (availability !== EJECTED) return undefined;
    return { code: "ejected", message: `${name} was ejected for a time, because of failures.` };
  }

  #ofChoice(name: string): Judgement {
    const { trace, decided } = this.#evidence;
    const choice = trace.findLast(({ result }) => result === "chosen");
    if (choice === undefined || decided.recipientId === "") {
      return { code: "nobody_chosen", message: `${name} could take the item, but no recipient was chosen.` };
    }
    const chosen = this.#nameOf(decided.recipientId);
    return {
      code: "not_preferred",
      message: `${name} could take the item, but ${chosen} was chosen (${choice.detail}).`,
    };
  }
}

/** The availability of every candidate that follows from the reason of a decision. */
const availabilityOfAll: Partial<Readonly<Record<DecisionReason, Availability>>> = {
  all_at_capacity: AT_CAPACITY,
  all_ejected: EJECTED,
};

/** Recorded state that remembers the availability of each recipient that the decision read. */
class RememberedFacts extends ReplayedFacts {
  readonly seen = new Map<number, Availability>();
  readonly metrics = new Map<number, SeenMetric>();

  override availability(index?: number): Availability {
    const availability = super.availability();
    if (index !== undefined) this.seen.set(index, availability);
    return availability;
  }

  override inFlight(index?: number): number {
    const value = super.inFlight();
    if (index !== undefined) this.metrics.set(index, { metric: "inFlight", value });
    return value;
  }

  override rankCandidates(query: RankingQuery): RankingResult {
    const result = super.rankCandidates(query);
    for (const { index, availability, value } of result.top) {
      this.seen.set(index, availability);
      this.metrics.set(index, { metric: query.metric, value });
    }
    return result;
  }
}
