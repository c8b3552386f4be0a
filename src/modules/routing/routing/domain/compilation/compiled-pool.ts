import { BoundedCache } from "../../../../../platform/cache/bounded-cache.ts";
import { type CelExpression, compileCel } from "../../../../../platform/cel/index.ts";
import type { FallbackStep, PoolSnapshot, Recipient, Rule } from "../../../pools/index.ts";
import { AliasTable } from "../structures/alias-table.ts";
import { hashText } from "../structures/seeded-random.ts";
import { changedPositions } from "./changed-positions.ts";
import { Condition, resultPagesMax } from "./condition.ts";

const defaultWeight = 100;
/** The share of its weight that a recipient starts with. */
const slowStartShare = 0.1;

/** Maximum number of skills with a cached level column. */
const skillLevelsMax = 64;
const noRecipients = new Uint32Array(0);

/** A rule with its compiled condition. Without a condition it always holds. */
export interface CompiledRule {
  readonly rule: Rule;
  readonly condition: Condition | undefined;
}

/** A fallback step with its compiled condition. Without a condition it admits every recipient. */
export interface CompiledStep {
  readonly step: FallbackStep;
  readonly condition: Condition | undefined;
}

/**
 * Compiles a snapshot for decisions; this happens once per digest. A condition that cannot be compiled fails on
 * evaluation. State shared with an earlier snapshot of the pool is reused.
 */
export function compilePool(snapshot: PoolSnapshot, earlier?: CompiledPool): CompiledPool {
  return new CompiledPool(snapshot, earlier);
}

/**
 * A snapshot prepared for decisions. Recipients are identified by their index. Tables that few strategies need are
 * built on first use.
 */
export class CompiledPool {
  readonly snapshot: PoolSnapshot;
  readonly indexById: ReadonlyMap<string, number>;
  /** Recipients that can be chosen: active, with a weight above 0. In order. */
  readonly eligible: Uint32Array;
  /** 0 for recipients that are not eligible. */
  readonly weights: Float64Array;
  /** 0 means unlimited. */
  readonly capacities: Float64Array;
  readonly availableSinceMs: Float64Array;
  /** Declared cost, used until outcomes report the real cost. */
  readonly costs: Float64Array;
  readonly rules: readonly CompiledRule[];
  readonly steps: readonly CompiledStep[];
  /** The expression that sticky_hash hashes; "invalid" if it cannot be compiled; undefined for the key of the item. */
  readonly hashKey: CelExpression | "invalid" | undefined;
  /** The pool as seen by conditions. */
  readonly celPool: object;
  readonly #slowStartMs: number;
  /** From this time on no recipient is in slow start. */
  readonly #allWarmAtMs: number;
  readonly #celRecipients: (object | undefined)[];
  #holders: ReadonlyMap<string, Uint32Array> | undefined;
  readonly #levels = new BoundedCache<string, Float32Array>(skillLevelsMax);
  #eligibleTable: AliasTable | undefined;
  #topPriorityTable: AliasTable | undefined;
  #hashes: Uint32Array | undefined;

  constructor(snapshot: PoolSnapshot, earlier?: CompiledPool) {
    const { pool, recipients, rules } = snapshot;
    const { selection, fallback } = pool.config;
    const changed = earlier && changedPositions(earlier.snapshot.recipients, recipients);
    const base = changed === undefined ? undefined : earlier;
    /** Builds a column of recipient values: computed for changed recipients, copied for the others. */
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
    const pagesMax = resultPagesMax(recipients.length, rules.length + fallback.steps.length);
    const samePool = base?.snapshot.pool.name === pool.name && base.snapshot.pool.strategy === pool.strategy;
    const known = samePool ? conditionsOf(base) : undefined;
    const compile = (source: string) => {
      if (source === "") return undefined;
      return known?.get(source)?.without(changed!) ?? new Condition(source, pagesMax);
    };
    this.rules = rules.map((rule) => ({ rule, condition: compile(rule.condition) }));
    this.steps = fallback.steps.map((step) => ({ step, condition: compile(step.condition) }));
    this.hashKey = compileHashKey(selection.hashKey);
    this.#slowStartMs = selection.slowStartS * 1000;
    this.#allWarmAtMs = this.availableSinceMs.reduce((latest, since) => Math.max(latest, since), 0) + this.#slowStartMs;
    this.#celRecipients =
      base === undefined ? new Array(recipients.length).fill(undefined) : base.#celRecipients.slice();
    for (const index of changed ?? []) this.#celRecipients[index] = undefined;
    if (base !== undefined) this.#hashes = base.#hashes;
  }

  /** Returns the share of its weight that a recipient has ramped up to. */
  slowStartFactor(index: number, nowMs: number): number {
    if (nowMs >= this.#allWarmAtMs || this.#slowStartMs === 0) return 1;
    const grown = (nowMs - this.availableSinceMs[index]!) / this.#slowStartMs;
    return Math.min(1, slowStartShare + (1 - slowStartShare) * Math.max(0, grown));
  }

  /** Draws from all eligible recipients by weight. */
  get eligibleTable(): AliasTable {
    this.#eligibleTable ??= new AliasTable(this.eligible, this.weights);
    return this.#eligibleTable;
  }

  /** Draws by weight from the recipients with the lowest priority number. */
  get topPriorityTable(): AliasTable {
    if (this.#topPriorityTable === undefined) {
      const { recipients } = this.snapshot;
      let first = Number.POSITIVE_INFINITY;
      for (const index of this.eligible) first = Math.min(first, recipients[index]!.priority);
      const among = this.eligible.filter((index) => recipients[index]!.priority === first);
      this.#topPriorityTable = new AliasTable(among, this.weights);
    }
    return this.#topPriorityTable;
  }

  /** Two halves of a 64-bit hash of each recipient id; adding or removing a recipient changes no other hash. */
  get hashes(): Uint32Array {
    if (this.#hashes === undefined) {
      const { recipients } = this.snapshot;
      this.#hashes = new Uint32Array(2 * recipients.length);
      for (const [index, { id }] of recipients.entries()) this.#hashes.set(hashText(id), 2 * index);
    }
    return this.#hashes;
  }

  /** Returns the eligible recipients that have a skill at any level. */
  holders(skill: string): Uint32Array {
    this.#holders ??= holdersBySkill(this.snapshot.recipients, this.eligible);
    return this.#holders.get(skill) ?? noRecipients;
  }

  /** Returns the level of a skill for each recipient; 0 for none. */
  levels(skill: string): Float32Array {
    const known = this.#levels.get(skill);
    if (known !== undefined) return known;
    const { recipients } = this.snapshot;
    const levels = new Float32Array(recipients.length);
    for (const index of this.holders(skill)) levels[index] = recipients[index]!.skills[skill]!;
    this.#levels.set(skill, levels);
    return levels;
  }

  /** Returns a recipient as seen by conditions. */
  celRecipient(index: number): object {
    const known = this.#celRecipients[index];
    if (known !== undefined) return known;
    const created = celRecipient(this.snapshot.recipients[index]!);
    this.#celRecipients[index] = created;
    return created;
  }
}

function indicesAboveZero(weights: Float64Array): Uint32Array {
  const indices = new Uint32Array(weights.length);
  let count = 0;
  for (let index = 0; index < weights.length; index++) if (weights[index]! > 0) indices[count++] = index;
  return indices.slice(0, count);
}

/** Returns the conditions of rules and fallback steps by source. */
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
  const set = Number.isFinite(weight) ? weight : defaultWeight;
  return Math.max(0, set);
}

function compileHashKey(source: string): CelExpression | "invalid" | undefined {
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
