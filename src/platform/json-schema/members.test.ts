import assert from "node:assert/strict";
import { test } from "node:test";
import { type Json, textFormat, Violations } from "../document/index.ts";
import {
  choice,
  defineObject,
  flag,
  integer,
  object,
  objectOrEmpty,
  objects,
  optional,
  required,
  text,
} from "./index.ts";

const name = textFormat("^[a-z]+$", 10, 'must be lower-case letters, for example "abc"');
const size = { min: 1, max: 9 };

const inner = defineObject("a part", '{"name": "abc"}', {
  title: text("name", name),
  count: integer("count", size, 3),
});
const outer = defineObject(
  "a whole",
  '{"first": {}}',
  {
    first: required(object("first", inner), '{"name": "abc"}'),
    second: optional(object("second", inner)),
    third: objectOrEmpty("third", inner),
    more: objects("more", inner, size, '[{"name": "abc"}]'),
    kind: choice("kind", ["a", "b"], "a"),
    isOpen: flag("open", false),
  },
  (whole, reader) => {
    if (whole.isOpen && whole.kind === "b") reader.refuse("open", "exclusive", "cannot be combined with b");
    return { ...whole, sum: whole.first.count + whole.third.count };
  },
);

function read(value: Json) {
  const violations = new Violations();
  const whole = outer.read(value, "", { violations });
  return { whole, paths: violations.list.map(({ path, rule }) => `${path}: ${rule}`) };
}

test("an object is read with the defaults of its members, and completed", () => {
  const { whole, paths } = read({ first: { name: "x", count: 4 }, more: [{ name: "y" }] });
  assert.deepEqual(paths, []);
  assert.deepEqual(whole, {
    first: { title: "x", count: 4 },
    second: undefined,
    third: { title: "", count: 3 },
    more: [{ title: "y", count: 3 }],
    kind: "a",
    isOpen: false,
    sum: 7,
  });
});

test("an invalid object is reported once, and read as one without members", () => {
  const { whole, paths } = read({ first: 5, second: [], more: [1, { name: "y" }] });
  assert.deepEqual(paths, ["first: type", "second: type", "more[0]: type"]);
  assert.deepEqual(whole?.first, { title: "", count: 3 });
  assert.deepEqual(whole?.more, [{ title: "y", count: 3 }]);
});

test("members of nested objects are reported with their path, and those of a missing object are not", () => {
  assert.deepEqual(read({ first: { name: "X", other: 1 } }).paths, [
    "first.other: unknown_field",
    "first.name: pattern",
  ]);
  assert.deepEqual(read({}).paths, ["first: required", "first: type"]);
  assert.deepEqual(read({ first: { name: "x" }, kind: "b", open: true }).paths, ["open: exclusive"]);
});

test("the schema of an object lists its members, and requires those without a default", () => {
  const { properties, required: names } = outer.schema as { properties: Record<string, Json>; required: string[] };
  assert.deepEqual(Object.keys(properties), ["first", "second", "third", "more", "kind", "open"]);
  assert.deepEqual(names, ["first"]);
  assert.deepEqual(properties.third, inner.schema);
});
