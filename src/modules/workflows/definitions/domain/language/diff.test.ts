import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../../test/harness/random.ts";
import type { Json, JsonObject } from "./definition.ts";
import { diffDefinitions } from "./diff.ts";
import { documentOf, noteStep, task, validDocuments } from "./testing/documents.ts";

const summary = (before: Json, after: Json) => {
  const { fields, steps } = diffDefinitions(before, after);
  return {
    fields: fields.map(({ path }) => path),
    steps: steps.map(({ id, change, moved, values }) =>
      [id, change, ...(moved ? ["moved"] : []), ...values.map(({ path }) => path)].join(" "),
    ),
  };
};

test("equal documents have no differences, whatever the order of their members", () => {
  for (const document of Object.values(validDocuments)) {
    const reversed = Object.fromEntries(Object.entries(document).reverse());
    assert.deepEqual(diffDefinitions(document, reversed), { fields: [], steps: [], truncated: false });
  }
});

test("fields of the document are compared by value, and missing ones have none", () => {
  const before = documentOf([noteStep("a")], { retry: { max_attempts: 3, on: ["timeout"] }, name: "Old" });
  const after = documentOf([noteStep("a")], { retry: { max_attempts: 5, on: ["timeout"] }, output: { a: 1 } });
  assert.deepEqual(diffDefinitions(before, after).fields, [
    { path: "retry.max_attempts", before: "3", after: "5" },
    { path: "name", before: '"Old"', after: undefined },
    { path: "output", before: undefined, after: '{"a":1}' },
  ]);
});

test("an inserted step does not make later steps differ", () => {
  const before = documentOf([noteStep("a"), noteStep("b")]);
  const after = documentOf([noteStep("a"), noteStep("new"), noteStep("b")]);
  assert.deepEqual(summary(before, after), { fields: [], steps: ["new added"] });
  assert.deepEqual(summary(after, before), { fields: [], steps: ["new removed"] });
});

test("a changed step lists what differs, without the steps inside of it", () => {
  const block = (when: string, inner: JsonObject): JsonObject => ({
    id: "pick",
    branch: [{ when, steps: [inner] }, { else: [] }],
  });
  const before = documentOf([block("=true", { id: "x", ...task, with: { a: 1, b: [1, 2] } })]);
  const after = documentOf([block("=false", { id: "x", ...task, with: { a: 1, b: [1, 3], c: null } })]);
  assert.deepEqual(diffDefinitions(before, after).steps, [
    {
      id: "pick",
      change: "changed",
      moved: false,
      beforePath: "steps[0]",
      afterPath: "steps[0]",
      values: [{ path: "branch[0].when", before: '"=true"', after: '"=false"' }],
    },
    {
      id: "x",
      change: "changed",
      moved: false,
      beforePath: "steps[0].branch[0].steps[0]",
      afterPath: "steps[0].branch[0].steps[0]",
      values: [
        { path: "with.b[1]", before: "2", after: "3" },
        { path: "with.c", before: undefined, after: "null" },
      ],
    },
  ]);
});

test("a step that is in another order or another list has moved", () => {
  const order = (...ids: string[]) => documentOf(ids.map((id) => noteStep(id)));
  assert.deepEqual(summary(order("a", "b", "c", "d"), order("b", "c", "d", "a")).steps, ["a moved moved"]);
  const outside = documentOf([noteStep("a"), { id: "m", map: { in: [], max_items: 1, steps: [] } }]);
  const inside = documentOf([{ id: "m", map: { in: [], max_items: 1, steps: [noteStep("a", 2)] } }]);
  assert.deepEqual(summary(outside, inside).steps, ["a changed moved transform"]);
});

test("steps in every kind of block are compared", () => {
  const blocks = (value: Json) =>
    documentOf([
      { id: "a", branch: [{ when: "=true", steps: [noteStep("in1", value)] }, { else: [noteStep("in2", value)] }] },
      { id: "b", parallel: { branches: { l: [noteStep("in3", value)], r: [] } } },
      { id: "c", map: { in: [], max_items: 1, steps: [noteStep("in4", value)] } },
      { id: "d", wait_event: { event: "x", timeout: "1d", on_timeout: [noteStep("in5", value)] } },
      { id: "e", approval: { by: ["role:x"], timeout: "1d", on_timeout: [noteStep("in6", value)] } },
      { id: "f", ...task, catch: [{ on: ["*"], steps: [noteStep("in7", value)] }] },
    ]);
  assert.deepEqual(
    summary(blocks(1), blocks(2)).steps,
    [1, 2, 3, 4, 5, 6, 7].map((number) => `in${number} changed transform`),
  );
});

test("long values are shortened, and the number of differences is bounded", () => {
  const values = (value: Json) =>
    documentOf([
      noteStep(
        "a",
        Array.from({ length: 2000 }, () => value),
      ),
    ]);
  const { steps, truncated } = diffDefinitions(values("x".repeat(300)), values("y".repeat(300)));
  assert.equal(steps[0]!.values.length, 1000);
  assert.equal(steps[0]!.values[0]!.before!.length, 201);
  assert.equal(truncated, true);
});

test("documents with many thousand steps are compared quickly", () => {
  const ids = Array.from({ length: 12_000 }, (_, at) => `s${at}`);
  const { steps } = diffDefinitions(
    { steps: ids.map((id) => ({ id })) },
    { steps: ids.toReversed().map((id) => ({ id })) },
  );
  assert.equal(steps.length, 1000);
});

test("any two JSON values can be compared, and equal ones do not differ", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (before, after) => {
      diffDefinitions(before as Json, after as Json);
      const { fields, steps } = diffDefinitions(before as Json, structuredClone(before) as Json);
      assert.deepEqual([fields, steps], [[], []]);
    }),
  );
});
