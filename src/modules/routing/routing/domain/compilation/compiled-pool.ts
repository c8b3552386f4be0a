import { type CelExpression, compileCel } from "../../../../../platform/cel/index.ts";
import type { FallbackStep, PoolSnapshot, Recipient, Rule } from "../../../pools/index.ts";
import { AliasTable } from "../structures/alias-table.ts";
import { hashText } from "../structures/chance.ts";
import { changedPositions } from "./changed-positions.ts";
import { answerPagesMax, Condition } from "./condition.ts";

const weightUnlessSet = 100;
/** The share of its weight that a recipient starts with. */
const slowStartShare = 0.1;

/** Of how many skills everyone's levels are kept side by side. */
const levelsKept = 64;
const nobody = new Uint32Array(0);

/** A rule with its condition compiled; without one it always holds. */
export interface CompiledRule {
  readonly rule: Rule;
  readonly condition: Condition | undefined;
}

/** A step of the fallback with its condition compiled; without one it lets everyone in. */
export interface CompiledStep {
  readonly step: FallbackStep;
  readonly condition: Condition | undefined;
}

/**
 * Makes a snapshot ready for decisions; done once for each digest. A condition that cannot be compiled fails when it is
 * evaluated. What an earlier snapshot of the same pool has in common with this one is taken over from it.
 */
export function compilePool(snapshot: PoolSnapshot, earlier?: CompiledPool): CompiledPool {
  return new CompiledPool(snapshot, earlier);
}

/** A snapshot ready for decisions. Recipients go by their index in it. Tables that few strategies need are made when first used. */
export class CompiledPool {
  readonly snapshot: PoolSnapshot;
  readonly indexById: ReadonlyMap<string, number>;
  /** Those that may be chosen at all: active, with a weight above 0. In order. */
  readonly eligible: Uint32Array;
  /** 0 for those that are not eligible, so that it also tells who is. */
  readonly weights: Float64Array;
  /** 0 for no bound. */
  readonly capacities: Float64Array;
  readonly availableSinceMs: Float64Array;
  /** What an item costs until outcomes tell. */
  readonly costs: Float64Array;
  readonly rules: readonly CompiledRule[];
  readonly steps: readonly CompiledStep[];
  /** What sticky_hash hashes: an expression, or "invalid" for one that cannot be compiled; undefined: the item's key. */
  readonly hashKey: CelExpression | "invalid" | undefined;
  /** What conditions see of the pool. */
  readonly celPool: object;
  readonly #slowStartMs: number;
  /** From then on nobody is in slow start. */
  readonly #allWarmAtMs: number;
  readonly #celRecipients: (object | undefined)[];
  #holders: ReadonlyMap<string, Uint32Array> | undefined;
  readonly #levels = new Map<string, Float32Array>();
  #everyone: AliasTable | undefined;
  #firstByPriority: AliasTable | undefined;
  #hashes: Uint32Array | undefined;

  constructor(snapshot: PoolSnapshot, earlier?: CompiledPool) {
    const { pool, recipients, rules } = snapshot;
    const { selection, fallback } = pool.config;
    const changed = earlier && changedPositions(earlier.snapshot.recipients, recipients);
    const base = changed === undefined ? undefined : earlier;
    /** A column of the recipients: computed where they changed, copied where they did not. */
    const column = (before: Float64Array | undefined, valueFrom: (recipient: Recipient) => number) => {
      if (before === undefined) return Float64Array.from(recipients, valueFrom);
      const copy = before.slice();
      for (const index of changed!) copy[index] = valueFrom(recipients[index]!);
      return copy;
    };
    this.snapshot = snapshot;
    this.indexById = base?.indexById ?? new Map(recipients.map(({ id }, index) => [id, index]));
    this.weights = column(base?.weights, effectiveWeight);
    this.capacities = column(base?.capacities, ({ capacity }) => Math.max(0, capacity));
    this.availableSinceMs = column(base?.availableSinceMs, ({ availableSince }) => availableSince.getTime());
    this.costs = column(base?.costs, ({ cost }) => cost);
    this.eligible = indicesAboveZero(this.weights);
    this.celPool = { id: pool.id, name: pool.name, strategy: pool.strategy };
    const pagesMax = answerPagesMax(recipients.length, rules.length + fallback.steps.length);
    const samePool = base?.snapshot.pool.name === pool.name && base.snapshot.pool.strategy === pool.strategy;
    const known = samePool ? conditionsOf(base) : undefined;
    const compile = (source: string) => {
      if (source === "") return undefined;
      return known?.get(source)?.without(changed!) ?? new Condition(source, pagesMax);
    };
    this.rules = rules.map((rule) => ({ rule, condition: compile(rule.condition) }));
    this.steps = fallback.steps.map((step) => ({ step, condition: compile(step.condition) }));
    this.hashKey = compiledHashKey(selection.hashKey);
    this.#slowStartMs = selection.slowStartS * 1000;
    this.#allWarmAtMs = this.availableSinceMs.reduce((latest, since) => Math.max(latest, since), 0) + this.#slowStartMs;
    this.#celRecipients =
      base === undefined ? new Array(recipients.length).fill(undefined) : base.#celRecipients.slice();
    for (const index of changed ?? []) this.#celRecipients[index] = undefined;
    if (base !== undefined) this.#hashes = base.#hashes;
  }

