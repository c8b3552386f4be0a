import { type CelExpression, type CelVariables, compileCel } from "../../../../../platform/cel/index.ts";

/** What conditions may name. */
const variables: CelVariables = { item: "map", recipient: "map", pool: "map", now: "timestamp" };

/** What a condition comes to; UNKNOWN until it was asked. */
export type Verdict = 0 | 1 | 2 | 3;
export const UNKNOWN = 0;
export const HOLDS = 1;
export const DOES_NOT = 2;
export const FAILED = 3;

const pageBits = 8;
const pageCells = 1 << pageBits;
/** How many kinds of item a condition remembers the answers for. */
const rowsMax = 256;
/** How long the text may be that tells one kind of item from another. */
const keyCharsMax = 200;
/** How long a list may be that is part of it. */
const listItemsMax = 16;

/** A condition's answers for one kind of item, recipient by recipient, as far as they were asked for. */
export class AnswerRow {
  /** What it comes to without a recipient; FAILED: that depends on the recipient. */
  withoutRecipient: Verdict = UNKNOWN;
  /** What a search among all who may be chosen came to: a recipient for whom it holds, or below 0. */
  searched: number | undefined;
  pageCount = 0;
  /** Pages of all rows that are kept together with this one. */
  #usage: { pages: number };
  readonly #pages: (Uint8Array | undefined)[] = [];

  constructor(usage = { pages: 0 }) {
    this.#usage = usage;
  }

  /** Lets go of the row: a decision under way may go on writing to it. */
  drop(): void {
    this.#usage.pages -= this.pageCount;
    this.#usage = { pages: 0 };
  }

  /** A copy without the answers for some recipients. */
  without(indices: readonly number[], usage: { pages: number }): AnswerRow {
    const copy = new AnswerRow(usage);
    copy.withoutRecipient = this.withoutRecipient;
    copy.pageCount = this.pageCount;
    usage.pages += this.pageCount;
    for (const [at, page] of this.#pages.entries()) if (page !== undefined) copy.#pages[at] = page.slice();
    for (const index of indices) if (this.get(index) !== UNKNOWN) copy.set(index, UNKNOWN);
    return copy;
  }

  get(index: number): Verdict {
    return (this.#pages[index >> pageBits]?.[index & (pageCells - 1)] ?? UNKNOWN) as Verdict;
  }

  set(index: number, verdict: Verdict): void {
    let page = this.#pages[index >> pageBits];
    if (page === undefined) {
      page = new Uint8Array(pageCells);
      this.#pages[index >> pageBits] = page;
      this.pageCount++;
      this.#usage.pages++;
    }
    page[index & (pageCells - 1)] = verdict;
  }
}

/**
 * A compiled condition that remembers its answers.
 *
 * An answer depends on the recipient and on those few fields of the item that the condition names. Items that agree in
 * them share a row of answers, so that a pool with thousands of recipients evaluates a condition once for each of them
 * and not once for each item. A condition over `now` is never remembered beyond one decision.
 */
export class Condition {
  readonly source: string;
  /** Undefined where it cannot be compiled: it fails whenever it is asked. */
  readonly expression: CelExpression | undefined;
  readonly namesRecipient: boolean;
  /** The fields of the item that it depends on; undefined where answers cannot be shared. */
  readonly #fields: readonly (readonly string[])[] | undefined;
  readonly #rows = new Map<string, AnswerRow>();
  readonly #usage = { pages: 0 };
  readonly #pagesMax: number;

  constructor(source: string, pagesMax: number) {
    this.source = source;
    this.expression = compiled(source);
    const names = (variable: string) => this.expression?.variables.includes(variable) === true;
    const paths = this.expression?.paths ?? [];
    this.namesRecipient = names("recipient");
    this.#fields = names("now") ? undefined : fieldsOf(paths, source);
    this.#pagesMax = pagesMax;
  }

  /** A condition with the same answers, except for some recipients. The answers of this one stay as they are. */
  without(indices: readonly number[]): Condition {
    const copy = new Condition(this.source, this.#pagesMax);
    for (const [key, row] of this.#rows) copy.#rows.set(key, row.without(indices, copy.#usage));
    return copy;
  }

  /** Where the answers for an item are kept; a row of its own where they cannot be shared. */
  rowFor(item: object): AnswerRow {
    const key = this.#fields === undefined ? undefined : keyOf(item, this.#fields);
    if (key === undefined) return new AnswerRow();
    let row = this.#rows.get(key);
    if (row === undefined) {
      this.#makeRoom();
      row = new AnswerRow(this.#usage);
      this.#rows.set(key, row);
    }
    return row;
  }

  #makeRoom(): void {
    for (const [key, row] of this.#rows) {
      if (this.#rows.size < rowsMax && this.#usage.pages < this.#pagesMax) return;
      this.#rows.delete(key);
      row.drop();
    }
  }
}

/** How many pages one condition's answers may take: its part of 1 MiB, but at least 16 KiB and two whole rows. */
export function answerPagesMax(recipientCount: number, conditionCount: number): number {
  return Math.max(64, 2 * Math.ceil(recipientCount / pageCells), Math.floor(4096 / Math.max(1, conditionCount)));
}

function compiled(source: string): CelExpression | undefined {
  try {
    return compileCel(source, variables, "bool");
  } catch {
    return undefined;
  }
}

/** The paths below item, in parts; undefined where a key that is written as a text could be taken for several. */
function fieldsOf(paths: readonly string[], source: string): string[][] | undefined {
  // What stands in brackets behind a name or another bracket is a key; behind `in` it is a list.
  const keys = [...source.matchAll(/(?<=[\w\])}])(?<!\bin)\s*\[([^\]]*)/g)].map(([, key]) => key!);
  const isPlain = (key: string) => !/["']/.test(key) || /^\s*\??\s*(["'])[\w -]*\1\s*$/.test(key);
  if (/\/\/|`/.test(source) || !keys.every(isPlain)) return undefined;
  return paths.filter((path) => path === "item" || path.startsWith("item.")).map((path) => path.split(".").slice(1));
}

function keyOf(item: object, fields: readonly (readonly string[])[]): string | undefined {
  let key = "";
  for (const field of fields) {
    let value: unknown = item;
    for (const part of field) {
      value = isRecord(value) && Object.hasOwn(value, part) ? value[part] : undefined;
    }
    const text = textOf(value);
    if (text === undefined || key.length + text.length > keyCharsMax) return undefined;
    key += `${text};`;
  }
  return key;
}

/** A value as a text that no other value has; undefined for what rarely comes twice or is long to write down. */
function textOf(value: unknown): string | undefined {
  if (value === undefined) return "";
  if (Array.isArray(value)) {
    if (value.length > listItemsMax || value.some((one) => typeof one === "object" && one !== null)) return undefined;
    const texts = value.map(textOf);
    return texts.includes(undefined) ? undefined : `[${texts.join(",")}]`;
  }
  if (typeof value === "string") return value.length > keyCharsMax ? undefined : JSON.stringify(value);
  return value === null || typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
