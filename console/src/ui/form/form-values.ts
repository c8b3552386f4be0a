import { ApiError } from "@client/transport/errors";
import { formatSeconds, messageOf, parseSeconds } from "../format";
import type { Field, Texts } from "./field";

/** Reads a value by the name of its field. */
export function read(values: Readonly<Record<string, unknown>>, name: string): unknown {
  return name
    .split(".")
    .reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], values);
}

export function toText({ kind, choices, required }: Field, value: unknown): string {
  if (value === undefined || value === null) {
    if (kind === "choice" && required) return choiceValue(choices?.[0]);
    return "";
  }
  if (kind === "json") return JSON.stringify(value, null, 2);
  if (kind === "list") return (value as readonly string[]).join(", ");
  if (kind === "duration") return formatDuration(Number(value));
  if (kind === "time") return toLocalTime(String(value));
  return String(value);
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

/** Converts the texts of a form to the values of a request. Empty fields are left out. */
export function parse(fields: readonly Field[], texts: Texts): { values: Record<string, unknown>; invalid: Texts } {
  const values: Record<string, unknown> = {};
  const invalid: Record<string, string> = {};
  for (const field of fields) {
    const text = texts[field.name] ?? "";
    if (text === "" && field.kind !== "flag") {
      if (field.required) invalid[field.name] = "This field is required.";
      continue;
    }
    try {
      write(values, field.name, toValue(field, text));
    } catch {
      invalid[field.name] = mistakes[field.kind ?? "text"] ?? "This is not a number.";
    }
  }
  return { values, invalid };
}

const mistakes: Readonly<Record<string, string>> = {
  json: "This is not valid JSON.",
  duration: 'Write a number and a unit, such as "30 s", "5 min", "2 h" or "7 d".',
};

function toValue({ kind }: Field, text: string): unknown {
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
      return text
        .split(/[,\n]/)
        .map((part) => part.trim())
        .filter(Boolean);
    case "json":
      return JSON.parse(text);
    case "time":
      return new Date(text).toISOString();
    default:
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
  object[parts.at(-1)!] = value;
}

/** Divides the violations of an error between the fields and a general message. */
export function splitViolations(
  failure: unknown,
  fields: readonly Field[],
): { found: Texts; rest: string | undefined } {
  const violations = failure instanceof ApiError ? failure.violations : [];
  const found: Record<string, string> = {};
  const others: string[] = [];
  for (const { field, message } of violations) {
    const owner = fields.find(
      ({ name }) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
    );
    if (owner === undefined) others.push(`${field} ${message}`);
    else found[owner.name] = message;
  }
  if (violations.length === 0) return { found, rest: messageOf(failure) };
  return { found, rest: others.length === 0 ? undefined : others.join(" ") };
}
