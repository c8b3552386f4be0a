import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { type FieldRules, field as fieldOption } from "../../../../gen/buf/validate/validate_pb.ts";
import { keySegment, shortName } from "../problems.ts";
import type { JsonPath, SizeLimit } from "./scan.ts";

/** The maximum size in bytes of a field with free-form JSON. */
const freeJsonBytesMax = 256 * 1024;

/** A location in a message's JSON. */
interface JsonLocation {
  /** The path in the form of violations, with proto field names. */
  readonly text: string;
  /** The maximum size of the value in bytes; undefined for no limit. */
  readonly bytesMax: number | undefined;
}

/** Formats a path in the JSON of a message, or in any JSON. */
export function formatPath(desc: DescMessage | undefined, path: JsonPath): string {
  return locate(desc, path).text;
}

/** Returns the size limits of a message's fields. */
export function sizeLimitOf(desc: DescMessage): SizeLimit {
  return (path) => locate(desc, path).bytesMax;
}

function locate(root: DescMessage | undefined, path: JsonPath): JsonLocation {
  let message = root;
  let field: DescField | undefined;
  let inField = false;
  let text = "";
  for (const step of path) {
    if (message !== undefined && typeof step === "string") {
      field = message.fields.find(({ name, jsonName }) => name === step || jsonName === step);
      const name = field?.name ?? shortName(step);
      text = text === "" ? name : `${text}.${name}`;
      inField = field?.fieldKind === "list" || field?.fieldKind === "map";
      message = inField ? undefined : nestedIn(field);
      // The content of an unknown field has no limit of its own.
      if (field === undefined) return { text, bytesMax: undefined };
    } else {
      text += typeof step === "number" ? `[${step}]` : keySegment(step, true);
      // The first step into a list or a map selects an item.
      if (inField) message = nestedIn(field);
      inField = false;
    }
  }
  return { text, bytesMax: inField || field === undefined ? undefined : bytesMaxOf(field) };
}

/** Whether a field holds free-form JSON. */
export function isFreeJson({ message }: DescField): boolean {
  return message !== undefined && /^google\.protobuf\.(Struct|Value|ListValue)$/.test(message.typeName);
}

function nestedIn(field: DescField | undefined): DescMessage | undefined {
  return field?.message === undefined || isFreeJson(field) ? undefined : field.message;
}

/** The maximum size in bytes of a field's value: a fixed limit for free-form JSON, and the rules' limit for strings. */
export function bytesMaxOf(field: DescField): number | undefined {
  if (isFreeJson(field)) return freeJsonBytesMax;
  const rules: FieldRules = getOption(field, fieldOption);
  const items = rules.type.case === "repeated" ? rules.type.value.items : undefined;
  const { type } = items ?? rules;
  if (type.case !== "string") return undefined;
  if (type.value.maxBytes > 0n) return Number(type.value.maxBytes);
  // A character takes at most four bytes.
  return type.value.maxLen > 0n ? Number(type.value.maxLen) * 4 : undefined;
}
