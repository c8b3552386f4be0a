import {
  type DescField,
  type DescMessage,
  type JsonObject,
  type Message,
  type MessageShape,
  ScalarType,
} from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate, type Value } from "@bufbuild/protobuf/wkt";
import type { Json } from "../document/index.ts";
import { createMessageFactory, jsonToValue } from "../protojson/index.ts";

/**
 * A message as handlers return it: records with dates, JSON, safe integers and read-only lists. An optional field may be
 * null, as in a row of the database. In a field of any JSON value, null is a value.
 */
export type Plain<T> = T extends Timestamp
  ? Date | T
  : T extends Value
    ? Json
    : T extends bigint
      ? bigint | number
      : T extends readonly (infer Item)[]
        ? readonly Plain<Item>[]
        : T extends Uint8Array
          ? Uint8Array
          : T extends Message
            ? T | PlainFields<Omit<T, keyof Message>>
            : T extends object
              ? JsonObject extends T
                ? object
                : { readonly [K in keyof T]: Plain<T[K]> }
              : T;

type PlainFields<T> = { readonly [K in keyof T]: Plain<T[K]> | (undefined extends T[K] ? null : never) };

type Convert = (value: unknown) => unknown;
type Slots = Record<string, unknown>;

/**
 * Creates the function that turns plain records into messages. Members of a record that are no fields of the message are
 * left out. A message is returned as it is.
 */
export function createMessageConverter<D extends DescMessage>(desc: D): (plain: object) => MessageShape<D> {
  return converterOf(desc) as (plain: object) => MessageShape<D>;
}

const converters = new WeakMap<DescMessage, Convert>();

function converterOf(desc: DescMessage): Convert {
  let convert = converters.get(desc);
  if (convert === undefined) {
    convert = newConverter(desc);
    converters.set(desc, convert);
  }
  return convert;
}

function newConverter(desc: DescMessage): Convert {
  if (desc.typeName === "google.protobuf.Timestamp") return (at) => (at instanceof Date ? timestampFromDate(at) : at);
  // Always JSON: a caller's document could look like a message.
  if (desc.typeName === "google.protobuf.Value") return jsonToValue;
  if (desc.typeName.startsWith("google.protobuf.")) return (value) => value;
  // Compiled when first used, because a message may contain messages of its own type.
  let make: (() => Slots) | undefined;
  let fields: readonly (readonly [name: string, convert: Convert | undefined])[] | undefined;
  return (plain) => {
    if ((plain as Partial<Message>).$typeName === desc.typeName) return plain;
    fields ??= desc.members.map((member) => [
      member.localName,
      member.kind === "field" ? fieldConverter(member) : choiceConverter(member.fields),
    ]);
    make ??= createMessageFactory(desc);
    const message = make();
    for (const [name, convert] of fields) {
      const value = (plain as Slots)[name];
      if (value === undefined || (value === null && convert !== jsonToValue)) continue;
      message[name] = convert === undefined ? value : convert(value);
    }
    return message;
  };
}

function fieldConverter(field: DescField): Convert | undefined {
  const convert = field.message === undefined ? scalarConverter(field.scalar) : converterOf(field.message);
  switch (field.fieldKind) {
    case "list":
      return (list) => (convert === undefined ? [...(list as unknown[])] : (list as unknown[]).map(convert));
    case "map":
      return (
        convert && ((map) => Object.fromEntries(Object.entries(map as Slots).map(([key, of]) => [key, convert(of)])))
      );
    default:
      return convert;
  }
}

function scalarConverter(scalar: ScalarType | undefined): Convert | undefined {
  const isLong = scalar === ScalarType.INT64 || scalar === ScalarType.UINT64;
  return isLong ? (value) => BigInt(value as number) : undefined;
}

function choiceConverter(fields: readonly DescField[]): Convert {
  const converters = new Map(fields.map((field) => [field.localName, fieldConverter(field)]));
  return (choice) => {
    const { case: name, value } = choice as { case: string; value: unknown };
    const convert = converters.get(name);
    return convert === undefined ? choice : { case: name, value: convert(value) };
  };
}
