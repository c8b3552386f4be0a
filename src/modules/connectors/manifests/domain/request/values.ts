import { isJsonObject, type Json } from "../../../../../platform/document/index.ts";
import type { AccountValues } from "../provider.ts";
import type { RenderFailure } from "../request-spec.ts";
import type { EntryNames, Placeholder, TextTemplate, ValueTemplate } from "../template.ts";
import { encodeMimeWords } from "./encoding.ts";

/** The values that a request is rendered with. */
export interface RequestValues {
  readonly input: Json;
  readonly account: AccountValues;
  readonly idempotencyKey?: string | undefined;
  /** For requests of trigger registrations. */
  readonly subscription?: Readonly<Record<string, string>> | undefined;
  /** For the input that a notification becomes. */
  readonly message?: Json | undefined;
  readonly nowMs: number;
}

/** Ends the rendering of a request; `renderRequest` returns its fault. */
export class RenderError extends Error {
  readonly fault: RenderFailure;

  constructor(fault: RenderFailure["fault"], place: string, message: string) {
    super(message);
    this.fault = { fault, place, message };
  }
}

/** The name of a placeholder as it is written. */
export function nameOf({ root, path }: Placeholder): string {
  return [root, ...path].join(".");
}

/** Finds the value of a placeholder; undefined if it is absent. */
export function resolve(placeholder: Placeholder, values: RequestValues): Json | undefined {
  let value = rootValue(placeholder, values);
  for (const name of placeholder.root === "now" ? [] : placeholder.path) {
    if (Array.isArray(value)) value = /^\d{1,6}$/.test(name) ? (value as readonly Json[])[Number(name)] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  const { filter, fallback } = placeholder;
  const found = value === undefined ? fallback : value;
  return found === undefined || filter === undefined ? found : filtered(found, placeholder);
}

function rootValue({ root, path }: Placeholder, values: RequestValues): Json | undefined {
  const { account } = values;
  switch (root) {
    case "input":
      return values.input;
    case "settings":
      return account.settings as Json;
    case "captured":
      return account.captured as Json;
    case "account":
      return account.account;
    case "credentials":
      return account.credentials;
    case "config":
      return account.config;
    case "subscription":
      return values.subscription;
    case "message":
      return values.message;
    case "idempotency_key":
      return values.idempotencyKey;
    case "now":
      return timeAs(path[0], values.nowMs);
  }
}

function timeAs(format: string | undefined, nowMs: number): Json {
  if (format === "epoch_s") return Math.floor(nowMs / 1000);
  if (format === "epoch_ms") return nowMs;
  const iso = new Date(nowMs).toISOString();
  return format === "date" ? iso.slice(0, 10) : iso;
}

function filtered(value: Json, placeholder: Placeholder): Json {
  switch (placeholder.filter) {
    case "json":
      return JSON.stringify(value);
    case "csv":
      return Array.isArray(value)
        ? (value as readonly Json[]).map((each) => scalarText(each, placeholder)).join(",")
        : value;
    case "base64":
    case "base64url":
      return Buffer.from(scalarText(value, placeholder)).toString(placeholder.filter);
    case "mime_word":
      return encodeMimeWords(singleLine(value, placeholder));
    case "line":
      return singleLine(value, placeholder);
    // The renderer of paths applies it.
    case "path":
    case undefined:
      return value;
  }
}

function singleLine(value: Json, placeholder: Placeholder): string {
  const text = scalarText(value, placeholder);
  if (!/[\x00-\x1f\x7f]/.test(text)) return text;
  throw new RenderError("invalid_value", nameOf(placeholder), "must be a single line without control characters");
}

/** The text of a value that is inserted into a text. */
export function scalarText(value: Json, placeholder: Placeholder): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new RenderError("invalid_value", nameOf(placeholder), "must be a text, a number or a boolean");
}

/** Fills in a text; undefined if a value is absent or null. */
export function renderText({ parts }: TextTemplate, values: RequestValues): string | undefined {
  let text = "";
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const value = resolve(part, values);
    if (value === undefined || value === null) return undefined;
    text += scalarText(value, part);
  }
  return text;
}

/** Fills in a text that must be complete; otherwise the rendering ends with a fault that names the absent value. */
export function requireText(template: TextTemplate, values: RequestValues): string {
  const text = renderText(template, values);
  if (text !== undefined) return text;
  const absent = template.parts.find((part) => typeof part !== "string" && (resolve(part, values) ?? null) === null);
  throw new RenderError("missing_value", nameOf(absent as Placeholder), "has no value");
}

/** A list whose elements repeat the name in a form or query. */
export class RepeatedValue {
  readonly elements: readonly Json[];

  constructor(elements: readonly Json[]) {
    this.elements = elements;
  }
}

export type Rendered = Json | RepeatedValue;

/** Whether an object lost all its members. It is dropped too, because providers refuse such objects. */
function isEmptied(template: ValueTemplate, value: Rendered): boolean {
  return template.kind === "object" && template.members.length > 0 && Object.keys(value as object).length === 0;
}

/** Fills in a JSON value. Absent values drop the member or element that holds them, and objects within that become empty. */
export function renderValue(template: ValueTemplate, values: RequestValues): Rendered | undefined {
  switch (template.kind) {
    case "constant":
      return template.value;
    case "placeholder":
      return resolve(template.placeholder, values);
    case "text":
      return renderText(template.template, values);
    case "encoded":
      return encoded(renderValue(template.value, values) as Json | undefined, template.encoding);
    case "repeat": {
      const value = renderValue(template.value, values) as Json | undefined;
      return value === undefined ? undefined : new RepeatedValue(Array.isArray(value) ? value : [value]);
    }
    case "entries":
      return entriesOf(renderValue(template.value, values) as Json | undefined, template.names);
    case "items":
      return itemsOf(renderValue(template.value, values) as Json | undefined, template.names);
    case "list":
      return template.elements.flatMap((each) => {
        const value = renderValue(each, values);
        return value === undefined ? [] : [value as Json];
      });
    case "object": {
      const members: Record<string, Rendered> = {};
      for (const [name, each] of template.members) {
        const value = renderValue(each, values);
        if (value !== undefined && !isEmptied(each, value)) members[name] = value;
      }
      return members as Json;
    }
  }
}

function entriesOf(value: Json | undefined, names: EntryNames): Json | undefined {
  if (value === undefined) return undefined;
  if (!isJsonObject(value)) throw new RenderError("invalid_value", "$entries", "must be an object");
  return Object.entries(value).map(([name, each]) => ({ [names.name]: name, [names.value]: each }));
}

function itemsOf(value: Json | undefined, names: Readonly<Record<string, string>>): Json | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every(isJsonObject))
    throw new RenderError("invalid_value", "$items", "must be a list of objects");
  return value.map((item) =>
    Object.fromEntries(
      Object.entries(names).flatMap(([from, to]) => (item[from] === undefined ? [] : [[to, item[from]]])),
    ),
  );
}

function encoded(value: Json | undefined, encoding: "base64" | "base64url" | "json"): Json | undefined {
  if (value === undefined) return undefined;
  if (encoding === "json") return JSON.stringify(value);
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString(encoding);
}
