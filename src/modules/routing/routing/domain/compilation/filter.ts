import type { Evaluation, Question } from "../evaluation.ts";
import type { RoutableItem } from "../item.ts";
import type { CompiledPool } from "./compiled-pool.ts";
import { HOLDS } from "./condition.ts";

/** Nobody can be named. */
const NOBODY = -2;
/** Anyone can be. */
const ANYONE = -1;

/** Who may take an item: what it requires itself, and what rules or a step of the fallback make of that. */
export class Filter {
  /** Everyone who may be in it, and some who are not; at most all who are eligible. */
  readonly among: Uint32Array;
  /** The only one who may take it: an index, -1 for no such bound, -2 where nobody can be it. */
  readonly only: number;
  readonly #pool: CompiledPool;
  readonly #evaluation: Evaluation;
  readonly #item: RoutableItem;
  readonly #skills: readonly RequiredSkill[];
  readonly #excluded: readonly number[];
  readonly #require: readonly Question[];
  readonly #prefer: readonly Question[];

  constructor(pool: CompiledPool, evaluation: Evaluation, item: RoutableItem, terms: FilterTerms = {}) {
    const { skills, recipientId, excludedRecipientIds } = item.requirements;
    this.#pool = pool;
    this.#evaluation = evaluation;
    this.#item = item;
    this.#skills = terms.skillsAside === true ? none : requiredSkills(pool, skills);
    this.#excluded =
      excludedRecipientIds.length === 0 ? none : excludedRecipientIds.flatMap((id) => pool.indexById.get(id) ?? []);
    this.#require = terms.require ?? none;
    this.#prefer = terms.prefer ?? none;
    this.only = onlyOne(pool, recipientId, terms.routeTo ?? "");
    this.among = this.only === ANYONE ? fewest(pool, this.#skills) : named(this.only);
  }

  /** The same with other terms. */
  narrowed(terms: FilterTerms): Filter {
    return new Filter(this.#pool, this.#evaluation, this.#item, terms);
  }

  /** Whether all of `among` fulfil what the item requires. */
  get admitsAll(): boolean {
    return this.#skills.length === 0 && this.#excluded.length === 0;
  }

  /** Whether it is all who may be chosen. */
  get isEveryone(): boolean {
    return this.among === this.#pool.eligible && this.admitsAll;
  }

  /** Whether one is among those who fulfil what the item requires. */
  includes(index: number): boolean {
    return this.#pool.weights[index]! > 0 && (this.only === ANYONE || this.only === index) && this.admits(index);
  }

  /** Whether one of `among` fulfils what the item requires. */
  admits(index: number): boolean {
    for (let at = 0; at < this.#skills.length; at++) {
      const { levels, least } = this.#skills[at]!;
      if (levels[index]! < least) return false;
    }
    return this.#excluded.length === 0 || !this.#excluded.includes(index);
  }

  /** How rules rank one: 0 is best, below 0 is not let in. An earlier preference outweighs all later ones. */
  rank(index: number): number {
    for (const question of this.#require) {
      if (this.#evaluation.of(question, index) !== HOLDS) return -1;
    }
    let rank = 0;
    for (const question of this.#prefer) {
      rank = 2 * rank + (this.#evaluation.of(question, index) === HOLDS ? 0 : 1);
    }
    return rank;
  }

  /** By how much one is better than required, over all skills. */
  margin(index: number): number {
    let margin = 0;
    for (let at = 0; at < this.#skills.length; at++) {
      const { levels, least } = this.#skills[at]!;
      margin += levels[index]! - least;
    }
    return margin;
  }
}

/** What is added to an item's own requirements. */
export interface FilterTerms {
  readonly require?: readonly Question[];
  readonly prefer?: readonly Question[];
  /** The recipient that a rule names. */
  readonly routeTo?: string;
  /** The item's required skills do not count. */
  readonly skillsAside?: boolean;
}

interface RequiredSkill {
  readonly name: string;
  readonly least: number;
  /** Everyone's level of it. */
  readonly levels: Float32Array;
}

const none: readonly never[] = [];

function requiredSkills(pool: CompiledPool, skills: Readonly<Record<string, number>>): readonly RequiredSkill[] {
  const names = Object.keys(skills).filter((name) => skills[name]! > 0);
  return names.length === 0 ? none : names.map((name) => ({ name, least: skills[name]!, levels: pool.levels(name) }));
}

function onlyOne(pool: CompiledPool, byItem: string, byRule: string): number {
  if (byItem !== "" && byRule !== "" && byItem !== byRule) return NOBODY;
  const id = byItem || byRule;
  if (id === "") return ANYONE;
  const index = pool.indexById.get(id);
  return index === undefined || pool.weights[index] === 0 ? NOBODY : index;
}

function named(index: number): Uint32Array {
  return index < 0 ? new Uint32Array(0) : Uint32Array.of(index);
}

/** Those who have the rarest of the skills. */
function fewest(pool: CompiledPool, skills: readonly RequiredSkill[]): Uint32Array {
  let fewest = pool.eligible;
  for (const { name } of skills) {
    const holders = pool.holders(name);
    if (holders.length < fewest.length) fewest = holders;
  }
  return fewest;
}
