import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { camelCase } from "../../src/platform/text/index.ts";
import { type Json, rulesOf } from "../harness/operations.ts";

/** A way in which callers get a request wrong. */
export interface Break {
  readonly name: string;
  /** The broken requests that it makes of a valid one. */
  readonly apply: (request: Json, desc: DescMessage) => Json[];
}

/** A value of a request: how to replace it in a copy, and its field. */
interface Spot {
  readonly field: DescField;
  readonly value: unknown;
  /** The keys from the request to the value. */
  readonly keys: readonly (string | number)[];
}

/** Every member of a request and of the messages in it. */
function spotsOf(request: Json, desc: DescMessage, keys: readonly (string | number)[] = []): Spot[] {
  return desc.fields.flatMap((field): Spot[] => {
    const value = request[field.name];
    if (value === undefined) return [];
    const at = [...keys, field.name];
    const inner =
      field.message === undefined || field.message.typeName.startsWith("google.") ? undefined : field.message;
    const nested =
      inner === undefined
        ? []
        : field.fieldKind === "message"
          ? spotsOf(value as Json, inner, at)
          : Object.entries(value as Json).flatMap(([key, each]) =>
              spotsOf(each as Json, inner, [...at, Array.isArray(value) ? Number(key) : key]),
            );
    return [{ field, value, keys: at }, ...nested];
  });
}

/** A copy of a request whose member `key` of the object at `keys` is replaced by other members, in its place. */
function withMembers(request: unknown, keys: readonly (string | number)[], members: (value: unknown) => Json): unknown {
  const [key, ...rest] = keys;
  if (Array.isArray(request)) return request.map((each, at) => (at === key ? withMembers(each, rest, members) : each));
  return Object.fromEntries(
    Object.entries(request as Json).flatMap(([name, value]) => {
      if (name !== key) return [[name, value]];
      return rest.length === 0 ? Object.entries(members(value)) : [[name, withMembers(value, rest, members)]];
    }),
  );
}

/** A break that sends values in another form; undefined for values that have none. */
function values(name: string, change: (value: unknown, field: DescField) => unknown): Break {
  return {
    name,
    apply: (request, desc) =>
      spotsOf(request, desc).flatMap(({ field, value, keys }) => {
        const changed = change(value, field);
        if (changed === undefined) return [];
        return [withMembers(request, keys, () => ({ [field.name]: changed })) as Json];
      }),
  };
}

/** A break that sends fields under other names; undefined for names that stay. */
function names(name: string, change: (name: string) => string | undefined): Break {
  return {
    name,
    apply: (request, desc) =>
      spotsOf(request, desc).flatMap(({ field, keys }) => {
        const changed = change(field.name);
        if (changed === undefined || changed === field.name) return [];
        return [withMembers(request, keys, (value) => ({ [changed]: value })) as Json];
      }),
  };
}

const isText = (value: unknown): value is string => typeof value === "string" && value.length > 0;
const isSingle = ({ fieldKind, message }: DescField) =>
  fieldKind !== "list" && fieldKind !== "map" && message?.typeName !== "google.protobuf.Value";
const stringRules = (field: DescField) => {
  const type = rulesOf(field)?.type;
  return type?.case === "string" ? type.value : undefined;
};

const isChoice = (field: DescField) => field.enum !== undefined || (stringRules(field)?.in.length ?? 0) > 0;

/** Swaps two letters in the middle. */
function mistype(text: string): string | undefined {
  const at = Math.floor(text.length / 2);
  if (text.length < 4 || text[at] === text[at - 1]) return undefined;
  return text.slice(0, at - 1) + text[at] + text[at - 1] + text.slice(at + 1);
}

/** A member of a nested message, sent beside the message. */
function misplaced(request: Json, desc: DescMessage): Json[] {
  return desc.fields.flatMap((field) => {
    const inner = request[field.name];
    if (field.fieldKind !== "message" || field.message.typeName.startsWith("google.")) return [];
    return Object.entries((inner ?? {}) as Json).flatMap(([name, value]) => {
      if (desc.fields.some((each) => each.name === name)) return [];
      const { [name]: _moved, ...rest } = inner as Json;
      return [{ ...request, [field.name]: rest, [name]: value }];
    });
  });
}

