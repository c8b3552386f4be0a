import { type DescField, type DescMessage, getOption, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { field as fieldRules } from "../../../gen/buf/validate/validate_pb.ts";
import { nearestName } from "../../platform/text/index.ts";
import { usageError } from "../exit-codes.ts";
import { parseJsonText, readBytes } from "./text-source.ts";

/** The text format of a field's value. It is the placeholder in the help. */
export type TextKind =
  | "flag"
  | "text"
  | "number"
  | "choice"
  | "time"
  | "duration"
  | "base64"
  | "json"
  | "value"
  | "file";

/** The text format of one value of a field. */
export function textKindOf(field: DescField): TextKind {
  if (field.fieldKind === "map") return "json";
  if (field.enum !== undefined) return "choice";
  if (field.message !== undefined) return messageKind(field.message);
  return scalarKind(field.scalar!);
}

function scalarKind(scalar: ScalarType): TextKind {
  switch (scalar) {
    case ScalarType.BOOL:
      return "flag";
    case ScalarType.STRING:
      return "text";
    case ScalarType.BYTES:
      return "base64";
    default:
      return "number";
  }
}

function messageKind(desc: DescMessage): TextKind {
  if (isWrapperDesc(desc)) return scalarKind(desc.fields[0].scalar);
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return "time";
    case "google.protobuf.Duration":
      return "duration";
    case "google.protobuf.FieldMask":
      return "text";
    case "google.protobuf.Value":
      return "value";
    case "google.api.HttpBody":
      return "file";
    default:
      return "json";
  }
}

/** The allowed values of a field as command-line texts; undefined if any value is allowed. */
export function listChoices(field: DescField): readonly string[] | undefined {
  if (field.enum !== undefined) {
    return field.enum.values.filter(({ number }) => number !== 0).map(({ name }) => shortEnumName(field.enum!, name));
  }
  const rules = getOption(field, fieldRules);
  const type = rules.type.case === "repeated" ? rules.type.value.items?.type : rules.type;
  const listed = type?.case === "string" ? type.value.in.filter((each) => each !== "") : [];
  return listed.length > 0 ? listed : undefined;
}

/** An enum value in lower case without its common prefix: STATUS_ACTIVE becomes active. */
export function shortEnumName({ sharedPrefix }: { sharedPrefix?: string | undefined }, name: string): string {
  const short = name.toLowerCase();
  return sharedPrefix !== undefined && short.startsWith(sharedPrefix) ? short.slice(sharedPrefix.length) : short;
}

/** Converts the text of one value to JSON. Other rules are checked with the complete request. */
export function textToJson(field: DescField, named: string, text: string): unknown {
  switch (textKindOf(field)) {
    case "flag":
      return text === "true" ? true : text === "false" ? false : text;
    case "number":
      return exactNumber(text) ?? numberText(field, named, text);
    case "choice":
      return enumName(field, named, text);
    case "json":
      return parseJsonText(named, text);
    case "value":
      return looseJson(named, text);
    case "file":
      return { data: readBytes(named, text).toString("base64") };
    default:
      return text;
  }
}

function exactNumber(text: string): number | undefined {
  if (!/^-?(0|[1-9]\d{0,14})(\.\d{1,9})?$/.test(text)) return undefined;
  return Number(text);
}

/** A number that a JSON number cannot represent exactly stays a text. */
function numberText({ scalar }: DescField, named: string, text: string): string {
  if (/^[+-]?(\d+(\.\d+)?(e[+-]?\d+)?|Infinity)$|^NaN$/i.test(text)) return text;
  const kind = scalar === ScalarType.DOUBLE || scalar === ScalarType.FLOAT ? "a number" : "an integer";
  throw usageError(`${named}: must be ${kind} (for example: 20), not ${text === "" ? "empty" : text}`);
}

function enumName(field: DescField, named: string, text: string): string {
  const wanted = text.toLowerCase().replaceAll("-", "_");
  const found = field.enum!.values.find(
    ({ name }) => name.toLowerCase() === wanted || shortEnumName(field.enum!, name) === wanted,
  );
  if (found === undefined) {
    const choices = listChoices(field)!;
    const near = nearestName(wanted, choices);
    const hint = near === undefined ? "" : `; did you mean ${near}?`;
    throw usageError(`${named}: must be one of ${choices.join(", ")}${hint}`);
  }
  return found.name;
}

/** Parses JSON, or takes the text as a string if it does not look like JSON, so that words need no nested quotes. */
function looseJson(named: string, text: string): unknown {
  if (/^\s*[{["]/.test(text)) return parseJsonText(named, text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
