import { type DescEnum, type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, type FieldMask, isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { unreachable } from "../../errors/index.ts";
import { formatDuration } from "./formats/duration.ts";
import { formatFieldMask } from "./formats/field-mask.ts";
import { encodeListValue, encodeStruct, encodeValue } from "./formats/struct.ts";
import { encodeBytes, encodeLong, encodeLongAsString, encodeNumber, encodeString } from "./formats/text.ts";
import { formatTimestamp, type SecondsAndNanos } from "./formats/timestamp.ts";
import {
  isStoredAsJson,
  isStoredUnwrapped,
  isUnusedExtensions,
  type OneofSlot,
  type Slots,
  unsupportedType,
} from "./shape.ts";

/** The naming of fields: snake_case as in the definition (REST), or lowerCamel (Connect). */
export type JsonNames = "proto" | "json";

/** Serialises one value. */
type Writer = (value: unknown) => string;

/** Serialises one field of a message; `write` returns an empty string for an absent field. */
interface FieldWriter {
  readonly key: string;
  readonly nextKey: string;
  readonly write: (message: Slots) => string;
}

const compiled = { proto: new WeakMap<DescMessage, Writer>(), json: new WeakMap<DescMessage, Writer>() };

/**
 * Creates the encoder of a message type, from a message to JSON text. It is compiled once per type and naming.
 *
 * Defaults are written; unset messages and unset optional fields are not. With lowerCamel names 64-bit integers are strings,
 * as proto3 specifies. With proto names they are numbers as long as they are exact, as is usual in REST.
 */
export function createJsonEncoder<Desc extends DescMessage>(
  desc: Desc,
  names: JsonNames,
): (message: MessageShape<Desc>) => string {
  return createMessageWriter(desc, names);
}

function createMessageWriter(desc: DescMessage, names: JsonNames): Writer {
  const known = compiled[names].get(desc);
  if (known !== undefined) return known;
  const wellKnown = createWellKnownWriter(desc, names);
  if (wellKnown !== undefined) {
    compiled[names].set(desc, wellKnown);
    return wellKnown;
  }
  let fields: readonly FieldWriter[] | undefined;
  const writer: Writer = (message) => {
    fields ??= desc.fields.map((field) => createFieldWriter(field, names));
    let text = "{";
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i]!;
      const value = field.write(message as Slots);
      if (value !== "") text += (text.length === 1 ? field.key : field.nextKey) + value;
    }
    return `${text}}`;
  };
  compiled[names].set(desc, writer);
  return writer;
}

function createWellKnownWriter(desc: DescMessage, names: JsonNames): Writer | undefined {
  switch (desc.typeName) {
    case "google.protobuf.Any":
      throw unsupportedType(desc);
    case "google.protobuf.Timestamp":
      return (value) => `"${formatTimestamp(value as SecondsAndNanos)}"`;
    case "google.protobuf.Duration":
      return (value) => `"${formatDuration(value as SecondsAndNanos)}"`;
    case "google.protobuf.FieldMask":
      return (value) => encodeString(formatFieldMask((value as FieldMask).paths, names === "json"));
    case "google.protobuf.Struct":
      return encodeStruct;
    case "google.protobuf.Value":
      return encodeValue;
    case "google.protobuf.ListValue":
      return encodeListValue;
    default: {
      if (!isWrapperDesc(desc)) return undefined;
      const write = createScalarWriter(desc.fields[0].scalar, names);
      return (message) => write((message as Slots).value);
    }
  }
}

function createFieldWriter(field: DescField, names: JsonNames): FieldWriter {
  const key = `${JSON.stringify(names === "proto" ? field.name : field.jsonName)}:`;
  return { key, nextKey: `,${key}`, write: createMemberWriter(field, names) };
}

function createMemberWriter(field: DescField, names: JsonNames): FieldWriter["write"] {
  const name = field.localName;
  if (isUnusedExtensions(field)) return () => "[]";
  const write = createValueWriter(field, names);
  if (field.fieldKind === "list") return (message) => encodeList(message[name] as unknown[], write);
  if (field.fieldKind === "map") {
    return (message) => encodeMap(message[name] as Record<string, unknown>, write);
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
    // Outside proto3 an unset field inherits its default from the prototype.
    return value !== undefined && Object.hasOwn(message, name) ? write(value) : "";
  };
}

/** Creates the writer of a field's value; for a list or a map, the writer of one item. */
function createValueWriter(field: DescField, names: JsonNames): Writer {
  if (field.enum !== undefined) return createEnumWriter(field.enum);
  if (field.message === undefined) return createScalarWriter(field.scalar, names);
  if (isStoredAsJson(field)) return (json) => JSON.stringify(json);
  if (isStoredUnwrapped(field)) return createScalarWriter(field.message.fields[0]!.scalar!, names);
  return createMessageWriter(field.message, names);
}

/** The lists of the current message that were encoded before. */
let encodedLists: ReadonlyMap<unknown, string> | undefined;

/** Encodes a message, some of whose lists have been encoded before. */
export function encodeWithLists<M>(
  encode: (message: M) => string,
  message: M,
  lists: ReadonlyMap<unknown, string>,
): string {
  encodedLists = lists;
  try {
    return encode(message);
  } finally {
    encodedLists = undefined;
  }
}

function encodeList(items: readonly unknown[], write: Writer): string {
  if (items.length === 0) return "[]";
  const encoded = encodedLists?.get(items);
  if (encoded !== undefined) return encoded;
  let text = `[${write(items[0])}`;
  for (let i = 1; i < items.length; i++) text += `,${write(items[i])}`;
  return `${text}]`;
}

function encodeMap(entries: Readonly<Record<string, unknown>>, write: Writer): string {
  let text = "";
  for (const key of Object.keys(entries)) {
    text += `${text === "" ? "{" : ","}${encodeString(key)}:${write(entries[key])}`;
  }
  return text === "" ? "{}" : `${text}}`;
}

function createEnumWriter(desc: DescEnum): Writer {
  if (desc.typeName === "google.protobuf.NullValue") return () => "null";
  const texts = new Map<unknown, string>();
  // In reverse order, so that the first name of a number wins over its aliases.
  for (const value of desc.values.toReversed()) texts.set(value.number, JSON.stringify(value.name));
  return (value) => texts.get(value) ?? encodeNumber(value as number);
}

function createScalarWriter(scalar: ScalarType, names: JsonNames): Writer {
  switch (scalar) {
    case ScalarType.STRING:
      return encodeString as Writer;
    case ScalarType.BOOL:
      return (value) => (value ? "true" : "false");
    case ScalarType.BYTES:
      return encodeBytes as Writer;
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return (names === "json" ? encodeLongAsString : encodeLong) as Writer;
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return encodeNumber as Writer;
    default:
      return unreachable(scalar);
  }
}