  /** The share of its weight that a recipient has worked up to. */
  warmth(index: number, nowMs: number): number {
    if (nowMs >= this.#allWarmAtMs || this.#slowStartMs === 0) return 1;
    const grown = (nowMs - this.availableSinceMs[index]!) / this.#slowStartMs;
    return Math.min(1, slowStartShare + (1 - slowStartShare) * Math.max(0, grown));
  }

  /** Draws from all who may be chosen, by weight. */
  get everyone(): AliasTable {
    this.#everyone ??= new AliasTable(this.eligible, this.weights);
    return this.#everyone;
  }

  /** Draws from those with the lowest priority number, by weight. */
  get firstByPriority(): AliasTable {
    if (this.#firstByPriority === undefined) {
      const { recipients } = this.snapshot;
      let first = Number.POSITIVE_INFINITY;
      for (const index of this.eligible) first = Math.min(first, recipients[index]!.priority);
      const among = this.eligible.filter((index) => recipients[index]!.priority === first);
      this.#firstByPriority = new AliasTable(among, this.weights);
    }
    return this.#firstByPriority;
  }

  /** Two halves of a 64-bit hash for each recipient, by id: adding one or removing one moves nobody else's. */
  get hashes(): Uint32Array {
    if (this.#hashes === undefined) {
      const { recipients } = this.snapshot;
      this.#hashes = new Uint32Array(2 * recipients.length);
      for (const [index, { id }] of recipients.entries()) this.#hashes.set(hashText(id), 2 * index);
    }
    return this.#hashes;
  }

  /** Those of the eligible that have a skill at any level. */
  holders(skill: string): Uint32Array {
    this.#holders ??= holdersBySkill(this.snapshot.recipients, this.eligible);
    return this.#holders.get(skill) ?? nobody;
  }

  /** Everyone's level of a skill; 0 for none. */
  levels(skill: string): Float32Array {
    const known = this.#levels.get(skill);
    if (known !== undefined) return known;
    const { recipients } = this.snapshot;
    const levels = new Float32Array(recipients.length);
    for (const index of this.holders(skill)) levels[index] = recipients[index]!.skills[skill]!;
    if (this.#levels.size >= levelsKept) this.#levels.delete(this.#levels.keys().next().value!);
    this.#levels.set(skill, levels);
    return levels;
  }

  /** What conditions see of a recipient. */
  celRecipient(index: number): object {
    const known = this.#celRecipients[index];
    if (known !== undefined) return known;
    const made = celRecipient(this.snapshot.recipients[index]!);
    this.#celRecipients[index] = made;
    return made;
  }
}

function indicesAboveZero(weights: Float64Array): Uint32Array {
  const indices = new Uint32Array(weights.length);
  let count = 0;
  for (let index = 0; index < weights.length; index++) if (weights[index]! > 0) indices[count++] = index;
  return indices.slice(0, count);
}

/** The conditions of a pool's rules and fallback steps, by source. */
function conditionsOf({ rules, steps }: CompiledPool): Map<string, Condition> {
  const conditions = [...rules, ...steps].flatMap(({ condition }) => condition ?? []);
  return new Map(conditions.map((condition) => [condition.source, condition]));
}

function holdersBySkill(recipients: readonly Recipient[], eligible: Uint32Array): Map<string, Uint32Array> {
  const holders = new Map<string, number[]>();
  for (const index of eligible) {
    for (const skill of Object.keys(recipients[index]!.skills)) {
      const list = holders.get(skill);
      if (list === undefined) holders.set(skill, [index]);
      else list.push(index);
    }
  }
  return new Map([...holders].map(([skill, list]) => [skill, Uint32Array.from(list)]));
}

function effectiveWeight({ status, weight }: Recipient): number {
  if (status !== "active") return 0;
  const set = Number.isFinite(weight) ? weight : weightUnlessSet;
  return Math.max(0, set);
}

function compiledHashKey(source: string): CelExpression | "invalid" | undefined {
  if (source === "") return undefined;
  try {
    return compileCel(source, { item: "map" });
  } catch {
    return "invalid";
  }
}

function celRecipient({ id, name, attributes, skills, weight, priority, capacity }: Recipient): object {
  return { id, name, attributes, skills, weight, priority, capacity };
}
