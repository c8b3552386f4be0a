import assert from "node:assert/strict";
import { test } from "node:test";
import { Ajv2020 } from "@redocly/ajv/dist/2020.js";
import { fc } from "../../../test/harness/random.ts";
import { type Json, type JsonObject, Violations } from "../document/index.ts";
import { checkSchema, checkValue } from "./index.ts";

const schema: JsonObject = {
  type: "object",
  properties: {
    id: { type: "string", minLength: 2, maxLength: 4 },
    age: { type: "integer", minimum: 18, maximum: 99 },
    state: { enum: ["new", "open", { nested: [1, 2] }] },
    fixed: { const: null },
    lines: {
      type: "array",
      minItems: 1,
      maxItems: 2,
      items: { type: "object", required: ["sku"], properties: { sku: { type: ["string", "number"] } } },
    },
  },
  required: ["id"],
  additionalProperties: false,
  title: "A lead",
  description: "For people.",
  default: {},
};

const first = (value: Json, own: JsonObject = schema) => {
  const [violation] = checkValue(own, value, "input");
  return violation && [violation.path, violation.message];
};

test("a valid input has no violations", () => {
  const value = { id: "ab", age: 18.0, state: { nested: [1, 2] }, fixed: null, lines: [{ sku: 1, more: true }] };
  assert.deepEqual(checkValue(schema, value, "input"), []);
});

test("every violation names its path and what is allowed", () => {
  const cases: [value: Json, path: string, message: string][] = [
    [[], "input", "must be an object"],
    [{}, "input.id", "is required"],
    [{ id: 7 }, "input.id", "must be a string"],
    [{ id: "a" }, "input.id", "must have at least 2 characters"],
    [{ id: "abcde" }, "input.id", "must have at most 4 characters"],
    [{ id: "ab", age: 17 }, "input.age", "must be at least 18"],
    [{ id: "ab", age: 100 }, "input.age", "must be at most 99"],
    [{ id: "ab", age: 20.5 }, "input.age", "must be an integer"],
    [{ id: "ab", state: "old" }, "input.state", 'must be one of "new", "open", {"nested":[1,2]}'],
    [{ id: "ab", fixed: 0 }, "input.fixed", "must be null"],
    [{ id: "ab", lines: [] }, "input.lines", "must have at least 1 elements"],
    [{ id: "ab", lines: [{ sku: "" }, { sku: "" }, { sku: "" }] }, "input.lines", "must have at most 2 elements"],
    [{ id: "ab", lines: [{ sku: 1 }, {}] }, "input.lines[1].sku", "is required"],
    [{ id: "ab", lines: [{ sku: null }] }, "input.lines[0].sku", "must be a string or a number"],
    [{ id: "ab", agee: 1 }, "input.agee", "is not allowed here; did you mean age?"],
    [{ id: "ab", "odd name": 1 }, 'input["odd name"]', "is not allowed here"],
  ];
  for (const [value, path, message] of cases) assert.deepEqual(first(value), [path, message]);
});

test("a length counts characters, not UTF-16 units", () => {
  assert.equal(first({ id: "😀😀😀😀" }), undefined);
});

test("members that every object inherits are neither present nor allowed", () => {
  const strict = { required: ["constructor"], properties: {}, additionalProperties: false };
  assert.deepEqual(first({}, strict), ["input.constructor", "is required"]);
  assert.deepEqual(first(JSON.parse('{"__proto__": 1, "constructor": 2}'), strict), [
    "input.__proto__",
    "is not allowed here",
  ]);
});

