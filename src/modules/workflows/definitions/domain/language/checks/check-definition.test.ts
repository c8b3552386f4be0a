import assert from "node:assert/strict";
import { test } from "node:test";
import type { Json, JsonObject } from "../definition.ts";
import { parseDefinition } from "../syntax/parse-definition.ts";
import { documentOf, noteStep, stepOf, task, validDocuments } from "../testing/documents.ts";
import { checkDefinition, lookups } from "../testing/lookups.ts";
import { refusedDefinitions } from "../testing/refused-definitions.ts";
import { checkInSlices } from "./check-definition.ts";
import { worstCaseSteps } from "./step-count.ts";

function parsed(document: Json) {
  const { definition, violations } = parseDefinition(document);
  assert.deepEqual(violations, []);
  return definition!;
}

for (const [name, document] of Object.entries(validDocuments)) {
  test(`published: ${name}`, () => {
    assert.deepEqual(checkDefinition(parsed(document), lookups), []);
  });
}

for (const [name, { document, path, message, position }] of Object.entries(refusedDefinitions)) {
  test(`not published: ${name}`, () => {
    const violations = checkDefinition(parsed(document), lookups);
    const found = violations.map((each) => [each.path, each.message, each.position]);
    const [line, column] = position ?? [];
    assert.deepEqual(found, [[path, message, position && { line, column }]]);
  });
}

test("all violations are reported together", () => {
  const document = documentOf([
    noteStep("a", ["=steps.b", "=item", "=1 +"]),
    { id: "a", wait_timer: { for: "1s" }, retry: { max_attempts: 2 } },
    { id: "c", route: { pool: "nowhere" } },
  ]);
  assert.deepEqual(
    checkDefinition(parsed(document), lookups).map(({ path, rule }) => [path, rule]),
    [
      ["steps[1].id", "duplicate_id"],
      ["steps[1].retry", "retry"],
      ["steps[2].route.pool", "missing_pool"],
      ["steps[0].transform[0]", "step_reference"],
      ["steps[0].transform[1]", "scope"],
      ["steps[0].transform[2]", "cel_syntax"],
    ],
  );
});

test("one expression can use several variables out of place, and each is reported with its position", () => {
  const violations = checkDefinition(parsed(documentOf([noteStep("a", "=[index, 1, item, err]")])), lookups);
  assert.deepEqual(
    violations.map(({ message, position }) => [message.split(" ")[0], position!.column]),
    [
      ["item", 13],
      ["index", 3],
      ["err", 19],
    ],
  );
});

test("steps may be read from every place where they have certainly run", () => {
  const document = documentOf(
    [
      noteStep("first"),
      {
        id: "outer",
        map: {
          in: "=steps.first",
          max_items: 2,
          steps: [
            noteStep("second", "=steps.first"),
            {
              id: "inner",
              ...task,
              with: { a: "=steps.second", b: "=steps['first'].x", c: "=item", d: "=index" },
              catch: [{ on: ["*"], steps: [noteStep("third", "=[steps.second, err.details, item]")] }],
              compensate: { ...task, with: ["=steps.inner", "=steps.second", "=item"] },
            },
            noteStep("fourth", "=steps.inner"),
          ],
        },
      },
      { id: "wait", wait_event: { event: "a", timeout: "1d", on_timeout: [noteStep("fifth", "=steps.outer")] } },
    ],
    { output: "=[steps.first, steps.outer, steps.wait]" },
  );
  assert.deepEqual(checkDefinition(parsed(document), lookups), []);
});

test("a variable of a comprehension may have the name of a variable of the language", () => {
  const document = documentOf([noteStep("a", "=input.list.map(item, item.x).exists(err, err == 1)")]);
  assert.deepEqual(checkDefinition(parsed(document), lookups), []);
});

test("members of the input may be read unless its schema excludes them", () => {
  const check = (schema: JsonObject, expression: string) =>
    checkDefinition(parsed(documentOf([noteStep("a", expression)], { input_schema: schema })), lookups);
  const open = { type: "object", properties: { id: {} } };
  const closed = { ...open, additionalProperties: false };
  assert.deepEqual(check(open, "=input.other"), []);
  assert.deepEqual(check({ ...open, additionalProperties: { type: "string" } }, "=input.other"), []);
  for (const source of ["=input.id", "=input", "=input.id.any", "='other' in input", "=[1].map(other, other)"]) {
    assert.deepEqual(check(closed, source), [], source);
  }
  assert.deepEqual(check({ properties: { "a.b": {} }, additionalProperties: false }, "=input['a.b']"), []);
  assert.equal(check(closed, "=input['other']").length, 1);
});

