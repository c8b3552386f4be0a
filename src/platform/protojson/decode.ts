import { type DescField, type DescMessage, type MessageShape, ScalarType } from "@bufbuild/protobuf";
import { isWrapperDesc } from "@bufbuild/protobuf/wkt";
import { parseDuration } from "./formats/duration.ts";
import { parseFieldMask } from "./formats/field-mask.ts";
import { createEnumReader, createKeyReader, createScalarReader, type Reader } from "./formats/scalars.ts";
import { readJsonObject, readListValue, readStruct, readValue, reportTooDeep } from "./formats/struct.ts";
import { parseTimestamp } from "./formats/timestamp.ts";
import { type DecodeOptions, depthMax, describeType, keySegment, Problems, toViolationFailure } from "./problems.ts";
import {
  createMessageFactory,
  isStoredAsJson,
  isStoredUnwrapped,
  isUnusedExtensions,
  type OneofSlot,
  putOwn,
  type Slots,
  unsupportedType,
} from "./shape.ts";

/** A field as a decoder sees it. */
interface FieldReader {
  readonly name: string;
  readonly localName: string;
  readonly oneof: string | undefined;
  /** Whether null is a value of the field rather than its absence. */
  readonly takesNull: boolean;
  readonly read: Reader;
}

const compiled = new WeakMap<DescMessage, Reader>();

/**
 * Creates the decoder of a message type, from parsed JSON to a message. It is compiled once per type.
 *
 * Fields are accepted under both of their names unless the decoder is strict. A failure lists every violation with its path.
 */
export function createJsonDecoder<Desc extends DescMessage>(
  desc: Desc,
): (json: unknown, options?: DecodeOptions) => MessageShape<Desc> {
  const read = createMessageReader(desc);
  return (json, options) => {
    const problems = new Problems(options);
    const message = read(json, problems);
    if (problems.count > 0) throw toViolationFailure(problems.violations, { refused: { type: desc.typeName, json } });
    return message as MessageShape<Desc>;
  };
}

/** Creates the reader of a message type. */
export function createMessageReader(desc: DescMessage): Reader {
  const known = compiled.get(desc);
  if (known !== undefined) return known;
  const wellKnown = createWellKnownReader(desc);
  if (wellKnown !== undefined) {
    compiled.set(desc, wellKnown);
    return wellKnown;
  }
  // Compiled at the first use, because a start would compile a thousand types, and so that a type may contain itself.
  let make: (() => Slots) | undefined;
  let fields: ReadonlyMap<string, FieldReader> | undefined;
  const reader: Reader = (json, problems) => {
    if (typeof json !== "object" || json === null || Array.isArray(json)) {
      return problems.add("type.object", `must be an object, not ${describeType(json)}`);
    }
    if (++problems.depth > depthMax) reportTooDeep(problems);
    make ??= createMessageFactory(desc);
    fields ??= createFieldReaders(desc);
    const message = make();
    if (problems.depth <= depthMax) readFields(fields, json as Record<string, unknown>, message, problems);
    problems.depth--;
    return message;
  };
  compiled.set(desc, reader);
  return reader;
}

function createFieldReaders(desc: DescMessage): ReadonlyMap<string, FieldReader> {
  const fields = new Map<string, FieldReader>();
  for (const field of desc.fields) {
    const entry = createFieldReader(field);
    fields.set(field.name, entry).set(field.jsonName, entry);
  }
  return fields;
}

/** The names of a message's fields, as the definition spells them. */
function fieldNames(fields: ReadonlyMap<string, FieldReader>): Set<string> {
  return new Set([...fields.values()].map(({ name }) => name));
}

function readFields(
  fields: ReadonlyMap<string, FieldReader>,
  json: Readonly<Record<string, unknown>>,
  message: Slots,
  problems: Problems,
): void {
  for (const key in json) {
    const field = fields.get(key);
    if (field === undefined) {
      if (!problems.ignoreUnknownFields) problems.addUnknownField(key, "field", fieldNames(fields));
      continue;
    }
    if (key !== field.name) {
      if (problems.strict) {
        if (!problems.ignoreUnknownFields) problems.add("unknown_field", `is called ${field.name} here`, key);
        continue;
      }
      if (Object.hasOwn(json, field.name)) {
        problems.add("duplicate_field", `must not be given twice, as ${field.name} and as ${key}`, field.name);
        continue;
      }
    }
    const given = json[key];
    if (given === null && !field.takesNull) {
      if (problems.strict) problems.add("type.null", "must not be null; leave the field out instead", field.name);
      continue;
    }
    const before = problems.count;
    const value = field.read(given, problems);
    if (problems.count !== before) problems.under(field.name, before);
    else if (field.oneof === undefined) message[field.localName] = value;
    else setOneof(message, field.oneof, field, value, problems);
  }
}

function setOneof(message: Slots, oneof: string, field: FieldReader, value: unknown, problems: Problems): void {
  if ((message[oneof] as OneofSlot).case !== undefined) {
    problems.add("oneof", "must not be given together with another field of its group", field.name);
  } else {
    message[oneof] = { case: field.localName, value };
  }
}

