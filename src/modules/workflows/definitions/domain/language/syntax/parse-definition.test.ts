import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../../../test/harness/random.ts";
import { violationsMax } from "../../../../../../platform/document/index.ts";
import { formatDuration, parseDuration } from "../../../../../../platform/text/index.ts";
import { defaultRetry } from "../definition.ts";
import { limits } from "../limits.ts";
import { documentOf, noteStep, stepOf, task, validDocuments } from "../testing/documents.ts";
import { invalidDocuments } from "../testing/invalid-documents.ts";
import { checkDefinition, lookups } from "../testing/lookups.ts";
import { parseDefinition } from "./parse-definition.ts";

for (const [name, document] of Object.entries(validDocuments)) {
  test(`accepted: ${name}`, () => {
    assert.deepEqual(parseDefinition(document).violations, []);
  });
}

for (const [name, { document, path, message }] of Object.entries(invalidDocuments)) {
  test(`refused: ${name}`, () => {
    const { definition, violations } = parseDefinition(document);
    assert.equal(definition, undefined);
    assert.deepEqual([violations[0]!.path, violations[0]!.message], [path, message]);
  });
}

test("durations are read as milliseconds, short forms are expanded, and defaults are filled in", () => {
  const { definition } = parseDefinition(
    documentOf([
      { id: "a", ...task, timeout: { attempt: "500ms", total: "2h" }, retry: { max_attempts: 7 } },
      { id: "b", wait_event: { event: "signed", timeout: "7d" } },
      { id: "c", map: { in: "=input", max_items: 3, steps: [] } },
      { id: "d", approval: { by: ["role:operator"], timeout: "1m" } },
      { id: "e", subworkflow: { key: "lead.enrich" } },
    ]),
  );
  const [a, b, c, d, e] = definition!.steps;
  assert.equal(definition!.timeoutMs, 14 * 86_400_000);
  assert.deepEqual(a!.timeout, { attemptMs: 500, totalMs: 7_200_000, heartbeatMs: undefined });
  assert.deepEqual(a!.retry, { ...defaultRetry, maxAttempts: 7 });
  assert.deepEqual(a!.work, { kind: "task", queue: "ml", type: "lead.score", version: "", errors: [], with: {} });
  assert.deepEqual(b!.work, {
    kind: "wait_event",
    any: [{ event: "signed", scope: "" }],
    timeoutMs: 604_800_000,
    onTimeout: undefined,
    update: undefined,
    short: true,
  });
  assert.ok(c!.work.kind === "map" && c!.work.maxParallel === 10 && c!.work.onError === "fail");
  assert.ok(d!.work.kind === "approval" && d!.work.quorum === 1 && !d!.work.commentRequired);
  assert.deepEqual(e!.work, { kind: "subworkflow", key: "lead.enrich", version: undefined, input: {} });
});

test("a null in a template is a value, and a null elsewhere is refused", () => {
  const { definition } = parseDefinition(documentOf([noteStep("a", null)], { output: null }));
  assert.equal(definition!.output, null);
  assert.deepEqual(
    parseDefinition(stepOf(task, { retry: null, timeout: null })).violations.map(({ path }) => path),
    ["steps[0].retry", "steps[0].timeout"],
  );
});

test("all violations are reported, in the order of the document", () => {
  const document = documentOf(
    [
      { id: "One", task: { queu: "ml" } },
      { id: "two", wait_timer: { for: "x" } },
    ],
    { a: 1 },
  );
  assert.deepEqual(
    parseDefinition(document).violations.map(({ path, rule }) => [path, rule]),
    [
      ["a", "unknown_field"],
      ["steps[0].id", "pattern"],
      ["steps[0].task.queu", "unknown_field"],
      ["steps[0].task.queue", "required"],
      ["steps[0].task.type", "required"],
      ["steps[1].wait_timer.for", "duration"],
    ],
  );
});

test("at most 100 violations are reported", () => {
  const steps = Array.from({ length: 400 }, () => ({ zzzz: 1 }));
  assert.equal(parseDefinition(documentOf(steps)).violations.length, violationsMax);
});

test("a document has at most 256 KiB as JSON", () => {
  const sized = (bytes: number) => {
    const document = documentOf([noteStep("a", "")]);
    const missing = bytes - JSON.stringify(document).length;
    return documentOf([noteStep("a", "x".repeat(missing))]);
  };
  assert.deepEqual(parseDefinition(sized(limits.documentBytes)).violations, []);
  const tooLarge = {
    path: "",
    rule: "size",
    message: "must have at most 256 KiB as JSON: move steps into a subworkflow",
  };
  assert.deepEqual(parseDefinition(sized(limits.documentBytes + 1)).violations, [tooLarge]);
  assert.deepEqual(parseDefinition("é".repeat(limits.documentBytes / 2)).violations, [tooLarge]);
  assert.deepEqual(parseDefinition(Array.from({ length: 1_000_000 }, () => 0)).violations, [tooLarge]);
});

