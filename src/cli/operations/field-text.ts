import { type DescField, type DescMessage, getOption, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { field as fieldRules } from "../../../gen/buf/validate/validate_pb.ts";
import { usageError } from "../exit-codes.ts";
import { parseJsonText } from "./text-source.ts";

/** What kind of text says a field's value; its name stands in the help. */
export type TextKind = "flag" | "text" | "number" | "choice" | "time" | "duration" | "base64" | "json" | "value";

/** What kind of text says one value of a field. */
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
    default:
      return "json";
  }
}

/** The values that a field's definition lists, as people write them; undefined when it lists none. */
export function choicesOf(field: DescField): readonly string[] | undefined {
  if (field.enum !== undefined) {
    return field.enum.values.filter(({ number }) => number !== 0).map(({ name }) => shortEnumName(field.enum!, name));
  }
  const rules = getOption(field, fieldRules);
  const type = rules.type.case === "repeated" ? rules.type.value.items?.type : rules.type;
  const listed = type?.case === "string" ? type.value.in.filter((each) => each !== "") : [];
  return listed.length > 0 ? listed : undefined;
}

/** An enum value without the prefix that all of its kind share: STATUS_ACTIVE is active. */
export function shortEnumName({ sharedPrefix }: { sharedPrefix?: string | undefined }, name: string): string {
  const short = name.toLowerCase();
  return sharedPrefix !== undefined && short.startsWith(sharedPrefix) ? short.slice(sharedPrefix.length) : short;
}

/** Turns the text of one value into JSON; what only the definition can tell is checked with the whole request. */
export function textToJson(field: DescField, named: string, text: string): unknown {
  switch (textKindOf(field)) {
    case "flag":
      return text === "true" ? true : text === "false" ? false : text;
    case "number":
      return exactNumber(text) ?? text;
    case "choice":
      return enumName(field, named, text);
    case "json":
      return parseJsonText(named, text);
    case "value":
      return looseJson(named, text);
    default:
      return text;
  }
}

function exactNumber(text: string): number | undefined {
  if (!/^-?(0|[1-9]\d{0,14})(\.\d{1,9})?$/.test(text)) return undefined;
  return Number(text);
}

function enumName(field: DescField, named: string, text: string): string {
  const wanted = text.toLowerCase().replaceAll("-", "_");
  const found = field.enum!.values.find(
    ({ name }) => name.toLowerCase() === wanted || shortEnumName(field.enum!, name) === wanted,
  );
  if (found === undefined) throw usageError(`${named}: must be one of ${choicesOf(field)!.join(", ")}`);
  return found.name;
}

/** Any JSON; what does not begin like JSON is a string, so that words need no quotes within quotes. */
function looseJson(named: string, text: string): unknown {
  if (/^\s*[{["]/.test(text)) return parseJsonText(named, text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
