import { type DescField, type DescMessage, getOption } from "@bufbuild/protobuf";
import { type FieldRules, field as fieldOption } from "../../../../gen/buf/validate/validate_pb.ts";
import { keySegment, shortName } from "../problems.ts";
import type { JsonPath, SizeLimit } from "./scan.ts";

/** The most bytes that a field of free JSON may take, whatever else bounds it. */
const freeJsonBytesMax = 256 * 1024;

/** A place in a message's JSON. */
interface JsonPlace {
  /** The path as violations show it: fields by their proto names. */
  readonly text: string;
  /** The most bytes that the value may take; undefined for any number. */
  readonly bytesMax: number | undefined;
}

/** Writes the path of a place in the JSON of a message, or in any JSON. */
export function pathText(desc: DescMessage | undefined, path: JsonPath): string {
  return placeAt(desc, path).text;
}

/** The sizes that the fields of a message allow. */
export function sizeLimitOf(desc: DescMessage): SizeLimit {
  return (path) => placeAt(desc, path).bytesMax;
}

function placeAt(root: DescMessage | undefined, path: JsonPath): JsonPlace {
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
      // Nothing is known of what an unknown field holds.
      if (field === undefined) return { text, bytesMax: undefined };
    } else {
      text += typeof step === "number" ? `[${step}]` : keySegment(step, true);
      // The first step into a list or a map reaches its items.
      if (inField) message = nestedIn(field);
      inField = false;
    }
  }
  return { text, bytesMax: inField || field === undefined ? undefined : bytesMaxOf(field) };
}

/** Whether a field holds any JSON. */
export function isFreeJson({ message }: DescField): boolean {
  return message !== undefined && /^google\.protobuf\.(Struct|Value|ListValue)$/.test(message.typeName);
}

function nestedIn(field: DescField | undefined): DescMessage | undefined {
  return field?.message === undefined || isFreeJson(field) ? undefined : field.message;
}

/** The most bytes that a value of a field may take: free JSON at any depth, and strings by their rules. */
export function bytesMaxOf(field: DescField): number | undefined {
  if (isFreeJson(field)) return freeJsonBytesMax;
  const rules: FieldRules = getOption(field, fieldOption);
  const items = rules.type.case === "repeated" ? rules.type.value.items : undefined;
  const { type } = items ?? rules;
  if (type.case !== "string") return undefined;
  if (type.value.maxBytes > 0n) return Number(type.value.maxBytes);
  // A character takes four bytes at most.
  return type.value.maxLen > 0n ? Number(type.value.maxLen) * 4 : undefined;
}
