import {
  create,
  type DescEnum,
  type DescField,
  type DescMessage,
  fromJson,
  type Message,
  ScalarType,
} from "@bufbuild/protobuf";
import { isWrapperDesc, ListValueSchema, StructSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { fc } from "../../../../test/harness/random.ts";
import { unreachable } from "../../../errors/index.ts";

/** The options of random messages. */
export interface ArbitraryOptions {
  /** The maximum nesting depth of messages. */
  readonly depth?: number;
  /** The generator of strings. */
  readonly text?: fc.Arbitrary<string>;
  /** The maximum number of items in a list or a map. */
  readonly itemsMax?: number;
}

/** Strings that break careless code: quotes, controls, astral characters, and names of object internals. */
export const trickyText: fc.Arbitrary<string> = fc
  .oneof(
    fc.string({ maxLength: 60 }),
    fc.string({ unit: "grapheme", maxLength: 20 }),
    fc.constantFrom("__proto__", "constructor", "prototype", "toString", 'a"b\\c', "\u007f\u2028", "line\nbreak"),
  )
  .map((text) => text.toWellFormed().replaceAll("\0", ""));

/** Numbers that JSON represents exactly: no NaN, no infinity and no negative zero. */
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);

/** Plain JSON, as in a Struct. */
const jsonValue = fc.letrec((tie) => ({
  any: fc.oneof({ maxDepth: 2 }, fc.constant(null), fc.boolean(), finite, trickyText, tie("list"), tie("object")),
  list: fc.array(tie("any"), { maxLength: 3 }),
  object: fc.dictionary(trickyText, tie("any"), { maxKeys: 3, noNullPrototype: true }),
}));

/** Random messages of a type, as handlers would create them. */
export function arbitraryMessage(desc: DescMessage, options: ArbitraryOptions = {}): fc.Arbitrary<Message> {
  const depth = options.depth ?? 2;
  switch (desc.typeName) {
    case "google.protobuf.Timestamp":
      return moment(desc, -62_135_596_800n, 253_402_300_799n);
    case "google.protobuf.Duration":
      return moment(desc, 0n, 315_576_000_000n);
    case "google.protobuf.FieldMask":
      return fc
        .array(fc.stringMatching(/^[a-z]{1,5}(_[a-z]{1,5}){0,2}(\.[a-z]{1,5}){0,2}$/), { maxLength: 3 })
        .map((paths) => create(desc, { paths } as never));
    case "google.protobuf.Struct":
      return jsonValue.object.map((json) => fromJson(StructSchema, json as never));
    case "google.protobuf.Value":
      return jsonValue.any.map((json) => fromJson(ValueSchema, json as never));
    case "google.protobuf.ListValue":
      return jsonValue.list.map((json) => fromJson(ListValueSchema, json as never));
  }
  const fields = desc.fields.filter((field) => field.message?.typeName !== "google.protobuf.Any");
  const usable = depth > 0 ? fields : fields.filter((field) => field.message === undefined);
  const choices = usable.filter((field) => field.oneof === undefined);
  const members = fc.record(
    Object.fromEntries(choices.map((field) => [field.localName, member(field, { ...options, depth: depth - 1 })])),
    { requiredKeys: [] },
  );
  const oneofs = desc.oneofs.map((oneof) => {
    const cases = oneof.fields.filter((field) => usable.includes(field));
    const set = cases.map((field) =>
      member(field, { ...options, depth: depth - 1 }).map((value) => ({ case: field.localName, value })),
    );
    return fc.oneof(fc.constant(undefined), ...set).map((value) => [oneof.localName, value] as const);
  });
  return fc
    .tuple(members, fc.tuple(...oneofs))
    .map(([values, groups]) => create(desc, { ...values, ...Object.fromEntries(groups) } as never));
}

function moment(desc: DescMessage, min: bigint, max: bigint): fc.Arbitrary<Message> {
  const nanos = fc.oneof(fc.constantFrom(0, 250_000_000, 1_000, 999_999_999), fc.integer({ min: 0, max: 999_999_999 }));
  return fc.record({ seconds: fc.bigInt({ min, max }), nanos }).map((value) => create(desc, value as never));
}

function member(field: DescField, options: ArbitraryOptions): fc.Arbitrary<unknown> {
  const one = value(field, options);
  if (field.fieldKind === "list") return fc.array(one, { maxLength: options.itemsMax ?? 3 });
  if (field.fieldKind !== "map") return one;
  return fc
    .uniqueArray(fc.tuple(scalar(field.mapKey, options), one), {
      maxLength: options.itemsMax ?? 3,
      selector: ([key]) => String(key),
    })
    .map((pairs) => Object.fromEntries(pairs.map(([key, item]) => [String(key), item])));
}

function value(field: DescField, options: ArbitraryOptions): fc.Arbitrary<unknown> {
  if (field.enum !== undefined) return enumNumber(field.enum);
  if (field.message === undefined) return scalar(field.scalar, options);
  const desc = field.message;
  if (isWrapperDesc(desc)) {
    const bare = scalar(desc.fields[0].scalar, options);
    return field.fieldKind === "message" && field.oneof === undefined
      ? bare
      : bare.map((inner) => create(desc, { value: inner } as never));
  }
  return desc.typeName === "google.protobuf.Struct" && field.parent.typeName !== "google.protobuf.Value"
    ? jsonValue.object
    : arbitraryMessage(desc, options);
}

function enumNumber(desc: DescEnum): fc.Arbitrary<number> {
  if (desc.typeName === "google.protobuf.NullValue") return fc.constant(0);
  return fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...desc.values.map((each) => each.number)) }, fc.nat(1000));
}

function scalar(type: ScalarType, options: ArbitraryOptions): fc.Arbitrary<unknown> {
  switch (type) {
    case ScalarType.STRING:
      return options.text ?? trickyText;
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 20 }).map((bytes) => new Uint8Array(bytes));
    case ScalarType.DOUBLE:
      return finite;
    case ScalarType.FLOAT:
      return fc.float({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0);
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return fc.integer();
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return fc.integer({ min: 0, max: 0xffff_ffff });
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.integer().map(BigInt));
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.nat().map(BigInt));
    default:
      return unreachable(type);
  }
}
