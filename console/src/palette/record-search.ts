import { formatCount } from "../ui/format";
import type { Found } from "./found";
import { findById } from "./id-search";
import { findByKey } from "./key-search";
import { createNameSearch, type Matches } from "./name-search";

/** Found records, with a note about missing ones. */
export interface FoundRecords {
  readonly records: readonly Found[];
  /** A note about missing records; empty if the result is complete. */
  readonly note: string;
}

const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const shownMax = 12;

/** A verb before a name, such as "pause sales". */
const command = /^(pause|resume|start)\s+(.+)$/i;

/** Creates a search for records by a part of their name, their whole key or id, and for what can be done with them. */
export function createRecordSearch() {
  const names = createNameSearch();
  return async (text: string, isWanted: () => boolean): Promise<FoundRecords> => {
    const id = text.toUpperCase();
    if (ulid.test(id)) return { records: await findById(id), note: "" };
    const [, verb, name] = command.exec(text) ?? [];
    const [{ records, incomplete }, keyed] = await Promise.all([
      names.find(name ?? text, isWanted),
      verb === undefined ? findByKey(text) : [],
    ]);
    const found =
      verb === undefined ? [...keyed, ...records] : records.flatMap((each) => each.verbs[verb.toLowerCase()] ?? []);
    return { records: found.slice(0, shownMax), note: noteOn(found.length, incomplete) };
  };
}

function noteOn(found: number, incomplete: Matches["incomplete"]): string {
  if (found > shownMax) return `These are ${shownMax} of the records that match. Type more of the name.`;
  const failed = incomplete.filter(({ searched }) => searched === 0).map(({ plural }) => plural);
  const parts = incomplete
    .filter(({ searched }) => searched > 0)
    .map(({ plural, searched }) => `${formatCount(searched)} ${plural}`);
  const notes: string[] = [];
  if (parts.length > 0) {
    notes.push(`Only the first ${listOf(parts)} were searched. To find others, type a whole id, or open their list.`);
  }
  if (failed.length > 0) notes.push(`The service did not list ${listOf(failed)}. Try again.`);
  return notes.join(" ");
}

function listOf(parts: readonly string[]): string {
  return new Intl.ListFormat("en", { type: "conjunction" }).format(parts);
}
