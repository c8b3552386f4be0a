import { ApiError, type Violation } from "@client/transport/errors";
import { formatSeconds, messageOf, parseSeconds } from "../format";
import type { Field, Texts, Values } from "./field";

/** Reads a value by the name of its field. */
function read(values: Values, name: string): unknown {
  return name
    .split(".")
    .reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], values);
}

/** The texts that show values: those of all fields, or of some. */
export function toTexts(fields: readonly Field[], values: Values, some = fields): Texts {
  return Object.fromEntries(some.map((field) => [field.name, toText(field, shownValue(field, fields, values))]));
}

function shownValue({ name }: Field, fields: readonly Field[], values: Values): unknown {
  if (!name.endsWith(".*")) return read(values, name);
  const owner = name.slice(0, -1);
  const named = new Set(fields.map((field) => field.name));
  const rest = Object.entries((read(values, owner.slice(0, -1)) ?? {}) as Values).filter(
    ([key]) => !named.has(owner + key),
  );
  return rest.length === 0 ? undefined : Object.fromEntries(rest);
}

function toText(field: Field, value: unknown): string {
  const { kind, choices, required } = field;
  if (value === undefined || value === null) {
    if (kind === "choice" && required) return choiceValue(choices?.[0]);
    return "";
  }
  switch (kind) {
    case "json":
      return JSON.stringify(value, null, 2);
    case "value":
      return typeof value === "string" && readValue(value) === value ? value : JSON.stringify(value);
    case "list":
      return (value as readonly string[]).join(", ");
    case "rows":
      return JSON.stringify((value as readonly Values[]).map((row) => toTexts(field.fields!, row)));
    case "duration":
      return formatDuration(Number(value));
    case "time":
      return toLocalTime(String(value));
    default:
      return String(value);
  }
}

/** Seconds as the text of a field, which must lose nothing. */
function formatDuration(seconds: number): string {
  const text = formatSeconds(seconds);
  return Number.isInteger(seconds) && parseSeconds(text) === seconds ? text : `${seconds} s`;
}

/** A time as the text of a field, which is in the zone of the browser. */
function toLocalTime(time: string): string {
  const at = new Date(time);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function choiceValue(choice: NonNullable<Field["choices"]>[number] | undefined): string {
  return typeof choice === "string" ? choice : (choice?.value ?? "");
}

/** The fields that apply to what is entered. */
export function shownFields(fields: readonly Field[], texts: Texts): readonly Field[] {
  return fields.filter(({ appliesTo }) => appliesTo?.(texts) ?? true);
}

const emptyValues: Readonly<Record<string, unknown>> = { text: "", long: "", code: "", choice: "", list: [], rows: [] };

/**
 * Converts the texts of a form to the values of a request. Empty fields are left out, unless they had a text before: then they
 * are cleared.
 */
export function parse(
  fields: readonly Field[],
  texts: Texts,
  before: Texts = {},
): { values: Record<string, unknown>; invalid: Texts } {
  const values: Record<string, unknown> = {};
  const invalid: Record<string, string> = {};
  for (const field of fields) {
    const { name, kind = "text", required } = field;
    const text = texts[name] ?? "";
    if (text === "" && kind !== "flag") {
      const cleared = field.cleared ?? emptyValues[kind];
      if (required) invalid[name] = "This field is required.";
      else if ((before[name] ?? "") !== "" && cleared !== undefined) write(values, name, cleared);
      continue;
    }
    try {
      write(values, name, toValue(field, text));
    } catch {
      const example = kind === "json" && field.placeholder ? ` An example: ${field.placeholder}` : "";
      invalid[name] = (problems[kind] ?? "This is not a number.") + example;
    }
  }
  return { values, invalid };
}

const problems: Readonly<Record<string, string>> = {
  json: "This is not valid JSON.",
  rows: "Complete or remove the marked rows.",
  duration: 'Write a number and a unit, such as "30 s", "5 min", "2 h" or "7 d".',
};

function toValue({ kind, fields = [] }: Field, text: string): unknown {
  switch (kind) {
    case "number": {
      const value = Number(text);
      if (Number.isNaN(value)) throw new TypeError("not a number");
      return value;
    }
    case "duration":
      return parseSeconds(text);
    case "flag":
      return text === "true";
    case "list":
      return listOf(text);
    case "json":
      return JSON.parse(text);
    case "value":
      return readValue(text);
    case "rows":
      return readRows(text).map((row) => {
        const { values, invalid } = parse(shownFields(fields, row), row);
        if (Object.keys(invalid).length > 0) throw new TypeError("incomplete");
        return values;
      });
    case "time":
      return new Date(text).toISOString();
    default:
      return text;
  }
}

/** The texts of the objects of `rows`. */
export function readRows(text: string): readonly Texts[] {
  return text === "" ? [] : JSON.parse(text);
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function write(target: Record<string, unknown>, name: string, value: unknown): void {
  const parts = name.split(".");
  let object = target;
  for (const part of parts.slice(0, -1)) {
    object[part] ??= {};
    object = object[part] as Record<string, unknown>;
  }
  if (parts.at(-1) === "*") Object.assign(object, value);
  else object[parts.at(-1)!] = value;
}

/** Divides the violations of an error between the fields and a general message. */
export function splitViolations(
  failure: unknown,
  fields: readonly Field[],
  texts: Texts,
): { found: Texts; rest: string | undefined } {
  const violations = failure instanceof ApiError ? failure.violations : [];
  if (violations.length === 0) return { found: {}, rest: messageOf(failure) };
  return placeViolations(violations, fields, texts);
}

/** Violations by the fields that they are about, and those of no field. */
export function placeViolations(
  violations: readonly Pick<Violation, "field" | "message">[],
  fields: readonly Field[],
  texts: Texts,
): { found: Texts; rest: string | undefined } {
  const found: Record<string, string> = {};
  const others: string[] = [];
  for (const { field, message } of violations) {
    const owner = fields.find(
      ({ name }) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
    );
    if (owner === undefined) {
      others.push(`${field} ${message}`);
      continue;
    }
    // A document has many fields. Each of its messages says which one it is about.
    const inner = innerName(field.slice(owner.name.length), owner, texts);
    const text =
      inner === "" ? message.replace(/^[a-z]/, (first) => `${owner.label} ${first}`) : `${inner}: ${message}`;
    found[owner.name] = [found[owner.name], text].filter(Boolean).join(". ");
  }
  return { found, rest: others.length === 0 ? undefined : others.join(" ") };
}

/** What a violation of a field is about: the entry of a list, the label in a row, otherwise the path. */
function innerName(path: string, { name, kind, fields = [] }: Field, texts: Texts): string {
  const [, at, part] = /^\[(\d+)\](?:\.(.+))?$/.exec(path) ?? [];
  if (kind === "list" && at !== undefined) return `"${listOf(texts[name] ?? "")[Number(at)]}"`;
  const label = kind === "rows" && fields.find((each) => each.name === part)?.label;
  return label ? `${label}, row ${Number(at) + 1}` : path.replace(/^\./, "");
}

function listOf(text: string): readonly string[] {
  return text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter(Boolean);
}
