import { isJsonObject, type Json } from "../../../../platform/document/index.ts";

/** Finds a value by its JSON Pointer (RFC 6901); undefined if it is absent. */
export function valueAt(document: Json | undefined, pointer: string): Json | undefined {
  let value = document;
  for (const segment of segmentsOf(pointer)) {
    if (Array.isArray(value))
      value = /^(0|[1-9][0-9]*)$/.test(segment) ? (value as readonly Json[])[Number(segment)] : undefined;
    else if (isJsonObject(value) && Object.hasOwn(value, segment)) value = value[segment];
    else return undefined;
  }
  return value;
}

/** Finds all values at a pointer in which `*` stands for every element of a list. A list that is absent has no elements. */
export function valuesAt(document: Json, pointer: string): readonly Json[] {
  let values: readonly Json[] = [document];
  for (const segment of segmentsOf(pointer)) {
    values = values.flatMap((value): readonly Json[] => {
      if (segment === "*") return Array.isArray(value) ? (value as readonly Json[]) : [];
      const member = valueAt(value, `/${segment.replaceAll("~", "~0").replaceAll("/", "~1")}`);
      return member === undefined ? [] : [member];
    });
  }
  return values;
}

/** Returns a copy of a document with another value at a pointer. Objects on the way are created. */
export function withValueAt(document: Json | undefined, pointer: string, value: Json): Json {
  const [first, ...rest] = segmentsOf(pointer);
  return first === undefined ? value : replaceAt(document, first, rest, value);
}

function replaceAt(document: Json | undefined, segment: string, rest: readonly string[], value: Json): Json {
  const [next, ...further] = rest;
  const replaced = (old: Json | undefined) => (next === undefined ? value : replaceAt(old, next, further, value));
  if (Array.isArray(document)) {
    const elements: readonly Json[] = document;
    return elements.map((each, at) => (String(at) === segment ? replaced(each) : each));
  }
  const members = isJsonObject(document) ? document : {};
  return { ...members, [segment]: replaced(Object.hasOwn(members, segment) ? members[segment] : undefined) };
}

/** The segments of a pointer; the empty pointer, for the whole document, has none. */
export function segmentsOf(pointer: string): readonly string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((each) => each.replaceAll("~1", "/").replaceAll("~0", "~"));
}
