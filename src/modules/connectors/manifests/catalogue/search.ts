import { cutRows, type Page, type PageRows } from "../../../../platform/paging/index.ts";

/** The texts of an entry, prepared for searches: in lower case. */
export interface SearchableText {
  /** Key, title and names. */
  readonly head: string;
  /** Everything else. */
  readonly rest: string;
}

/** Prepares texts for searches. */
export function searchableText(head: readonly string[], rest: readonly string[]): SearchableText {
  return { head: ` ${head.join(" ").toLowerCase()}`, rest: rest.join(" ").toLowerCase() };
}

/** An entry of a list, with the key by which pages are ordered. */
export interface Ranked<T> {
  readonly sortKey: string;
  readonly value: T;
}

/** An entry that can be searched. */
export interface Searchable<T> {
  readonly key: string;
  readonly text: SearchableText;
  readonly value: T;
}

/** Entries that are searched together, sorted by key. */
export class SearchIndex<T> {
  readonly entries: readonly Searchable<T>[];
  /** The texts of all entries. One search of a long text is much faster than many searches of short ones. */
  readonly #text: string;
  /** The position of each entry in the text, and the end of the text. */
  readonly #starts: Int32Array;

  constructor(entries: readonly Searchable<T>[]) {
    this.entries = entries.toSorted((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0));
    const texts = this.entries.map(({ text }) => `${text.head}\n${text.rest}\n`);
    this.#text = texts.join("");
    this.#starts = new Int32Array(texts.length + 1);
    for (const [at, text] of texts.entries()) this.#starts[at + 1] = this.#starts[at]! + text.length;
  }

  /** The entries whose text contains a word. */
  *containing(word: string): Generator<Searchable<T>> {
    let nth = 0;
    for (let at = this.#text.indexOf(word); at >= 0; at = this.#text.indexOf(word, this.#starts[nth])) {
      while (this.#starts[nth + 1]! <= at) nth++;
      yield this.entries[nth++]!;
    }
  }
}

/**
 * Finds one page of the entries that match all words of a query and a filter. The best matches come first: the key itself, then
 * words at the start of names, then words anywhere in names, then the rest.
 */
export function searchPage<T>(
  index: SearchIndex<T>,
  query: string,
  filter: (value: T) => boolean,
  page: Page,
): PageRows<Ranked<T>> {
  const byRank = rankEntries(index, query.trim().toLowerCase(), filter);
  const count = byRank.reduce((sum, each) => sum + each.length, 0);
  const rows: Ranked<T>[] = [];
  let skip = page.offset;
  for (const [rank, ranked] of byRank.entries()) {
    // Only the entries of the page get a sort key.
    for (let at = firstAfter(ranked, rank, page.after); at < ranked.length && rows.length < page.fetch; at++) {
      if (skip > 0) skip--;
      else rows.push({ sortKey: sortKeyOf(rank, ranked[at]!.key), value: ranked[at]!.value });
    }
  }
  return { ...cutRows(rows), total: { count, capped: false } };
}

function sortKeyOf(rank: number, key: string): string {
  return `${rank}${key}`;
}

/** The position of the first entry behind the end of the previous page. */
function firstAfter<T>(ranked: readonly Searchable<T>[], rank: number, after: string | undefined): number {
  if (after === undefined || after < String(rank)) return 0;
  let low = 0;
  let high = ranked.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sortKeyOf(rank, ranked[middle]!.key) > after) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The matching entries by rank, each sorted by key. */
function rankEntries<T>(
  index: SearchIndex<T>,
  text: string,
  filter: (value: T) => boolean,
): readonly (readonly Searchable<T>[])[] {
  if (text === "") return [index.entries.filter(({ value }) => filter(value))];
  const words = text.split(/\s+/);
  const starts = words.map((word) => new RegExp(`[ ._-]${word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")}`));
  const suffix = `.${text}`;
  const byRank: Searchable<T>[][] = [[], [], [], []];
  // The longest word is usually the rarest one.
  const rarest = words.reduce((longest, word) => (word.length > longest.length ? word : longest));
  for (const entry of index.containing(rarest)) {
    const isKey = entry.key === text || entry.key.endsWith(suffix);
    const rank = isKey ? 0 : rankOf(entry.text, words, starts);
    if (rank !== undefined && filter(entry.value)) byRank[rank]!.push(entry);
  }
  return byRank;
}

function rankOf(
  { head, rest }: SearchableText,
  words: readonly string[],
  starts: readonly RegExp[],
): 1 | 2 | 3 | undefined {
  if (!words.every((word) => head.includes(word) || rest.includes(word))) return undefined;
  if (!words.every((word) => head.includes(word))) return 3;
  return starts.every((start) => start.test(head)) ? 1 : 2;
}
