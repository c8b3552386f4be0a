import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { ListValue, Struct, Value } from "@bufbuild/protobuf/wkt";
import { depthMax, describeType, keySegment, type Problems } from "../problems.ts";
import { putOwn } from "../shape.ts";
import { encodeNumber, encodeString } from "./text.ts";

/**
 * Free-form JSON in messages. A Struct field is represented as plain JSON. Value and ListValue, and a Struct inside them,
 * are messages.
 */

/** Serialises a Value message; one without a kind, which proto3 forbids, becomes null. */
export function encodeValue(message: unknown): string {
  const { kind } = message as Value;
  switch (kind.case) {
    case "stringValue":
      return encodeString(kind.value);
    case "numberValue":
      return Number.isFinite(kind.value) ? encodeNumber(kind.value) : "null";
    case "boolValue":
      return kind.value ? "true" : "false";
    case "structValue":
      return encodeStruct(kind.value);
    case "listValue":
      return encodeListValue(kind.value);
    default:
      return "null";
  }
}

/** Serialises a Struct message. */
export function encodeStruct(message: unknown): string {
  const { fields } = message as Struct;
  const entries = Object.keys(fields).map((key) => `${encodeString(key)}:${encodeValue(fields[key])}`);
  return `{${entries.join(",")}}`;
}

/** Serialises a ListValue message. */
export function encodeListValue(message: unknown): string {
  return `[${(message as ListValue).values.map(encodeValue).join(",")}]`;
}

/** Whether a string can be stored and sent everywhere: no NUL and no unpaired surrogates. */
export function isCleanText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Reports a string that contains NUL or unpaired surrogates. */
export function reportUncleanText(problems: Problems): undefined {
  return problems.add("string.well_formed", "must not contain U+0000 or unpaired surrogates");
}

/** Validates JSON for a Struct field and returns it unchanged. */
export function readJsonObject(json: unknown, problems: Problems): JsonObject | undefined {
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    return problems.add("type.struct", `must be an object, not ${describeType(json)}`);
  }
  const before = problems.count;
  checkJson(json, problems);
  return problems.count === before ? (json as JsonObject) : undefined;
}

function checkJson(json: unknown, problems: Problems): void {
  switch (typeof json) {
    case "string":
      if (!isCleanText(json)) reportUncleanText(problems);
      return;
    case "number":
      if (!Number.isFinite(json)) problems.add("type.value", "must be within the range of a double");
      return;
    case "object":
      if (json !== null) checkNested(json, problems);
  }
}

function checkNested(json: object, problems: Problems): void {
  if (++problems.depth > depthMax) {
    reportTooDeep(problems);
  } else if (Array.isArray(json)) {
    for (let i = 0; i < json.length; i++) {
      const before = problems.count;
      checkJson(json[i], problems);
      if (problems.count !== before) problems.under(`[${i}]`, before);
    }
  } else {
    for (const key of Object.keys(json)) {
      const before = problems.count;
      if (!isCleanText(key)) reportUncleanText(problems);
      checkJson((json as Record<string, unknown>)[key], problems);
      if (problems.count !== before) problems.under(keySegment(key, true), before);
    }
  }
  problems.depth--;
}

/** Reports that the input is nested too deeply. */
export function reportTooDeep(problems: Problems): undefined {
  return problems.add("nesting", `must not nest deeper than ${depthMax} levels`);
}

/**
 * A Value message from a request. Handlers need its JSON, so its kind is converted only if something reads it. That saves a
 * quarter of the service's time for records of streams.
 */
class RequestValue implements Value {
  readonly $typeName = "google.protobuf.Value";
  readonly json: JsonValue;
  #kind: Value["kind"] | undefined;

  constructor(json: JsonValue) {
    this.json = json;
  }

  get kind(): Value["kind"] {
    this.#kind ??= toKind(this.json);
    return this.#kind;
  }
}

/** Reads any JSON as a Value message. */
export function readValue(json: unknown, problems: Problems): Value | undefined {
  const before = problems.count;
  checkJson(json, problems);
  return problems.count === before ? new RequestValue(json as JsonValue) : undefined;
}

/** Reads a JSON object as a Struct message. */
export function readStruct(json: unknown, problems: Problems): Struct | undefined {
  const object = readJsonObject(json, problems);
  return object === undefined ? undefined : toStruct(object);
}

/** Reads a JSON list as a ListValue message. */
export function readListValue(json: unknown, problems: Problems): ListValue | undefined {
  if (!Array.isArray(json)) return problems.add("type.list_value", `must be a list, not ${describeType(json)}`);
  const before = problems.count;
  checkJson(json, problems);
  return problems.count === before ? toList(json) : undefined;
}

/** Converts JSON to a Value message. */
export function jsonToValue(json: unknown): Value {
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
  for (const key of Object.keys(json)) putOwn(fields, key, jsonToValue(json[key]));
  return { $typeName: "google.protobuf.Struct", fields };
}

function toList(json: readonly unknown[]): ListValue {
  return { $typeName: "google.protobuf.ListValue", values: json.map(jsonToValue) };
}

/**
 * Converts a Value message to JSON. An absent message becomes null, and so do a missing kind and numbers outside of JSON, which
 * binary requests may hold.
 */
export function valueToJson(value: Value | undefined): JsonValue {
  if (value instanceof RequestValue) return value.json;
  const kind = value?.kind;
  switch (kind?.case) {
    case "structValue": {
      const object: JsonObject = {};
      for (const key of Object.keys(kind.value.fields)) putOwn(object, key, valueToJson(kind.value.fields[key]!));
      return object;
    }
    case "listValue":
      return kind.value.values.map(valueToJson);
    case "numberValue":
      return Number.isFinite(kind.value) ? kind.value : null;
    case "stringValue":
    case "boolValue":
      return kind.value;
    default:
      return null;
  }
}
