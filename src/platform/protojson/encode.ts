import { type DescEnum, type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, type FieldMask, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { unreachable } from "../../errors/index.ts";
import { durationText } from "./formats/duration.ts";
import { fieldMaskText } from "./formats/field-mask.ts";
import { listValueText, structText, valueText } from "./formats/struct.ts";
import { bytesText, longText, numberText, plainLongText, stringText } from "./formats/text.ts";
import { type Moment, timestampText } from "./formats/timestamp.ts";
import { isUnusedExtensions, keptAsJson, keptUnwrapped, type OneofSlot, type Slots, unsupported } from "./shape.ts";

/** How fields are named: as in the proto (REST), or in lowerCamel (Connect). */
export type JsonNames = "proto" | "json";

/** Writes one value. */
type Writer = (value: unknown) => string;

/** Writes one field of a message; nothing when it is absent. */
interface FieldWriter {
  readonly key: string;
  readonly nextKey: string;
  readonly write: (message: Slots) => string;
}

const compiled = { proto: new WeakMap<DescMessage, Writer>(), json: new WeakMap<DescMessage, Writer>() };

/**
 * Makes the function that writes messages of a type as JSON text; made once per type and naming.
 *
 * Defaults are written, unset messages and unset optional fields are not. 64-bit integers are strings with lowerCamel
 * names, as proto3 says, and numbers where they are exact with proto names, as people expect of REST.
 */
export function jsonEncoder<Desc extends DescMessage>(
  desc: Desc,
  names: JsonNames,
): (message: MessageShape<Desc>) => string {
  return messageWriter(desc, names);
}

function messageWriter(desc: DescMessage, names: JsonNames): Writer {
  const known = compiled[names].get(desc);
  if (known !== undefined) return known;
  const wellKnown = wellKnownWriter(desc, names);
  if (wellKnown !== undefined) {
    compiled[names].set(desc, wellKnown);
    return wellKnown;
  }
  const fields: FieldWriter[] = [];
  const writer: Writer = (message) => {
    let text = "{";
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!;
      const value = field.write(message as Slots);
      if (value !== "") text += (text.length === 1 ? field.key : field.nextKey) + value;
    }
    return `${text}}`;
  };
  // Known before its fields are compiled, so that a type may contain itself.
  compiled[names].set(desc, writer);
  try {
    for (const field of desc.fields) fields.push(fieldWriter(field, names));
  } catch (cause) {
    compiled[names].delete(desc);
    throw cause;
  }
  return writer;
}

function wellKnownWriter(desc: DescMessage, names: JsonNames): Writer | undefined {
  switch (desc.typeName) {
    case "google.protobuf.Any":
      throw unsupported(desc);
    case "google.protobuf.Timestamp":
      return (value) => `"${timestampText(value as Moment)}"`;
    case "google.protobuf.Duration":
      return (value) => `"${durationText(value as Moment)}"`;
    case "google.protobuf.FieldMask":
      return (value) => stringText(fieldMaskText((value as FieldMask).paths, names === "json"));
    case "google.protobuf.Struct":
      return structText;
    case "google.protobuf.Value":
      return valueText;
    case "google.protobuf.ListValue":
      return listValueText;
    default: {
      if (!isWrapperDesc(desc)) return undefined;
      const write = scalarWriter(desc.fields[0].scalar, names);
      return (message) => write((message as Slots).value);
    }
  }
}

function fieldWriter(field: DescField, names: JsonNames): FieldWriter {
  const key = `${JSON.stringify(names === "proto" ? field.name : field.jsonName)}:`;
  return { key, nextKey: `,${key}`, write: memberWriter(field, names) };
}

function memberWriter(field: DescField, names: JsonNames): FieldWriter["write"] {
  const name = field.localName;
  if (isUnusedExtensions(field)) return () => "[]";
  const write = valueWriter(field, names);
  if (field.fieldKind === "list") return (message) => listText(message[name] as unknown[], write);
  if (field.fieldKind === "map") {
    return (message) => mapText(message[name] as Record<string, unknown>, write);
  }
  if (field.oneof !== undefined) {
    const oneofName = field.oneof.localName;
    return (message) => {
      const oneof = message[oneofName] as OneofSlot;
      return oneof.case === name ? write(oneof.value) : "";
    };
  }
  if (field.presence === FeatureSet_FieldPresence.IMPLICIT) return (message) => write(message[name]);
  return (message) => {
    const value = message[name];
    // Outside proto3 an unset field shows its default through the prototype.
    return value !== undefined && Object.hasOwn(message, name) ? write(value) : "";
  };
}

/** Writes a field's value: of a list or a map, one item's. */
function valueWriter(field: DescField, names: JsonNames): Writer {
  if (field.enum !== undefined) return enumWriter(field.enum);
  if (field.message === undefined) return scalarWriter(field.scalar, names);
  if (keptAsJson(field)) return (json) => JSON.stringify(json);
  if (keptUnwrapped(field)) return scalarWriter(field.message.fields[0]!.scalar!, names);
  return messageWriter(field.message, names);
}

function listText(items: readonly unknown[], write: Writer): string {
  if (items.length === 0) return "[]";
  let text = `[${write(items[0])}`;
  for (let i = 1; i < items.length; i++) text += `,${write(items[i])}`;
  return `${text}]`;
}

function mapText(entries: Readonly<Record<string, unknown>>, write: Writer): string {
  let text = "";
  for (const key of Object.keys(entries)) {
    text += `${text === "" ? "{" : ","}${stringText(key)}:${write(entries[key])}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

function enumWriter(desc: DescEnum): Writer {
  if (desc.typeName === "google.protobuf.NullValue") return () => "null";
  const texts = new Map<unknown, string>();
  // Backwards, so that the first name of a number wins over its aliases.
  for (const value of desc.values.toReversed()) texts.set(value.number, JSON.stringify(value.name));
  return (value) => texts.get(value) ?? numberText(value as number);
}

function scalarWriter(scalar: ScalarType, names: JsonNames): Writer {
  switch (scalar) {
    case ScalarType.STRING:
      return stringText as Writer;
    case ScalarType.BOOL:
      return (value) => (value ? "true" : "false");
    case ScalarType.BYTES:
      return bytesText as Writer;
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return (names === "json" ? longText : plainLongText) as Writer;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return numberText as Writer;
    default:
      return unreachable(scalar);
  }
}
