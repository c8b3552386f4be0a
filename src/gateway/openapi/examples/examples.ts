import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { exampleRequests } from "../../../../definitions/examples/requests.ts";
import {
  exampleId,
  exampleNumbers,
  exampleObjects,
  exampleStrings,
  exampleSwitchesOn,
  exampleTimes,
} from "../../../../definitions/examples/values.ts";
import { commentOf } from "../../../definitions/comments.ts";
import type { Schema } from "../document.ts";
import { ecmaPattern, isRequired, type Rules, readRules, toConstraints } from "../schemas/rules.ts";
import { type Direction, isReadOnly } from "../schemas/schemas.ts";
import { wellKnownSchema } from "../schemas/well-known.ts";
import { samplePattern } from "./sample-pattern.ts";

// Deep enough for every record. A recursive message ends here.
const depthMax = 5;
// Fields for events that have not happened to an example record.
const unsetInExamples = /^(revoked|deleted|ejected|suspended|cancell?ed|archived|failed|previous)_/;

/** Creates a deterministic example of a message in REST's JSON. */
export function exampleOfMessage(
  message: DescMessage,
  direction: Direction,
  omitted: ReadonlySet<string> = new Set(),
  depth = 0,
): unknown {
  const example: Record<string, unknown> = {};
  const written = direction === "request" && depth === 0 ? exampleRequests[message.name] : undefined;
  for (const field of message.fields) {
    if (omitted.has(field.name) || isOmitted(field, direction)) continue;
    const isWritten = written !== undefined && (field.name in written || !isRequired(field));
    if (!isWritten && direction === "request" && depth === 0 && isOptionalId(field)) continue;
    const value = isWritten ? written[field.name] : exampleOfField(field, direction, depth);
    if (value !== undefined) example[field.name] = value;
  }
  return example;
}

/** Creates examples of secret fields, which only the response that creates them contains. */
export function exampleOfSecrets(message: DescMessage): Record<string, unknown> {
  const secrets = message.fields.filter(isShownOnce);
  return Object.fromEntries(secrets.map((field) => [field.name, exampleOfField(field, "response")]));
}

/** Creates an example of a field's value; undefined omits the field. */
export function exampleOfField(field: DescField, direction: Direction, depth = 0): unknown {
  const rules = direction === "request" ? readRules(field) : {};
  switch (field.fieldKind) {
    case "list":
      return listExample(field, rules, direction, depth);
    case "map": {
      const value = valueExample(field, field.mapKind, rules.map?.values ?? {}, direction, depth);
      const key = rules.map?.keys?.string?.in?.[0] ?? (field.mapKey === ScalarType.STRING ? "route" : "1");
      return value === undefined ? {} : { [key]: value };
    }
    default:
      return valueExample(field, field.fieldKind, rules, direction, depth);
  }
}

/** Requests work without these ids, and no caller has the ids of examples. */
function isOptionalId(field: DescField): boolean {
  return /_ids?$/.test(field.name) && !isRequired(field);
}

function isShownOnce(field: DescField): boolean {
  return field.proto.options?.debugRedact === true && field.proto.proto3Optional;
}

function isOmitted(field: DescField, direction: Direction): boolean {
  if (direction === "response" && isShownOnce(field)) return true;
  if (field.oneof !== undefined && field.oneof.fields[0] !== field) return true;
  if (unsetInExamples.test(field.name) && field.fieldKind === "message") return true;
  // Omitted, because a request with an arbitrary version would cause a conflict.
  return direction === "request" && (isReadOnly(field) || field.name === "record_version");
}

function listExample(field: DescField & { fieldKind: "list" }, rules: Rules, direction: Direction, depth: number) {
  const item = valueExample(field, field.listKind, rules.repeated?.items ?? {}, direction, depth);
  if (item === undefined || item === "") return [];
  const count = Math.max(1, Number(rules.repeated?.min_items ?? 1));
  return Array.from({ length: count }, (_, index) => (index > 0 && typeof item === "string" ? item + index : item));
}