test("schemas with unsupported keywords or invalid values are refused with their path", () => {
  const cases: [schema: Json, path: string, message: string][] = [
    ["object", "s", 'must be a JSON Schema object, for example {"type": "object"}'],
    [{ minLenght: 1 }, "s.minLenght", "is not a supported keyword; did you mean minLength?"],
    [{ enum: [] }, "s.enum", 'must be a list with at least one value, for example ["new", "open"]'],
    [{ properties: [] }, "s.properties", 'must be an object of schemas, for example {"id": {"type": "string"}}'],
    [{ required: "id" }, "s.required", 'must be a list of names, for example ["id"]'],
    [{ minItems: -1 }, "s.minItems", "must be a whole number that is not negative, for example 1"],
    [{ minimum: "1" }, "s.minimum", "must be a number, for example 0"],
    [{ title: 1 }, "s.title", "must be a text"],
    [
      { items: { additionalProperties: 1 } },
      "s.items.additionalProperties",
      'must be a JSON Schema object, for example {"type": "object"}',
    ],
  ];
  for (const [own, path, message] of cases) {
    const violations = new Violations();
    checkSchema(own, "s", violations);
    assert.deepEqual(
      violations.list.map((each) => [each.path, each.message]),
      [[path, message]],
    );
  }
});

test("a schema nests at most 16 levels", () => {
  let deep: JsonObject = {};
  for (let depth = 0; depth < 16; depth++) deep = { items: deep };
  const violations = new Violations();
  checkSchema(deep, "s", violations);
  assert.equal(violations.list[0]!.message, "must not nest deeper than 16 levels");
});

/** Schemas of the subset. */
const schemas = fc.letrec<{ schema: JsonObject }>((tie) => {
  const name = fc.constantFrom("a", "b", "c");
  const number = fc.integer({ min: 0, max: 3 });
  const type = fc.constantFrom("object", "array", "string", "number", "integer", "boolean", "null");
  return {
    schema: fc.record(
      {
        type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
        enum: fc.uniqueArray(fc.jsonValue({ maxDepth: 1 }), { minLength: 1, maxLength: 3, selector: JSON.stringify }),
        const: fc.jsonValue({ maxDepth: 1 }),
        properties: fc.dictionary(name, fc.oneof({ maxDepth: 2 }, fc.constant({}), tie("schema")), { maxKeys: 3 }),
        required: fc.uniqueArray(name),
        additionalProperties: fc.oneof({ maxDepth: 2 }, fc.boolean(), tie("schema")),
        items: fc.oneof({ maxDepth: 2 }, fc.constant({}), tie("schema")),
        minItems: number,
        maxItems: number,
        minLength: number,
        maxLength: number,
        minimum: number,
        maximum: number,
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<JsonObject>,
  };
}).schema;

const inputs = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, 0, 1, 2.5, "", "ab", "abcd"),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom("a", "b", "c", "d"), tie("value"), { maxKeys: 3 }),
  ),
})).value;

test("an input is valid exactly if another implementation of JSON Schema accepts it", () => {
  const ajv = new Ajv2020({ strict: false, addUsedSchema: false });
  fc.assert(
    fc.property(schemas, inputs, (own, value) => {
      const violations = new Violations();
      checkSchema(own, "s", violations);
      assert.deepEqual(violations.list, []);
      assert.equal(checkValue(own, value, "input").length === 0, ajv.validate(own, value));
    }),
    { numRuns: 150 },
  );
});

test("a hostile schema and input end after 100 violations", () => {
  const required = Array.from({ length: 10_000 }, (_, at) => `r${at}`);
  const value = Array.from({ length: 10_000 }, () => ({}));
  assert.equal(checkValue({ items: { required } }, value, "input").length, 100);
  const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`name${at}`, {}]));
  const other = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`nane${at}`, 1]));
  assert.equal(checkValue({ properties: many, additionalProperties: false }, other, "input").length, 100);
});

test("open values fit every schema, and everything around them is checked", () => {
  const schema = {
    type: "object",
    properties: { n: { type: "integer" }, list: { items: { type: "integer" }, maxItems: 2 }, pair: { enum: [[1, 2]] } },
    required: ["m"],
  };
  const isOpen = (value: unknown) => value === "?";
  const check = (value: never) => checkValue(schema, value, "", isOpen).map(({ path, rule }) => [path, rule]);
  assert.deepEqual(check({ m: "?", n: "?", list: ["?", 1], pair: [1, "?"] } as never), []);
  assert.deepEqual(check("?" as never), []);
  assert.deepEqual(check({ n: "a", list: ["?", "b", 3], pair: [1, 3] } as never), [
    ["m", "required"],
    ["n", "type"],
    ["list", "maxItems"],
    ["list[1]", "type"],
    ["pair", "enum"],
  ]);
});
