import { type CelExpression, type CelVariables, compileCel } from "../../../../../platform/cel/index.ts";

/** Variables available to conditions. */
const variables: CelVariables = { item: "map", recipient: "map", pool: "map", now: "timestamp" };

/** The result of a condition; UNKNOWN until it is evaluated. */
export type Verdict = 0 | 1 | 2 | 3;
export const UNKNOWN = 0;
export const HOLDS = 1;
export const DOES_NOT_HOLD = 2;
export const FAILED = 3;

const pageBits = 8;
const pageCells = 1 << pageBits;
/** Maximum number of distinct items for which a condition caches results. */
const rowsMax = 256;
/** Maximum length of the cache key of an item. */
const keyCharsMax = 200;
/** Maximum length of a list in the cache key. */
const listItemsMax = 16;

/** Cached results of a condition for one kind of item, by recipient. */
export class ResultRow {
  /** The result without a recipient; FAILED if it depends on the recipient. */
  withoutRecipient: Verdict = UNKNOWN;
  /** The result of a search among all eligible recipients: the index of a match, or a negative number. */
  searched: number | undefined;
  pageCount = 0;
  /** The total number of pages of all cached rows. */
  #usage: { pages: number };
  readonly #pages: (Uint8Array | undefined)[] = [];

  constructor(usage = { pages: 0 }) {
    this.#usage = usage;
  }

  /** Removes the row from the page count. A decision in progress may still write to it. */
  drop(): void {
    this.#usage.pages -= this.pageCount;
    this.#usage = { pages: 0 };
  }

  /** Copies the row without the results of some recipients. */
  without(indices: readonly number[], usage: { pages: number }): ResultRow {
    const copy = new ResultRow(usage);
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
 * A compiled condition that caches its results.
 *
 * A result depends on the recipient and on the few item fields that the condition reads. Items with equal values in
 * these fields share a row, so a pool with thousands of recipients evaluates a condition once per recipient and not
 * once per item. A condition over `now` is cached only within one decision.
 */
export class Condition {
  readonly source: string;
  /** Undefined if the condition cannot be compiled; it then fails on evaluation. */
  readonly expression: CelExpression | undefined;
  readonly namesRecipient: boolean;
  /** The item fields that the condition reads; undefined if results cannot be shared. */
  readonly #fields: readonly (readonly string[])[] | undefined;
  readonly #rows = new Map<string, ResultRow>();
  readonly #usage = { pages: 0 };
  readonly #pagesMax: number;

  constructor(source: string, pagesMax: number) {
    this.source = source;
    this.expression = tryCompile(source);
    const names = (variable: string) => this.expression?.variables.includes(variable) === true;
    const paths = this.expression?.paths ?? [];
    this.namesRecipient = names("recipient");
    this.#fields = names("now") ? undefined : fieldsOf(paths, source);
    this.#pagesMax = pagesMax;
  }

  /** Copies the condition and its results, except those of some recipients. */
  without(indices: readonly number[]): Condition {
    const copy = new Condition(this.source, this.#pagesMax);
    for (const [key, row] of this.#rows) copy.#rows.set(key, row.without(indices, copy.#usage));
    return copy;
  }

  /** Returns the row for an item; a new, uncached row if results cannot be shared. */
  rowFor(item: object): ResultRow {
    const key = this.#fields === undefined ? undefined : keyOf(item, this.#fields);
    if (key === undefined) return new ResultRow();
    let row = this.#rows.get(key);
    if (row === undefined) {
      this.#evict();
      row = new ResultRow(this.#usage);
      this.#rows.set(key, row);
    }
    return row;
  }

  #evict(): void {
    for (const [key, row] of this.#rows) {
      if (this.#rows.size < rowsMax && this.#usage.pages < this.#pagesMax) return;
      this.#rows.delete(key);
      row.drop();
    }
  }
}

/** Returns the page limit of one condition: its share of 1 MiB, but at least 16 KiB and two complete rows. */
export function resultPagesMax(recipientCount: number, conditionCount: number): number {
  return Math.max(64, 2 * Math.ceil(recipientCount / pageCells), Math.floor(4096 / Math.max(1, conditionCount)));
}

function tryCompile(source: string): CelExpression | undefined {
  try {
    return compileCel(source, variables, "bool");
  } catch {
    return undefined;
  }
}

/** Returns the paths below item; undefined if a quoted key makes them ambiguous. */
function fieldsOf(paths: readonly string[], source: string): string[][] | undefined {
  // A bracket after a name or another bracket is a key; after `in` it is a list.
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

/** Encodes a value unambiguously; undefined for values that rarely repeat or are long. */
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