/** The ways in which callers get requests wrong. */
export const breaks: readonly Break[] = [
  names("a mistyped field", mistype),
  names("a field in camelCase", camelCase),
  names("a field with hyphens", (name) => name.replaceAll("_", "-")),
  names("a field in upper case", (name) => name.toUpperCase()),
  { name: "a field beside its object", apply: misplaced },
  {
    name: "a request in another object",
    apply: (request) => (Object.keys(request).length === 0 ? [] : [{ data: request }]),
  },
  values("a number as a text", (value) => (typeof value === "number" ? String(value) : undefined)),
  values("a time span with a unit", (value, { name }) =>
    typeof value === "number" && name.endsWith("_s") ? `${value} seconds` : undefined,
  ),
  values("a boolean as a text", (value) => (typeof value === "boolean" ? String(value) : undefined)),
  values("a text of digits as a number", (value, { fieldKind }) =>
    fieldKind === "scalar" && isText(value) && /^[1-9]\d{0,8}$/.test(value) ? Number(value) : undefined,
  ),
  values("one item for a list", (value, { fieldKind }) =>
    fieldKind === "list" && (value as unknown[]).length === 1 ? (value as unknown[])[0] : undefined,
  ),
  values("a list of one", (value, field) => (isSingle(field) ? [value] : undefined)),
  values("texts with commas for a list", (value, { fieldKind }) =>
    fieldKind === "list" && (value as unknown[]).length > 1 && (value as unknown[]).every(isText)
      ? (value as unknown[]).join(", ")
      : undefined,
  ),
  values("JSON in a text", (value, field) =>
    typeof value === "object" && field.message?.typeName !== "google.protobuf.Value"
      ? JSON.stringify(value)
      : undefined,
  ),
  {
    name: "null for an absent field",
    apply: (request, desc) =>
      desc.fields
        .filter(({ name, message }) => request[name] === undefined && message?.typeName !== "google.protobuf.Value")
        .map(({ name }) => ({ ...request, [name]: null })),
  },
  values("a mistyped choice", (value, field) => (isChoice(field) && isText(value) ? mistype(value) : undefined)),
  values("a choice in another case", (value, field) => {
    if (!isChoice(field) || !isText(value)) return undefined;
    return field.enum === undefined ? value.toUpperCase() : value.toLowerCase();
  }),
  values("a choice without its prefix", (value, { enum: choices }) =>
    isText(value) && choices?.sharedPrefix !== undefined
      ? value.slice(choices.sharedPrefix.length).toLowerCase()
      : undefined,
  ),
  values(
    "a choice as a number",
    (value, { enum: choices }) => choices?.values.find(({ name }) => name === value)?.number,
  ),
  values("a time without T and Z", (value, { message }) =>
    message?.typeName === "google.protobuf.Timestamp" && isText(value)
      ? value.replace("T", " ").replace("Z", "")
      : undefined,
  ),
  values("a time in seconds since 1970", (value, { message }) =>
    message?.typeName === "google.protobuf.Timestamp" && isText(value) ? Date.parse(value) / 1000 : undefined,
  ),
  values("spaces around a text", (value, field) =>
    isText(value) && field.scalar === ScalarType.STRING && stringRules(field)?.pattern ? ` ${value} ` : undefined,
  ),
  values("a text in upper case", (value, field) =>
    isText(value) && field.scalar === ScalarType.STRING && stringRules(field)?.pattern && value !== value.toUpperCase()
      ? value.toUpperCase()
      : undefined,
  ),
  values("an item twice", (value, field) => {
    const type = rulesOf(field)?.type;
    return type?.case === "repeated" && type.value.unique
      ? [...(value as unknown[]), (value as unknown[])[0]]
      : undefined;
  }),
];
