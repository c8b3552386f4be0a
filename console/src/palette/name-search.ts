import { can } from "../core/session";
import { type NamedKind, type NamedRecord, namedKinds } from "./named-kinds";

/** Result of a search by name. */
export interface Matches {
  /** The best ones first. */
  readonly records: readonly NamedRecord[];
  /** The kinds of which not every record was searched. */
  readonly incomplete: readonly Incomplete[];
}

interface Incomplete {
  readonly plural: string;
  /** How many were searched. */
  readonly searched: number;
}

/** Searches records by a part of their names. Records read for one text are reused for the next ones. */
export interface NameSearch {
  /** Stops reading when the result is not wanted any more. */
  find(text: string, isWanted: () => boolean): Promise<Matches>;
}

/** So many records of a kind are read at most. */
const readMax = 5_000;
/** No more are read when so many match. */
const enough = 50;

export function createNameSearch(): NameSearch {
  const readers = namedKinds.filter(({ scope }) => can(scope)).map(createReader);
  return {
    async find(text, isWanted) {
      const results = await Promise.all(readers.map((reader) => search(reader, text, isWanted)));
      const found = results.flatMap(({ records }) => records);
      return {
        records: found.toSorted((a, b) => rank(a, text.toLowerCase()) - rank(b, text.toLowerCase())),
        incomplete: results.flatMap(({ incomplete }) => incomplete),
      };
    },
  };
}

/** Searches the records of one kind. */
export function createKindSearch(kind: NamedKind) {
  const reader = createReader(kind);
  return (text: string) => search(reader, text, () => true);
}

async function search(reader: Reader, text: string, isWanted: () => boolean) {
  const { kind, state } = reader;
  const wanted = text.toLowerCase();
  let records: NamedRecord[];
  do {
    records = state.records.filter(({ names }) => names.some((name) => name.includes(wanted)));
  } while (records.length < enough && isWanted() && (await reader.readMore()));
  if (state.isComplete || !isWanted()) return { records, incomplete: [] };
  const known = new Set(records.map(identityOf));
  const others = await kind.lookUp(text).catch(() => []);
  return {
    records: [...records, ...others.filter((each) => !known.has(identityOf(each)))],
    incomplete: [{ plural: kind.plural, searched: state.records.length }],
  };
}

/** Some kinds have one page for all their records. */
function identityOf({ href, title }: NamedRecord): string {
  return `${href} ${title}`;
}

interface Reader {
  readonly kind: NamedKind;
  readonly state: { readonly records: NamedRecord[]; isComplete: boolean };
  /** Reads the next page. Returns false if there is none, if enough was read, or if it cannot be read. */
  readMore(): Promise<boolean>;
}

function createReader(kind: NamedKind): Reader {
  const state: Reader["state"] = { records: [], isComplete: false };
  let pages = kind.pages();
  let reading: Promise<boolean> | undefined;

  async function read(): Promise<boolean> {
    try {
      const { value, done } = await pages.next();
      if (!done) state.records.push(...value.records);
      state.isComplete = done === true || state.records.length >= value.total;
      return !done;
    } catch {
      // An iterator that failed has ended, so that the next search starts from the first page.
      pages = kind.pages();
      state.records.length = 0;
      return false;
    }
  }

  return {
    kind,
    state,
    readMore() {
      if (state.isComplete || state.records.length >= readMax) return Promise.resolve(false);
      reading ??= read().finally(() => {
        reading = undefined;
      });
      return reading;
    },
  };
}

/** A whole name first, then the start of one, then any other part. */
function rank({ names }: NamedRecord, wanted: string): number {
  if (names.includes(wanted)) return 0;
  return names.some((name) => name.startsWith(wanted)) ? 1 : 2;
}
