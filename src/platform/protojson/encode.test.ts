import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { DurationSchema, EmptySchema, FieldMaskSchema, StructSchema, TimestampSchema } from "@bufbuild/protobuf/wkt";
import { ExportConfigResponseSchema } from "../../../gen/service/api/config_pb.ts";
import { QuotaSchema, TenantSchema } from "../../../gen/service/api/tenant_pb.ts";
import { createJsonDecoder, createJsonEncoder } from "./index.ts";
import { everyKind, withAny } from "./testing/every-kind.ts";

function written(init: object, names: "proto" | "json" = "json"): Record<string, unknown> {
  return JSON.parse(createJsonEncoder(everyKind, names)(create(everyKind, init as never)));
}

suite("writing JSON", () => {
  test("defaults are written; unset messages and unset optional fields are not", () => {
    assert.equal(
      createJsonEncoder(TenantSchema, "proto")(create(TenantSchema)),
      '{"id":"","name":"","slug":"","status":"STATUS_UNSPECIFIED","plan":"","quotas":{},"platform":false,"record_version":0}',
    );
    assert.equal(createJsonEncoder(QuotaSchema, "json")(create(QuotaSchema)), '{"operation":"","used":"0"}');
    assert.equal(
      createJsonEncoder(QuotaSchema, "json")(create(QuotaSchema, { limit: 0n })),
      '{"operation":"","limit":"0","used":"0"}',
    );
  });

  test("64-bit integers are numbers in REST as long as they are exact, and always strings in Connect", () => {
    for (const [value, proto] of [
      [3n, 3],
      [-(2n ** 53n) + 1n, -(2 ** 53) + 1],
      [2n ** 53n, "9007199254740992"],
      [2n ** 63n - 1n, "9223372036854775807"],
    ] as const) {
      const init = { oneInt64: value, oneInt64Value: value, manyInt64: [value], mapStringInt64: { a: value } };
      const rest = written(init, "proto");
      assert.deepEqual(
        [rest.one_int64, rest.one_int64_value, rest.many_int64, rest.map_string_int64],
        [proto, proto, [proto], { a: proto }],
      );
      assert.equal(written(init).oneInt64, String(value));
    }
  });

  test("enums are written by name, unknown numbers as numbers", () => {
    assert.equal(written({ oneColour: 1 }).oneColour, "COLOUR_RED");
    assert.equal(written({ oneColour: 77 }).oneColour, 77);
  });

  test("NaN and infinities are strings, and a negative zero keeps its sign", () => {
    const doubles = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e21, -0];
    assert.deepEqual(written({ manyDouble: doubles }).manyDouble, ["NaN", "Infinity", "-Infinity", 1e21, -0]);
  });

  test("strings of any length are escaped where necessary", () => {
    for (const text of ['"', "\\", "\n", "\u0000", "é", "\ud83d\ude00", "\ud800", "</script>"]) {
      for (const padding of ["", "x".repeat(100)]) {
        assert.equal(written({ oneString: padding + text }).oneString, padding + text);
        assert.deepEqual(written({ mapStringString: { [text + padding]: text } }).mapStringString, {
          [text + padding]: text,
        });
      }
    }
  });

  test("times are RFC 3339 in UTC with 0, 3, 6 or 9 fractional digits", () => {
    const encode = createJsonEncoder(TimestampSchema, "proto");
    for (const [seconds, nanos, text] of [
      [0n, 0, "1970-01-01T00:00:00Z"],
      [1_772_366_400n, 250_000_000, "2026-03-01T12:00:00.250Z"],
      [951_782_399n, 1_000, "2000-02-28T23:59:59.000001Z"],
      [951_782_400n, 1, "2000-02-29T00:00:00.000000001Z"],
      [-1n, 999_999_999, "1969-12-31T23:59:59.999999999Z"],
      [-62_135_596_800n, 0, "0001-01-01T00:00:00Z"],
      [253_402_300_799n, 0, "9999-12-31T23:59:59Z"],
    ] as const) {
      assert.equal(encode(create(TimestampSchema, { seconds, nanos })), `"${text}"`);
    }
    assert.throws(() => encode(create(TimestampSchema, { seconds: 253_402_300_800n })), /outside the years/);
    assert.throws(() => encode(create(TimestampSchema, { nanos: -1 })), /outside the years/);
  });

  test("durations are decimal seconds and may be negative", () => {
    const encode = createJsonEncoder(DurationSchema, "proto");
    for (const [seconds, nanos, text] of [
      [0n, 0, "0s"],
      [90n, 0, "90s"],
      [1n, 500_000_000, "1.500s"],
      [0n, -250_000_000, "-0.250s"],
      [-3n, -1, "-3.000000001s"],
    ] as const) {
      assert.equal(encode(create(DurationSchema, { seconds, nanos })), `"${text}"`);
    }
    assert.throws(() => encode(create(DurationSchema, { seconds: 1n, nanos: -1 })), /different signs/);
  });

  test("field masks use the encoder's field names", () => {
    const mask = create(FieldMaskSchema, { paths: ["display_name", "role_set.roles"] });
    assert.equal(createJsonEncoder(FieldMaskSchema, "json")(mask), '"displayName,roleSet.roles"');
    assert.equal(createJsonEncoder(FieldMaskSchema, "proto")(mask), '"display_name,role_set.roles"');
  });

  test("an empty message and an empty Struct are empty objects", () => {
    assert.equal(createJsonEncoder(EmptySchema, "proto")(create(EmptySchema)), "{}");
    assert.equal(createJsonEncoder(StructSchema, "proto")(create(StructSchema)), "{}");
  });

  test("a type that contains Any is rejected at every use", () => {
    const [encode, decode] = [createJsonEncoder(withAny, "json"), createJsonDecoder(withAny)];
    for (const use of [() => encode(create(withAny)), () => decode({})]) {
      assert.throws(use, /google.protobuf.Any has no supported JSON form/);
      assert.throws(use, /google.protobuf.Any has no supported JSON form/);
    }
  });

  test("HttpBody is encoded although its unused extensions are of type Any", () => {
    const message = create(ExportConfigResponseSchema, {
      document: { contentType: "text/plain", data: Buffer.from("hi") },
    });
    const text = createJsonEncoder(ExportConfigResponseSchema, "json")(message);
    assert.equal(text, '{"document":{"contentType":"text/plain","data":"aGk=","extensions":[]}}');
    assert.deepEqual(
      createJsonDecoder(ExportConfigResponseSchema)(JSON.parse(text)).document?.contentType,
      "text/plain",
    );
  });
});
