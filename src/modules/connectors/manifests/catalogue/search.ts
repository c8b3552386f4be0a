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

interface Searchable<T> {
  readonly key: string;
  readonly text: SearchableText;
  readonly value: T;
}

/**
 * Finds the entries that match all words of a query and a filter. The best matches come first: the key itself, then words at
 * the start of names, then words anywhere in names, then the rest. The entries must be sorted by key.
 */
export function search<T>(
  entries: readonly Searchable<T>[],
  query: string,
  filter: (value: T) => boolean,
): readonly Ranked<T>[] {
  const text = query.trim().toLowerCase();
  if (text === "") {
    return entries.flatMap(({ key, value }) => (filter(value) ? [{ sortKey: key, value }] : []));
  }
  const words = text.split(/\s+/);
  const starts = words.map((word) => new RegExp(`[ ._-]${word.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")}`));
  const byRank: Ranked<T>[][] = [[], [], [], []];
  for (const entry of entries) {
    const rank = rankOf(entry, text, words, starts);
    if (rank === undefined || !filter(entry.value)) continue;
    byRank[rank]!.push({ sortKey: `${rank}${entry.key}`, value: entry.value });
  }
  return byRank.flat();
}

function rankOf<T>(
  { key, text: { head, rest } }: Searchable<T>,
  text: string,
  words: readonly string[],
  starts: readonly RegExp[],
): 0 | 1 | 2 | 3 | undefined {
  if (key === text || key.endsWith(`.${text}`)) return 0;
  if (!words.every((word) => head.includes(word) || rest.includes(word))) return undefined;
  if (!words.every((word) => head.includes(word))) return 3;
  return starts.every((start) => start.test(head)) ? 1 : 2;
}
