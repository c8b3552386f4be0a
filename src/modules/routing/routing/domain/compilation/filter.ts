import type { BoundCondition, Evaluation } from "../evaluation.ts";
import type { RoutableItem } from "../item.ts";
import type { CompiledPool } from "./compiled-pool.ts";
import { HOLDS } from "./condition.ts";

/** No recipient can match. */
const NOBODY = -2;
/** No single recipient is required. */
const ANYONE = -1;

/** Determines which recipients may take an item: its own requirements, and those of rules or of a fallback step. */
export class Filter {
  /** A superset of the matching recipients; at most all eligible ones. */
  readonly among: Uint32Array;
  /** The index of the only allowed recipient, -1 for no restriction, -2 if no recipient can match. */
  readonly only: number;
  readonly #pool: CompiledPool;
  readonly #evaluation: Evaluation;
  readonly #item: RoutableItem;
  readonly #skills: readonly RequiredSkill[];
  readonly #excluded: readonly number[];
  readonly #require: readonly BoundCondition[];
  readonly #prefer: readonly BoundCondition[];

  constructor(pool: CompiledPool, evaluation: Evaluation, item: RoutableItem, terms: FilterTerms = {}) {
    const { skills, recipientId, excludedRecipientIds } = item.requirements;
    this.#pool = pool;
    this.#evaluation = evaluation;
    this.#item = item;
    this.#skills = terms.ignoreSkills === true ? none : resolveSkills(pool, skills);
    this.#excluded =
      excludedRecipientIds.length === 0 ? none : excludedRecipientIds.flatMap((id) => pool.indexById.get(id) ?? []);
    this.#require = terms.require ?? none;
    this.#prefer = terms.prefer ?? none;
    this.only = resolveOnly(pool, recipientId, terms.routeTo ?? "");
    this.among = this.only === ANYONE ? rarestSkillHolders(pool, this.#skills) : indexArray(this.only);
  }

  /** Returns the filter of the same item with other terms. */
  withTerms(terms: FilterTerms): Filter {
    return new Filter(this.#pool, this.#evaluation, this.#item, terms);
  }

  /** Whether all recipients in `among` fulfil the requirements of the item. */
  get admitsAll(): boolean {
    return this.#skills.length === 0 && this.#excluded.length === 0;
  }

  get includesAllEligible(): boolean {
    return this.among === this.#pool.eligible && this.admitsAll;
  }

  /** Returns whether a recipient is eligible and fulfils the requirements of the item. */
  includes(index: number): boolean {
    return this.#pool.weights[index]! > 0 && (this.only === ANYONE || this.only === index) && this.admits(index);
  }

  /** Returns whether a recipient of `among` fulfils the requirements of the item. */
  admits(index: number): boolean {
    for (let at = 0; at < this.#skills.length; at++) {
      const { levels, minLevel } = this.#skills[at]!;
      if (levels[index]! < minLevel) return false;
    }
    return this.#excluded.length === 0 || !this.#excluded.includes(index);
  }

  /** Returns the rank by rules: 0 is best, below 0 is excluded. An earlier preference outweighs all later ones. */
  rank(index: number): number {
    for (const bound of this.#require) {
      if (this.#evaluation.evaluateForRecipient(bound, index) !== HOLDS) return -1;
    }
    let rank = 0;
    for (const bound of this.#prefer) {
      rank = 2 * rank + (this.#evaluation.evaluateForRecipient(bound, index) === HOLDS ? 0 : 1);
    }
    return rank;
  }

  /** Returns by how much a recipient exceeds the required skill levels in total. */
  margin(index: number): number {
    let margin = 0;
    for (let at = 0; at < this.#skills.length; at++) {
      const { levels, minLevel } = this.#skills[at]!;
      margin += levels[index]! - minLevel;
    }
    return margin;
  }
}

/** Terms in addition to the requirements of the item. */
export interface FilterTerms {
  readonly require?: readonly BoundCondition[];
  readonly prefer?: readonly BoundCondition[];
  /** The recipient named by a rule. */
  readonly routeTo?: string;
  /** Ignores the skills that the item requires. */
  readonly ignoreSkills?: boolean;
}

interface RequiredSkill {
  readonly name: string;
  readonly minLevel: number;
  /** The level of each recipient. */
  readonly levels: Float32Array;
}

const none: readonly never[] = [];

function resolveSkills(pool: CompiledPool, skills: Readonly<Record<string, number>>): readonly RequiredSkill[] {
  const names = Object.keys(skills).filter((name) => skills[name]! > 0);
  return names.length === 0
    ? none
    : names.map((name) => ({ name, minLevel: skills[name]!, levels: pool.levels(name) }));
}

function resolveOnly(pool: CompiledPool, byItem: string, byRule: string): number {
  if (byItem !== "" && byRule !== "" && byItem !== byRule) return NOBODY;
  const id = byItem || byRule;
  if (id === "") return ANYONE;
  const index = pool.indexById.get(id);
  return index === undefined || pool.weights[index] === 0 ? NOBODY : index;
}

function indexArray(index: number): Uint32Array {
  return index < 0 ? new Uint32Array(0) : Uint32Array.of(index);
}

function rarestSkillHolders(pool: CompiledPool, skills: readonly RequiredSkill[]): Uint32Array {
  let fewest = pool.eligible;
  for (const { name } of skills) {
    const holders = pool.holders(name);
    if (holders.length < fewest.length) fewest = holders;
  }
  return fewest;
}
