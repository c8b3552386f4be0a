import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { CreateTenantRequestSchema, QuotaSchema, TenantSchema } from "../../../gen/service/api/tenant_pb.ts";
import { Failure, type Violation } from "../../errors/index.ts";
import { createJsonDecoder, type DecodeOptions } from "./index.ts";
import { everyKind } from "./testing/every-kind.ts";

const decode = createJsonDecoder(everyKind);

function read(json: unknown): Record<string, unknown> {
  return decode(json) as never;
}

function violations(
  json: unknown,
  options?: DecodeOptions,
  reader: (json: unknown, options?: DecodeOptions) => unknown = decode,
) {
  try {
    reader(json, options);
  } catch (error) {
    assert.ok(error instanceof Failure);
    assert.equal(error.code, "INVALID_ARGUMENT");
    return error.violations;
  }
  return [];
}

function broken(json: unknown): string[] {
  return violations(json).map(({ field, rule }: Violation) => `${field} ${rule}`);
}

/** Parsed JSON, in which `__proto__` is an ordinary key. */
function parsed(text: string): unknown {
  return JSON.parse(text);
}

suite("reading JSON", () => {
  test("an unknown field is rejected by name, or ignored if that is requested", () => {
    assert.deepEqual(violations({ nmae: 1 }), [
      { field: "nmae", rule: "unknown_field", message: "is not a field here" },
    ]);
    assert.deepEqual(violations({ one_leaf: { txet: "" } }), [
      { field: "one_leaf.txet", rule: "unknown_field", message: "is not a field here; did you mean text?" },
    ]);
    assert.match(
      violations({ one_leaf: { colour: 1 } })[0]!.message,
      /^is not a field here; known are (\w+, )*text(, \w+)*$/,
    );
    assert.deepEqual(violations({ nmae: 1, one_leaf: { txet: "" } }, { ignoreUnknownFields: true }), []);
    assert.deepEqual(broken(parsed('{"__proto__": 1}')), ["__proto__ unknown_field"]);
    assert.deepEqual(broken({ constructor: 1 }), ["constructor unknown_field"]);
  });

  test("a long unknown name is shortened in the violation", () => {
    const [violation] = violations({ ["x".repeat(5000)]: 1 });
    assert.ok(violation!.field.length < 110);
  });

  test("all violations are reported together, up to twenty", () => {
    assert.deepEqual(broken({ one_string: 1, oneBool: "true", many_int32: [1, "x"] }), [
      "one_string type.string",
      "one_bool type.bool",
      "many_int32[1] type.int32",
    ]);
    assert.equal(violations({ many_int32: Array(1000).fill("x") }).length, 20);
  });

  test("the public message contains the first violation and the number of others", () => {
    assert.throws(() => decode({ one_string: 1, one_bool: 2, one_leaf: 3 }), {
      message: "one_string: must be a string, not a number (and 2 more)",
    });
    assert.throws(() => decode([]), { message: "The request must be an object, not a list" });
  });

  test("paths include messages, lists and maps", () => {
    const decodeTenant = createJsonDecoder(CreateTenantRequestSchema);
    const json = { quotas: { route: { limit_per_day: "x" }, 'a"b': { limitPerDay: 1.5 } } };
    assert.deepEqual(
      violations(json, undefined, decodeTenant).map(({ field }) => field),
      ['quotas["route"].limit_per_day', 'quotas["a\\"b"].limit_per_day'],
    );
    assert.deepEqual(broken({ many_leaf: [{}, { text: 1 }], map_int32_string: { 5: 1 } }), [
      "many_leaf[1].text type.string",
      "map_int32_string[5] type.string",
    ]);
    assert.deepEqual(broken({ one_struct: { a: [1, { "b c": "\u0000" }] } }), [
      'one_struct["a"][1]["b c"] string.well_formed',
    ]);
  });

  test("a field under both of its names is rejected", () => {
    assert.deepEqual(broken({ one_string: "a", oneString: "a" }), ["one_string duplicate_field"]);
    assert.deepEqual(broken({ oneString: null, one_string: "a" }), ["one_string duplicate_field"]);
  });

  test("null means absent, except for fields where null is a value", () => {
    const message = read({
      one_string: null,
      one_leaf: null,
      many_int32: null,
      map_string_string: null,
      choice_string: null,
    });
    assert.equal(message.oneString, "");
    assert.equal(message.oneLeaf, undefined);
    assert.deepEqual(message.choice, { case: undefined });
    assert.deepEqual((read({ one_value: null }).oneValue as { kind: unknown }).kind, { case: "nullValue", value: 0 });
    assert.deepEqual(broken({ many_string: [null], map_string_string: { a: null }, many_value: [null] }), [
      "many_string[0] type.null",
      'map_string_string["a"] type.null',
    ]);
    assert.equal(createJsonDecoder(QuotaSchema)({ limit: null }).limit, undefined);
    assert.equal(createJsonDecoder(QuotaSchema)({ limit: 0 }).limit, 0n);
  });

  test("two fields of one oneof are rejected", () => {
    assert.deepEqual(broken({ choice_string: "a", choice_bool: true }), ["choice_bool oneof"]);
    assert.deepEqual(broken({ choice_string: "a", choice_bool: null }), []);
  });

  test("a value of the wrong type violates the rule of the expected type", () => {
    const wrong: Record<string, unknown[]> = {
      string: [1, true, [], {}],
      bool: ["true", 1, 0, {}],
      int32: ["", " 1", "1.0", "0x1", 1.5, true, 2 ** 31, "2147483648", -(2 ** 31) - 1, Number.POSITIVE_INFINITY],
      uint32: [-1, 2 ** 32, "-1"],
      int64: ["", "1.5", 1.5, true, "9223372036854775808", "-9223372036854775809", 2 ** 53, Number.POSITIVE_INFINITY],
      uint64: [-1, "-1", "18446744073709551616"],
      double: ["", "1,5", "nan", "1e999", Number.POSITIVE_INFINITY, true],
      float: [3.5e38, "-3.5e38"],
      bytes: ["a", "ab=", "a b=", "====", "YQ==YQ==", 1],
      timestamp: [1, "", "2026-01-01", {}],
      duration: [1, "1", "1.s", "1.0000000001s", "315576000001s", "s"],
      field_mask: [1, "a,,b", "a b", "a.", ",", "\u0000"],
      struct: [1, "", []],
      list_value: [1, {}],
    };
    for (const [type, values] of Object.entries(wrong)) {
      for (const value of values) {
        assert.deepEqual(
          broken({ [`one_${type}`]: value }),
          [`one_${type} type.${type}`],
          `${type} from ${String(value)}`,
        );
      }
    }
    assert.deepEqual(broken({ many_string: {}, map_string_string: [], one_leaf: "" }), [
      "many_string type.list",
      "map_string_string type.map",
      "one_leaf type.object",
    ]);
  });

  test("a 64-bit integer too large to be exact as a number must be a string", () => {
    const [violation] = violations({ one_int64: 2 ** 53 + 2 });
    assert.match(violation!.message, /send it as a string/);
    assert.equal(read({ one_int64: "9007199254740993" }).oneInt64, 9007199254740993n);
    assert.equal(read({ one_uint64: "18446744073709551615" }).oneUint64, 18446744073709551615n);
  });

  test("numbers are accepted as numbers or as decimal strings", () => {
    const message = read({
      one_int32: "-5",
      one_int64: 7,
      one_double: "1.5e3",
      one_float: "NaN",
      many_int32: [1.0, -0],
    });
    assert.deepEqual(
      [message.oneInt32, message.oneInt64, message.oneDouble, message.oneFloat, message.manyInt32],
      [-5, 7n, 1500, Number.NaN, [1, 0]],
    );
    assert.equal(read({ one_double: "-Infinity" }).oneDouble, Number.NEGATIVE_INFINITY);
  });

  test("enums are accepted by name or number; the violation of an unknown name lists the allowed names", () => {
    assert.deepEqual(read({ many_colour: ["COLOUR_BLUE", 1, 99] }).manyColour, [2, 1, 99]);
    assert.deepEqual(violations({ one_colour: "COLOUR_PINK" }), [
      {
        field: "one_colour",
        rule: "type.enum",
        message: 'must be one of COLOUR_RED, COLOUR_BLUE, not "COLOUR_PINK"',
      },
    ]);
    assert.deepEqual(broken({ many_colour: [1.5, 2 ** 31, true, "1"] }).length, 4);
  });

  test("text with NUL or an unpaired surrogate is rejected, in values and in keys", () => {
    for (const bad of ["a\u0000b", "\ud800", "x\udc00y"]) {
      const key = JSON.stringify(bad.toWellFormed());
      assert.deepEqual(broken({ one_string: bad }), ["one_string string.well_formed"]);
      assert.deepEqual(broken({ map_string_string: { [bad]: "" } }), [`map_string_string[${key}] string.well_formed`]);
      assert.deepEqual(broken({ one_struct: { [bad]: 1 } }), [`one_struct[${key}] string.well_formed`]);
      assert.deepEqual(broken({ one_value: [bad] }), ["one_value[0] string.well_formed"]);
    }
  });

  test("numbers that overflow a double are rejected in free-form JSON", () => {
    assert.deepEqual(broken(parsed('{"one_struct": {"a": 1e400}}')), ['one_struct["a"] type.value']);
  });

  test("bytes are accepted in base64 and base64url, with or without padding", () => {
    for (const text of ["-_8=", "+/8=", "-_8", "+/8"]) {
      assert.deepEqual(read({ one_bytes: text }).oneBytes, new Uint8Array([0xfb, 0xff]));
    }
    assert.deepEqual(read({ one_bytes: "" }).oneBytes, new Uint8Array(0));
  });

  test("times are accepted with any offset, within the years 1 to 9999, on existing days", () => {
    for (const [text, seconds, nanos] of [
      ["2026-03-01T12:00:00Z", 1_772_366_400n, 0],
      ["2026-03-01T14:00:00.5+02:00", 1_772_366_400n, 500_000_000],
      ["2026-03-01T06:30:00.123456789-05:30", 1_772_366_400n, 123_456_789],
      ["2024-02-29T00:00:00Z", 1_709_164_800n, 0],
      ["0001-01-01T00:00:00Z", -62_135_596_800n, 0],
      ["9999-12-31T23:59:59.999999999Z", 253_402_300_799n, 999_999_999],
    ] as const) {
      assert.deepEqual(read({ one_timestamp: text }).oneTimestamp, {
        $typeName: "google.protobuf.Timestamp",
        seconds,
        nanos,
      });
    }
    for (const text of [
      "2026-02-29T00:00:00Z",
      "1900-02-29T00:00:00Z",
      "2026-13-01T00:00:00Z",
      "2026-00-01T00:00:00Z",
      "2026-04-31T00:00:00Z",
      "2026-01-01T24:00:00Z",
      "2026-01-01T00:60:00Z",
      "2026-01-01T00:00:60Z",
      "2026-01-01T00:00:00",
      "2026-01-01 00:00:00Z",
      "2026-01-01T00:00:00.Z",
      "2026-01-01T00:00:00.1234567890Z",
      "2026-01-01T00:00:00+24:00",
      "2026-01-01T00:00:00+0100",
      "2026-01-01T00:00:00Zx",
      "+026-01-01T00:00:00Z",
      "0000-12-31T23:59:59Z",
      "0001-01-01T00:00:00+00:01",
      "9999-12-31T23:59:59-00:01",
    ]) {
      assert.deepEqual(broken({ one_timestamp: text }), ["one_timestamp type.timestamp"], text);
    }
  });

  test("field masks are accepted in either naming", () => {
    assert.deepEqual(
      (read({ one_field_mask: "displayName,role_set.roles" }).oneFieldMask as { paths: unknown }).paths,
      ["display_name", "role_set.roles"],
    );
  });

  test("keys such as __proto__ are ordinary data and never change a prototype", () => {
    const text = '{"__proto__": {"polluted": "1"}, "constructor": {"polluted": "1"}, "prototype": {"polluted": "1"}}';
    const strings = '{"__proto__": "p", "constructor": "c", "toString": "t"}';
    const message = read(
      parsed(
        `{"one_struct": ${text}, "one_value": ${text}, "map_string_struct": ${text}, "map_string_string": ${strings}}`,
      ),
    );
    assert.equal(({} as { polluted?: string }).polluted, undefined);
    const value = (message.oneValue as { kind: { value: { fields: object } } }).kind.value.fields;
    for (const kept of [message.oneStruct as object, message.mapStringStruct as object, value]) {
      assert.deepEqual(Object.keys(kept), ["__proto__", "constructor", "prototype"]);
      assert.equal(Object.getPrototypeOf(kept), Object.prototype);
    }
    assert.deepEqual(Object.entries(message.mapStringString as object), [
      ["__proto__", "p"],
      ["constructor", "c"],
      ["toString", "t"],
    ]);
  });

  test("map keys are validated by their type, and two representations of one key are rejected", () => {
    assert.deepEqual(read({ map_bool_string: { true: "a", false: "b" } }).mapBoolString, { true: "a", false: "b" });
    assert.deepEqual(broken({ map_bool_string: { yes: "" } }), ["map_bool_string[yes] type.bool"]);
    assert.deepEqual(broken({ map_uint32_string: { "-1": "" } }), ["map_uint32_string[-1] type.uint32"]);
    assert.deepEqual(broken({ map_int64_string: { 1: "a", "01": "b" } }), ["map_int64_string[01] duplicate_field"]);
  });

  test("JSON that is nested too deeply is rejected even if it was parsed elsewhere", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    assert.equal(violations({ one_struct: { deep } })[0]?.rule, "nesting");
    let nested: object = {};
    for (let i = 0; i < 10_000; i++) nested = { one_every_kind: nested };
    assert.equal(violations(nested)[0]?.rule, "nesting");
  });

  test("decoded messages share no mutable state", () => {
    const first = createJsonDecoder(TenantSchema)({});
    first.quotas.route = { $typeName: "service.api.QuotaLimit", limitPerDay: 1n };
    assert.deepEqual(createJsonDecoder(TenantSchema)({}).quotas, {});
    (read({}).manyString as string[]).push("x");
    assert.deepEqual(read({}).manyString, []);
  });
});
