import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";

const nul = "\u0000";

type Fields = Record<string, unknown>;

/** Finds the path of the first string that contains U+0000, which the database cannot store. */
export function findNul(desc: DescMessage, message: Message): string | undefined {
  for (const field of desc.fields) {
    const value = valueIn(field, message as unknown as Fields);
    const found = value === undefined ? undefined : findInField(field, value);
    if (found !== undefined) return field.name + found;
  }
  return undefined;
}

function valueIn(field: DescField, fields: Fields): unknown {
  if (field.oneof === undefined) return fields[field.localName];
  const chosen = fields[field.oneof.localName] as { case: string | undefined; value?: unknown };
  return chosen.case === field.localName ? chosen.value : undefined;
}

// The path below the field: "" for the field itself.
function findInField(field: DescField, value: unknown): string | undefined {
  if (field.fieldKind !== "list" && field.fieldKind !== "map") return findInItem(field.message, value);
  for (const [key, item] of Object.entries(value as object)) {
    const step = field.fieldKind === "list" ? `[${key}]` : `[${JSON.stringify(key)}]`;
    if (key.includes(nul)) return step;
    const found = findInItem(field.message, item);
    if (found !== undefined) return step + found;
  }
  return undefined;
}

function findInItem(desc: DescMessage | undefined, item: unknown): string | undefined {
  if (desc === undefined || !isMessage(item)) return findInPlain(item);
  const found = findNul(desc, item);
  return found === undefined ? undefined : `.${found}`;
}

// protobuf-es represents a Struct as plain JSON and a wrapper as its value.
function findInPlain(value: unknown): string | undefined {
  if (typeof value === "string") return value.includes(nul) ? "" : undefined;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return undefined;
  for (const [key, item] of Object.entries(value)) {
    const step = Array.isArray(value) ? `[${key}]` : `[${JSON.stringify(key)}]`;
    if (key.includes(nul)) return step;
    const found = findInPlain(item);
    if (found !== undefined) return step + found;
  }
  return undefined;
}

function isMessage(value: unknown): value is Message {
  return typeof value === "object" && value !== null && "$typeName" in value;
}