test("a value that is shared many times counts every time", () => {
  let shared: unknown = "x".repeat(100);
  for (let depth = 0; depth < 60; depth++) shared = [shared, shared, shared];
  assert.equal(parseDefinition({ output: shared }).violations[0]!.rule, "size");
});

test("a document of any depth is refused without exhausting the stack", () => {
  let deep: unknown = 1;
  for (let depth = 0; depth < 100_000; depth++) deep = { steps: [deep] };
  assert.deepEqual(parseDefinition(deep).violations, [
    { path: "", rule: "nesting", message: "must not nest deeper than 128 levels of objects and lists" },
  ]);
});

test("a cyclic value is refused", () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  assert.equal(parseDefinition(cyclic).violations[0]!.rule, "nesting");
});

test("values that are not JSON are refused with their path", () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, undefined, () => 1, Symbol("a"), 1n]) {
    const { violations } = parseDefinition({ output: { a: [value] } });
    assert.deepEqual([violations[0]!.path, violations[0]!.rule], ["output.a[0]", "type"]);
  }
});

test("names that every object has are never looked up", () => {
  for (const name of ["constructor", "hasOwnProperty", "toString", "valueOf"]) {
    const { violations } = parseDefinition(JSON.parse(`{"steps": [{"id": "a", "task": {"${name}": 1}}]}`));
    assert.ok(violations.some(({ path, rule }) => path === `steps[0].task.${name}` && rule === "unknown_field"));
  }
  assert.deepEqual(parseDefinition(documentOf([noteStep("a", { constructor: 1 as never })])).violations, []);
});

test("a duration is written in the largest unit that divides it", () => {
  const cases = { "0ms": 0, "1500ms": 1500, "90s": 90_000, "2h": 7_200_000, "365d": 31_536_000_000 };
  for (const [text, ms] of Object.entries(cases)) {
    assert.equal(formatDuration(ms), text);
    assert.equal(parseDuration(text), ms);
  }
  for (const text of ["", "s", "1", "1.5s", "-1s", "1 s", "1S", "1w", "١s", "1000000000000000s"]) {
    assert.equal(parseDuration(text), undefined, text);
  }
});

/** JSON that resembles a document, so that it reaches the inner readers. */
const documentLike = fc.letrec((tie) => ({
  json: fc.jsonValue(),
  name: fc.constantFrom(
    ...[
      "id",
      "task",
      "route",
      "notify",
      "action",
      "subworkflow",
      "branch",
      "parallel",
      "map",
      "wait_event",
      "wait_timer",
    ],
    ...["approval", "transform", "fail", "with", "catch", "retry", "timeout", "compensate", "when", "else", "steps"],
    ...["on", "in", "max_items", "branches", "any", "event", "scope", "for", "until", "by", "value", "code", "queue"],
    ...[
      "type",
      "key",
      "dsl",
      "output",
      "input_schema",
      "on_timeout",
      "__proto__",
      "constructor",
      "properties",
      "items",
    ],
  ),
  leaf: fc.constantFrom("a", "=input.id", "=", "==", "=1 +", "1d", "*", "role:x", "1", 1, 0, null, true, [], {}),
  node: fc.oneof(
    { maxDepth: 8 },
    tie("leaf"),
    tie("json"),
    fc.array(tie("node"), { maxLength: 3 }),
    fc.dictionary(tie("name") as fc.Arbitrary<string>, tie("node"), { maxKeys: 5 }),
  ),
  document: fc
    .tuple(tie("node"), fc.dictionary(tie("name") as fc.Arbitrary<string>, tie("node")))
    .map(([steps, fields]) => documentOf(Array.isArray(steps) ? steps : [steps as never], fields as never)),
}));

test("parsing never throws, whatever the JSON, and its violations are bounded", () => {
  const parsesOrExplains = (value: unknown) => {
    const { definition, violations } = parseDefinition(value);
    assert.equal(definition === undefined, violations.length > 0);
    assert.ok(violations.length <= violationsMax);
    for (const { path, message } of violations) assert.ok(path.length < 20_000 && message.length < 2000);
    if (definition !== undefined) checkDefinition(definition, lookups);
  };
  fc.assert(fc.property(fc.jsonValue(), parsesOrExplains));
  fc.assert(fc.property(documentLike.document, parsesOrExplains), { numRuns: 500 });
});

test("a changed value anywhere in a valid document is accepted or explained", () => {
  const documents = Object.values(validDocuments);
  fc.assert(
    fc.property(fc.constantFrom(...documents), fc.nat(), fc.jsonValue(), (document, at, value) => {
      const copy = structuredClone(document);
      const places = placesOf(copy);
      const [holder, name] = places[at % places.length]!;
      (holder as Record<string, unknown>)[name] = value;
      const { definition, violations } = parseDefinition(copy);
      assert.equal(definition === undefined, violations.length > 0);
      if (definition !== undefined) checkDefinition(definition, lookups);
    }),
    { numRuns: 500 },
  );
});

/** Every member of every object and list of a value. */
function placesOf(value: unknown): [holder: object, name: string][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((name) => [
    [value, name] as [object, string],
    ...placesOf((value as Record<string, unknown>)[name]),
  ]);
}
