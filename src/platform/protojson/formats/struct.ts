import type { JsonObject } from "@bufbuild/protobuf";
import type { ListValue, Struct, Value } from "@bufbuild/protobuf/wkt";
import { depthMax, keySegment, kindOf, type Problems } from "../problems.ts";
import { putOwn } from "../shape.ts";
import { numberText, stringText } from "./text.ts";

/**
 * Free JSON in messages. In a field, Struct is kept as plain JSON; Value and ListValue, and a Struct within them, are
 * messages.
 */

/** Writes a Value message; one without a kind, which proto3 forbids, is null. */
export function valueText(message: unknown): string {
  const { kind } = message as Value;
  switch (kind.case) {
    case "stringValue":
      return stringText(kind.value);
    case "numberValue":
      return Number.isFinite(kind.value) ? numberText(kind.value) : "null";
    case "boolValue":
      return kind.value ? "true" : "false";
    case "structValue":
      return structText(kind.value);
    case "listValue":
      return listValueText(kind.value);
    default:
      return "null";
  }
}

/** Writes a Struct message. */
export function structText(message: unknown): string {
  const { fields } = message as Struct;
  const entries = Object.keys(fields).map((key) => `${stringText(key)}:${valueText(fields[key])}`);
  return `{${entries.join(",")}}`;
}

/** Writes a ListValue message. */
export function listValueText(message: unknown): string {
  return `[${(message as ListValue).values.map(valueText).join(",")}]`;
}

/** Whether a string can be stored and sent everywhere: no NUL, no half of a surrogate pair. */
export function isCleanText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Reports text that is not clean. */
export function unclean(problems: Problems): undefined {
  return problems.add("string.well_formed", "must not contain U+0000 or unpaired surrogates");
}

/** Checks JSON for a Struct field and keeps it as it is. */
export function readJsonObject(json: unknown, problems: Problems): JsonObject | undefined {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    return problems.add("type.struct", `must be an object, not ${kindOf(json)}`);
  }
  const before = problems.count;
  checkJson(json, problems);
  return problems.count === before ? (json as JsonObject) : undefined;
}

function checkJson(json: unknown, problems: Problems): void {
  switch (typeof json) {
    case "string":
      if (!isCleanText(json)) unclean(problems);
      return;
    case "number":
      if (!Number.isFinite(json)) problems.add("type.value", "must be a number that a double can hold");
      return;
    case "object":
      if (json !== null) checkNested(json, problems);
  }
}

function checkNested(json: object, problems: Problems): void {
  if (++problems.depth > depthMax) {
    tooDeep(problems);
  } else if (Array.isArray(json)) {
    for (let i = 0; i < json.length; i++) {
      const before = problems.count;
      checkJson(json[i], problems);
      if (problems.count !== before) problems.under(`[${i}]`, before);
    }
  } else {
    for (const key of Object.keys(json)) {
      const before = problems.count;
      if (!isCleanText(key)) unclean(problems);
      checkJson((json as Record<string, unknown>)[key], problems);
      if (problems.count !== before) problems.under(keySegment(key, true), before);
    }
  }
  problems.depth--;
}

/** Reports nesting that is deeper than allowed. */
export function tooDeep(problems: Problems): undefined {
  return problems.add("nesting", `must not nest deeper than ${depthMax} levels`);
}

/** Reads any JSON as a Value message. */
export function readValue(json: unknown, problems: Problems): Value | undefined {
  const before = problems.count;
  checkJson(json, problems);
  return problems.count === before ? toValue(json) : undefined;
}

/** Reads a JSON object as a Struct message. */
export function readStruct(json: unknown, problems: Problems): Struct | undefined {
  const object = readJsonObject(json, problems);
  return object === undefined ? undefined : toStruct(object);
}

/** Reads a JSON list as a ListValue message. */
export function readListValue(json: unknown, problems: Problems): ListValue | undefined {
  if (!Array.isArray(json)) return problems.add("type.list_value", `must be a list, not ${kindOf(json)}`);
  const before = problems.count;
  checkJson(json, problems);
  return problems.count === before ? toList(json) : undefined;
}

function toValue(json: unknown): Value {
  return { $typeName: "google.protobuf.Value", kind: toKind(json) };
}

function toKind(json: unknown): Value["kind"] {
  switch (typeof json) {
    case "string":
      return { case: "stringValue", value: json };
    case "number":
      return { case: "numberValue", value: json };
    case "boolean":
      return { case: "boolValue", value: json };
    default:
      if (json === null || typeof json !== "object") return { case: "nullValue", value: 0 };
      return Array.isArray(json)
        ? { case: "listValue", value: toList(json) }
        : { case: "structValue", value: toStruct(json as JsonObject) };
  }
}

function toStruct(json: JsonObject): Struct {
  const fields: Record<string, Value> = {};
  for (const key of Object.keys(json)) putOwn(fields, key, toValue(json[key]));
  return { $typeName: "google.protobuf.Struct", fields };
}

function toList(json: readonly unknown[]): ListValue {
  return { $typeName: "google.protobuf.ListValue", values: json.map(toValue) };
}
