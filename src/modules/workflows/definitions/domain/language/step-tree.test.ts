import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../../test/harness/random.ts";
import { outputScope, stepsOf } from "./step-tree.ts";
import { parseDefinition } from "./syntax/parse-definition.ts";
import { documentOf, noteStep, task, validDocuments } from "./testing/documents.ts";

const document = documentOf([
  noteStep("a"),
  {
    id: "pick",
    branch: [
      { when: "=true", steps: [noteStep("b"), noteStep("c")] },
      { else: [{ id: "each", map: { in: [], max_items: 1, steps: [noteStep("d")] } }] },
    ],
    catch: [{ on: ["*"], steps: [noteStep("e")] }],
  },
  { id: "both", parallel: { branches: { left: [noteStep("f")], right: [noteStep("g")] } } },
  {
    id: "wait",
    wait_event: {
      event: "x",
      timeout: "1d",
      on_timeout: [{ id: "h", ...task, catch: [{ on: ["*"], steps: [noteStep("i")] }] }],
    },
  },
  noteStep("z"),
]);
const definition = parseDefinition(document).definition!;

/** The scope of each step, by its id. */
const visibleSteps = (of: typeof definition) => new Map([...stepsOf(of)].map(({ step, scope }) => [step.id, scope]));

test("a step sees the steps before it in its list, and those before the blocks around it", () => {
  const scopes = visibleSteps(definition);
  const seen = Object.fromEntries([...scopes].map(([id, scope]) => [id, scope.visibleIds().join(" ")]));
  assert.deepEqual(seen, {
    a: "",
    pick: "a",
    b: "a",
    c: "a b",
    each: "a",
    d: "a",
    e: "a",
    both: "a pick",
    f: "a pick",
    g: "a pick",
    wait: "a pick both",
    h: "a pick both",
    i: "a pick both",
    z: "a pick both wait",
  });
  assert.deepEqual(outputScope(definition).visibleIds(), ["a", "pick", "both", "wait", "z"]);
});

test("item exists in maps, and err in catches", () => {
  const scopes = [...visibleSteps(definition)];
  assert.deepEqual(
    scopes.flatMap(([id, { hasItem }]) => (hasItem ? [id] : [])),
    ["d"],
  );
  assert.deepEqual(
    scopes.flatMap(([id, { hasError }]) => (hasError ? [id] : [])),
    ["e", "i"],
  );
});

test("steps have the paths that they have in the document", () => {
  for (const valid of [document, ...Object.values(validDocuments)]) {
    for (const { step, path } of stepsOf(parseDefinition(valid).definition!)) {
      const found = path
        .split(/[.[\]]+/)
        .reduce((at: unknown, name) => (name === "" ? at : (at as never)[name]), valid);
      assert.equal((found as { id: string }).id, step.id, path);
    }
  }
});

test("what a scope sees is what it lists", () => {
  const scopes = [...visibleSteps(definition)];
  fc.assert(
    fc.property(fc.constantFrom(...scopes), fc.constantFrom(...scopes), ([, scope], [id]) => {
      assert.equal(scope.sees(id), scope.visibleIds().includes(id));
    }),
  );
});