test("a pinned version of itself is not a cycle, unless it leads back to the active one", () => {
  const older = parsed(stepOf({ subworkflow: { key: "lead.onboard", version: 1 } }));
  const known = { ...lookups, definitionState: () => "published" as const };
  assert.deepEqual(checkDefinition(older, { ...known, callsOf: () => [] }), []);
  const back = { ...known, callsOf: () => [{ key: "lead.onboard", version: undefined }] };
  assert.equal(
    checkDefinition(older, back)[0]!.message,
    "must not lead back to this definition: lead.onboard → lead.onboard@1 → lead.onboard",
  );
});

test("a cycle between other definitions does not hang the check", () => {
  const loop = parsed(stepOf({ subworkflow: { key: "back.one" } }));
  const callsOf = ({ key }: { key: string }) => [{ key: key === "x" ? "y" : "x", version: undefined }];
  assert.deepEqual(checkDefinition(loop, { ...lookups, callsOf }), []);
});

test("the worst case multiplies maps and takes the longest arm and catch", () => {
  const count = (document: Json) => worstCaseSteps(parsed(document));
  assert.equal(count(documentOf([noteStep("a"), noteStep("b")])), 2);
  assert.equal(count(stepOf({ map: { in: [], max_items: 7, steps: [noteStep("a"), noteStep("b")] } })), 15);
  const branch: JsonObject[] = [
    { when: "=true", steps: [noteStep("a")] },
    { else: [noteStep("b"), noteStep("c"), noteStep("d")] },
  ];
  assert.equal(count(stepOf({ branch })), 4);
  assert.equal(count(stepOf({ parallel: { branches: { l: [noteStep("a")], r: [noteStep("b")] } } })), 3);
  assert.equal(count(stepOf({ wait_event: { event: "a", timeout: "1d", on_timeout: [noteStep("b")] } })), 2);
  const caught = [
    { on: ["timeout"], steps: [noteStep("a")] },
    { on: ["*"], steps: [noteStep("b"), noteStep("c")] },
  ];
  assert.equal(count(stepOf(task, { catch: caught })), 3);
});

test("exactly 10,000 executed steps are allowed", () => {
  const map = (items: number) => parsed(stepOf({ map: { in: [], max_items: items, steps: [noteStep("a")] } }));
  assert.deepEqual(checkDefinition(map(9999), lookups), []);
  assert.equal(checkDefinition(map(10_000), lookups)[0]!.rule, "executed_steps");
});

test("codes of steps inside a block may be caught, and those of its other catch entries may not", () => {
  const document = documentOf([
    {
      id: "outer",
      branch: [{ when: "=true", steps: [{ id: "inner", task: { queue: "a", type: "b", errors: ["quota"] } }] }],
      catch: [
        { on: ["quota", "worker_lost"], steps: [{ id: "stop", fail: { code: "stopped" } }] },
        { on: ["stopped"], steps: [] },
      ],
    },
  ]);
  assert.deepEqual(
    checkDefinition(parsed(document), lookups).map(({ path }) => path),
    ["steps[0].catch[1].on[0]"],
  );
});

test("a definition full of expressions is checked in many slices, and stops after 100 violations", () => {
  const steps = Array.from({ length: 400 }, (_, at) => noteStep(`s${at}`, `=steps.missing${at}`));
  const work = checkInSlices(parsed(documentOf(steps)), lookups);
  let slices = 0;
  let result = work.next();
  for (; result.done !== true; result = work.next()) slices++;
  assert.equal(slices, 100);
  assert.equal(result.value.length, 100);
});

test("hostile expressions end in violations", () => {
  const sources = [
    "[".repeat(3000),
    "!".repeat(4000),
    `${"-".repeat(4000)}1`,
    `${"a.".repeat(2000)}b`,
    `input.matches('${"(a*)*".repeat(60)}')`,
    `[${"1,".repeat(2000)}1]`,
    `steps.${"x".repeat(4000)}`,
    "\u0000",
    "'\\uD800'",
    "steps.__proto__",
    "steps.constructor",
  ];
  for (const source of sources) {
    const violations = checkDefinition(parsed(documentOf([noteStep("a"), noteStep("b", `=${source}`)])), lookups);
    assert.ok(violations.length > 0, source.slice(0, 20));
    for (const { path, message } of violations) {
      assert.equal(path, "steps[1].transform");
      assert.ok(message.length < 500);
    }
  }
});

test("without lookups, only what does not depend on other records is checked", () => {
  const check = (document: Json) => {
    const work = checkInSlices(parsed(document), undefined);
    for (let result = work.next(); ; result = work.next()) if (result.done === true) return result.value;
  };
  assert.deepEqual(check(stepOf({ route: { pool: "nowhere" } })), []);
  assert.equal(check(stepOf({ wait_timer: { for: "1s" } }, { retry: { max_attempts: 2 } })).length, 1);
});
