import type { JsonObject } from "../../../pack-records.ts";

/** A place in a content that a slot or the id of an earlier record of the pack fills: `[[slot.team]]`, `[[record.frame]]`. */
export interface Placeholder {
  readonly kind: "slot" | "record";
  readonly name: string;
}

/** Values by the name of their placeholder. */
export interface PlaceholderValues {
  readonly slot: Readonly<Record<string, string | number>>;
  readonly record: Readonly<Record<string, string>>;
}

const pattern = /\[\[(slot|record)\.([a-z][a-z0-9_-]{0,39})\]\]/g;

export function placeholdersOf(content: JsonObject): readonly Placeholder[] {
  const found: Placeholder[] = [];
  mapTexts(content, (text) => {
    for (const [, kind, name] of text.matchAll(pattern)) {
      found.push({ kind: kind as Placeholder["kind"], name: name! });
    }
  });
  return found;
}

/**
 * Fills the placeholders of a content. A text that is only a placeholder becomes the value with its type. Names of members are
 * never filled. All placeholders must have values.
 */
export function fillPlaceholders(content: JsonObject, values: PlaceholderValues): JsonObject {
  const find = (kind: string, name: string) => values[kind as Placeholder["kind"]][name]!;
  return mapTexts(content, (text) => {
    const [whole] = text.matchAll(pattern);
    if (whole !== undefined && whole[0] === text) return find(whole[1]!, whole[2]!);
    return text.replaceAll(pattern, (_, kind: string, name: string) => String(find(kind, name)));
  });
}

function mapTexts(content: JsonObject, convert: (text: string) => unknown): JsonObject {
  const map = (value: unknown): unknown => {
    if (typeof value === "string") return convert(value);
    if (Array.isArray(value)) return value.map(map);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member)]));
  };
  return map(content) as JsonObject;
}