function valueExample(
  field: DescField,
  kind: "scalar" | "enum" | "message",
  rules: Rules,
  direction: Direction,
  depth: number,
): unknown {
  if (kind === "message") return messageExample(field, direction, depth);
  if (kind === "enum") {
    const refused = new Set(rules.enum?.not_in ?? []);
    const values = field.enum!.values.filter(({ number }) => !refused.has(number));
    return (values.find(({ number }) => number !== 0) ?? values[0])?.name;
  }
  switch (field.scalar) {
    case ScalarType.BOOL:
      return direction === "request" || exampleSwitchesOn.has(field.name);
    case ScalarType.STRING:
      return stringExample(field, rules, direction);
    case ScalarType.BYTES:
      return Buffer.from("example").toString("base64");
    default:
      return numberExample(field, rules);
  }
}

function messageExample(field: DescField, direction: Direction, depth: number): unknown {
  const message = field.message!;
  switch (message.typeName) {
    case "google.protobuf.Timestamp":
      return exampleTimes[field.name] ?? exampleTimes.created_at;
    case "google.protobuf.Duration":
      return "30s";
    case "google.protobuf.Struct":
      return exampleObjects[field.name] ?? { note: "anything" };
    case "google.protobuf.Value":
      return 100;
    default:
      if (wellKnownSchema(message) !== undefined) return undefined;
      return depth < depthMax ? exampleOfMessage(message, direction, new Set(), depth + 1) : undefined;
  }
}

function stringExample(field: DescField, rules: Rules, direction: Direction): string {
  if (direction === "response" && unsetInExamples.test(field.name)) return "";
  const constraints = toConstraints(rules, false);
  const candidates = [
    exampleStrings[`${field.parent.name}.${field.name}`],
    exampleFromComment(field),
    idExample(field),
    exampleStrings[field.name],
    ...(rules.string?.in ?? []).filter((value) => value !== ""),
    "example",
    "https://example.com",
    "ada@example.com",
    samplePatternOf(rules),
  ];
  return candidates.find((candidate) => candidate !== undefined && fits(candidate, constraints)) ?? "";
}

/** Reads an example from a comment: `for example "x"`, or a list after a colon: `: active, disabled or degraded`. */
function exampleFromComment(field: DescField): string | undefined {
  const comment = commentOf(field);
  return (/for example "([^"]+)"/.exec(comment) ?? /: ([a-z_]+)(?:,| or )/.exec(comment))?.[1];
}

function idExample(field: DescField): string | undefined {
  if (field.name !== "id" && !field.name.endsWith("_id") && !field.name.endsWith("_ids")) return undefined;
  const kind =
    field.name === "id"
      ? snakeCase(field.parent.name.replace(/^[A-Z][a-z]+(?=[A-Z].*Request$)/, "").replace(/Request$/, ""))
      : field.name.replace(/_ids?$/, "");
  const record = field.parent.file.messages.find(({ name }) => snakeCase(name) === kind);
  const fromComment = record?.field.id === undefined ? undefined : exampleFromComment(record.field.id);
  return fromComment ?? exampleId(kind);
}

function numberExample(field: DescField, rules: Rules): number {
  const { minimum, exclusiveMinimum, maximum } = toConstraints(rules, false) as Record<string, number | undefined>;
  const lowest = minimum ?? (exclusiveMinimum === undefined ? undefined : exclusiveMinimum + 1);
  const wanted = exampleNumbers[field.name] ?? 1;
  return Math.min(Math.max(wanted, lowest ?? wanted), maximum ?? Number.POSITIVE_INFINITY);
}

function fits(text: string, constraints: Schema): boolean {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = constraints as Record<string, number | undefined>;
  const length = [...text].length;
  if (length < minLength || length > maxLength) return false;
  if (constraints.enum !== undefined && !constraints.enum.includes(text)) return false;
  if (constraints.format === "email" && !text.includes("@")) return false;
  if (constraints.format === "uri" && !URL.canParse(text)) return false;
  return typeof constraints.pattern !== "string" || new RegExp(constraints.pattern, "u").test(text);
}

function samplePatternOf(rules: Rules): string | undefined {
  const pattern = ecmaPattern(rules.string?.pattern);
  return pattern === undefined ? undefined : samplePattern(pattern);
}

function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]/g, "_$&").toLowerCase();
}
