import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { create } from "@bufbuild/protobuf";
import { ListEventsRequestSchema } from "../../../gen/service/api/event_pb.ts";
import { UpdateTenantRequestSchema } from "../../../gen/service/api/tenant_pb.ts";
import { applyParams, createJsonDecoder } from "./index.ts";
import { everyKind } from "./testing/every-kind.ts";

type Params = readonly (readonly [string, string])[];

function filled(...params: Params): Record<string, unknown> {
  const message = create(everyKind);
  assert.deepEqual(applyParams(everyKind, message, params, "query"), []);
  return message as never;
}

function broken(...params: Params): string[] {
  return applyParams(everyKind, create(everyKind), params, "query").map(({ field, rule }) => `${field} ${rule}`);
}

suite("parameters", () => {
  test("every kind of scalar is parsed from text", () => {
    const message = filled(
      ["one_string", "a b"],
      ["one_bool", "true"],
      ["one_int32", "-5"],
      ["one_int64", "9223372036854775807"],
      ["one_double", "1.5e3"],
      ["one_bytes", "-_8"],
      ["one_colour", "COLOUR_RED"],
      ["maybe_colour", "COLOUR_BLUE"],
      ["maybe_string", ""],
      ["choice_uint32", "7"],
    );
    assert.deepEqual(
      [message.oneString, message.oneBool, message.oneInt32, message.oneInt64, message.oneDouble, message.oneBytes],
      ["a b", true, -5, 2n ** 63n - 1n, 1500, new Uint8Array([0xfb, 0xff])],
    );
    assert.deepEqual([message.oneColour, message.maybeColour, message.maybeString], [1, 2, ""]);
    assert.deepEqual(message.choice, { case: "choiceUint32", value: 7 });
  });

  test("messages with a text form are parsed from it", () => {
    const message = filled(
      ["one_timestamp", "2026-03-01T12:00:00Z"],
      ["one_duration", "1.5s"],
      ["one_field_mask", "displayName,plan"],
      ["one_int64_value", "5"],
      ["one_bool_value", "false"],
      ["choice_string_value", "x"],
      ["one_struct", '{"a": [1]}'],
      ["one_value", "null"],
    );
    assert.equal((message.oneTimestamp as { seconds: bigint }).seconds, 1_772_366_400n);
    assert.equal((message.oneDuration as { nanos: number }).nanos, 500_000_000);
    assert.deepEqual((message.oneFieldMask as { paths: string[] }).paths, ["display_name", "plan"]);
    assert.deepEqual([message.oneInt64Value, message.oneBoolValue, message.oneStruct], [5n, false, { a: [1] }]);
    assert.deepEqual((message.choice as { value: { value: string } }).value.value, "x");
    assert.deepEqual((message.oneValue as { kind: { case: string } }).kind.case, "nullValue");
  });

  test("a repeated parameter fills a list in order", () => {
    const message = create(ListEventsRequestSchema);
    const params = [
      ["types", "b.*"],
      ["since", "2026-03-01T12:00:00Z"],
      ["types", "a.*"],
    ] as const;
    assert.deepEqual(applyParams(ListEventsRequestSchema, message, params, "query"), []);
    assert.deepEqual(message.types, ["b.*", "a.*"]);
    assert.deepEqual(filled(["many_colour", "COLOUR_RED"], ["many_colour", "COLOUR_BLUE"]).manyColour, [1, 2]);
  });

  test("dotted paths address nested messages, which are created if necessary", () => {
    const message = filled(
      ["one_leaf.text", "x"],
      ["one_every_kind.one_leaf.text", "y"],
      ["one_every_kind.one_bool", "true"],
    );
    const nested = message.oneEveryKind as { oneLeaf: { text: string }; oneBool: boolean };
    assert.equal((message.oneLeaf as { text: string }).text, "x");
    assert.deepEqual([nested.oneLeaf.text, nested.oneBool], ["y", true]);
    assert.deepEqual(filled(["choice_leaf.text", "z"]).choice, {
      case: "choiceLeaf",
      value: { $typeName: "test.Leaf", text: "z" },
    });
  });

  test("an unknown parameter is rejected by name", () => {
    assert.deepEqual(broken(["nmae", "x"], ["one_leaf.txet", "x"], ["one_string.length", "x"], ["", "x"], [".", "x"]), [
      "nmae unknown_field",
      "one_leaf.txet unknown_field",
      "one_string.length unknown_field",
      " unknown_field",
      ". unknown_field",
    ]);
    assert.deepEqual(broken(["one_struct.a", "x"], ["__proto__.polluted", "x"], ["constructor", "x"]), [
      "one_struct.a unknown_field",
      "__proto__.polluted unknown_field",
      "constructor unknown_field",
    ]);
    assert.deepEqual(broken([`${"one_every_kind.".repeat(5000)}one_bool`, "true"]).length, 1);
  });

  test("text that does not match the field's type violates the rule of the type", () => {
    assert.deepEqual(
      broken(
        ["one_bool", "1"],
        ["one_int32", "1.5"],
        ["one_int64", ""],
        ["one_colour", "RED"],
        ["one_timestamp", "today"],
        ["one_string", "\u0000"],
        ["many_int32", "x"],
        ["one_struct", "[1]"],
        ["one_value", "{"],
        ["one_leaf.text", "\ud800"],
      ),
      [
        "one_bool type.bool",
        "one_int32 type.int32",
        "one_int64 type.int64",
        "one_colour type.enum",
        "one_timestamp type.timestamp",
        "one_string string.well_formed",
        "many_int32 type.int32",
        "one_struct type.struct",
        "one_value type.json",
        "one_leaf.text string.well_formed",
      ],
    );
  });

  test("maps and messages without a text form cannot be parameters", () => {
    assert.deepEqual(broken(["one_leaf", "{}"], ["many_leaf", "{}"], ["map_string_string", "{}"]), [
      "one_leaf type.parameter",
      "many_leaf type.parameter",
      "map_string_string type.parameter",
    ]);
  });

  test("a singular field cannot be given twice", () => {
    assert.deepEqual(broken(["one_int32", "0"], ["one_int32", "5"]), ["one_int32 duplicate_field"]);
    assert.deepEqual(broken(["choice_bool", "true"], ["choice_string", "x"]), ["choice_string oneof"]);
  });

  test("lowerCamel names and enum numbers are rejected", () => {
    assert.deepEqual(broken(["oneInt32", "5"]), ["oneInt32 unknown_field"]);
    assert.deepEqual(broken(["one_colour", "1"]), ["one_colour type.enum"]);
  });

  test("a path variable that contradicts the body is rejected; one that equals it is accepted", () => {
    const decode = createJsonDecoder(UpdateTenantRequestSchema);
    const path = [["tenant_id", "t1"]] as const;
    for (const body of [{}, { tenant_id: "t1" }, { tenant_id: "" }]) {
      const message = decode(body);
      assert.deepEqual(applyParams(UpdateTenantRequestSchema, message, path, "path"), []);
      assert.equal(message.tenantId, "t1");
    }
    const message = decode({ tenant_id: "t2" });
    assert.deepEqual(applyParams(UpdateTenantRequestSchema, message, path, "path"), [
      {
        field: "tenant_id",
        rule: "conflicting_value",
        message: "must have the same value as a path parameter and elsewhere in the request",
      },
    ]);
    assert.equal(message.tenantId, "t2");
  });

  test("a query parameter cannot override a path variable", () => {
    const message = create(UpdateTenantRequestSchema, { tenantId: "t1" });
    const [violation] = applyParams(UpdateTenantRequestSchema, message, [["tenant_id", "t2"]], "query");
    assert.equal(violation?.rule, "conflicting_value");
  });

  test("at most twenty violations are reported", () => {
    assert.equal(broken(...Array.from({ length: 100 }, (_, i) => [`x${i}`, ""] as const)).length, 20);
  });
});