function createWellKnownReader(desc: DescMessage): Reader | undefined {
  const $typeName = desc.typeName;
  switch ($typeName) {
    case "google.protobuf.Any":
      throw unsupportedType(desc);
    case "google.protobuf.Timestamp":
      return createTextReader("timestamp", "an RFC 3339 time such as 2026-01-31T12:00:00Z", (text) => {
        const moment = parseTimestamp(text);
        return moment && { $typeName, seconds: moment.seconds, nanos: moment.nanos };
      });
    case "google.protobuf.Duration":
      return createTextReader("duration", "a number of seconds such as 1.5s", (text) => {
        const duration = parseDuration(text);
        return duration && { $typeName, seconds: duration.seconds, nanos: duration.nanos };
      });
    case "google.protobuf.FieldMask":
      return createTextReader(
        "field_mask",
        "field paths separated by commas (for example: name,config.limit)",
        (text) => {
          const paths = parseFieldMask(text);
          return paths && { $typeName, paths };
        },
      );
    case "google.protobuf.Struct":
      return readStruct;
    case "google.protobuf.Value":
      return readValue;
    case "google.protobuf.ListValue":
      return readListValue;
    default: {
      if (!isWrapperDesc(desc)) return undefined;
      const read = createScalarReader(desc.fields[0].scalar, false);
      return (json, problems) => {
        const value = read(json, problems);
        return value === undefined ? undefined : { $typeName, value };
      };
    }
  }
}

/** Creates the reader of a well-known type whose JSON form is a string. */
function createTextReader(name: string, form: string, parse: (text: string) => unknown): Reader {
  return (json, problems) => {
    if (typeof json !== "string") return problems.add(`type.${name}`, `must be ${form}, not ${describeType(json)}`);
    return parse(json) ?? problems.add(`type.${name}`, `must be ${form}`);
  };
}

function createFieldReader(field: DescField): FieldReader {
  const singular = field.fieldKind !== "list" && field.fieldKind !== "map";
  return {
    name: field.name,
    localName: field.localName,
    oneof: field.oneof?.localName,
    takesNull: singular && nullIsValue(field),
    read: createMemberReader(field),
  };
}

function createMemberReader(field: DescField): Reader {
  if (isUnusedExtensions(field)) return createListReader(rejectUnused, false);
  const read = createValueReader(field);
  if (field.fieldKind === "list") return createListReader(read, nullIsValue(field));
  return field.fieldKind === "map" ? createMapReader(field, read) : read;
}

function rejectUnused(_json: unknown, problems: Problems): undefined {
  return problems.add("unknown_field", "is not supported");
}

/** Creates the reader of a field's value; for a list or a map, the reader of one item. */
export function createValueReader(field: DescField): Reader {
  if (field.enum !== undefined) return createEnumReader(field.enum);
  if (field.message === undefined) {
    return createScalarReader(field.scalar, field.fieldKind !== "map" && field.longAsString);
  }
  if (isStoredAsJson(field)) return readJsonObject;
  if (isStoredUnwrapped(field)) return createScalarReader(field.message.fields[0]!.scalar!, false);
  return createMessageReader(field.message);
}

function nullIsValue(field: DescField): boolean {
  return field.message?.typeName === "google.protobuf.Value" || field.enum?.typeName === "google.protobuf.NullValue";
}

function createListReader(read: Reader, takesNull: boolean): Reader {
  return (json, problems) => {
    if (!Array.isArray(json)) return problems.add("type.list", `must be a list, not ${describeType(json)}`);
    const items: unknown[] = [];
    for (let i = 0; i < json.length; i++) {
      const before = problems.count;
      if (json[i] === null && !takesNull) problems.add("type.null", "must not be null");
      else items.push(read(json[i], problems));
      if (problems.count !== before) problems.under(`[${i}]`, before);
    }
    return items;
  };
}

function createMapReader(field: DescField & { fieldKind: "map" }, read: Reader): Reader {
  const readKey = createKeyReader(field.mapKey);
  const quoted = field.mapKey === ScalarType.STRING;
  const takesNull = nullIsValue(field);
  return (json, problems) => {
    if (typeof json !== "object" || json === null || Array.isArray(json)) {
      return problems.add("type.map", `must be an object, not ${describeType(json)}`);
    }
    const entries: Record<string, unknown> = {};
    for (const given of Object.keys(json)) {
      const before = problems.count;
      const value = (json as Record<string, unknown>)[given];
      const key = readKey(given, problems);
      if (value === null && !takesNull) problems.add("type.null", "must not be null");
      else if (key === undefined) read(value, problems);
      else if (Object.hasOwn(entries, key)) problems.add("duplicate_field", "has the same key as another entry");
      else putOwn(entries, key, read(value, problems));
      if (problems.count !== before) problems.under(keySegment(given, quoted), before);
    }
    return entries;
  };
}
