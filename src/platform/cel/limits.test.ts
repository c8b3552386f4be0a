import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { CelError, compileCel } from "./index.ts";
import { LIMITS } from "./limits.ts";

const VARIABLES = { item: "map", text: "string", list: "list" } as const;

function outcome(source: string, values: Readonly<Record<string, unknown>> = {}): unknown {
  try {
    return compileCel(source, VARIABLES).evaluate({ item: {}, text: "", list: [], ...values });
  } catch (error) {
    if (error instanceof CelError) return error.kind;
    throw error;
  }
}

suite("limits on an expression", () => {
  test("its source has at most 4,096 bytes, not characters", () => {
    const padded = (bytes: number, filler: string) =>
      `"${filler.repeat((bytes - 2) / Buffer.byteLength(filler))}" != ""`;
    assert.equal(outcome(padded(4_000, "a")), true);
    assert.equal(outcome(padded(4_200, "a")), "limit");
    assert.equal(outcome(padded(4_202, "é")), "limit");
  });

  test("its depth is limited for every kind of nesting", () => {
    const times = LIMITS.depth + 10;
    for (const [open, middle, close] of [
      ["(", "1", ")"],
      ["[", "1", "]"],
      ["{'a': ", "1", "}"],
      ["!", "true", ""],
      ["- ", "text.size()", ""],
      ["size([", "1", "])"],
      ["list.map(x, ", "1", ")"],
      ["true ? 1 : ", "1", ""],
      ["text + ", "text", ""],
      ["item[", "'a'", "]"],
    ] as const) {
      const nested = (depth: number) => open.repeat(depth) + middle + close.repeat(depth);
      assert.notEqual(outcome(nested(20)), "limit", open);
      assert.equal(outcome(nested(times)), "limit", open);
    }
    for (const [first, next] of [
      ["1", " + 1"],
      ["item", ".a"],
      ["list", "[0]"],
      ["text", ".trim()"],
      ["1 == 1", " == true"],
    ] as const)
      assert.equal(outcome(first + next.repeat(times)), "limit", next);
  });

  test("a chain of conditions may be as long as the source", () => {
    assert.equal(outcome(`true${" && true".repeat(500)}`), true);
    assert.equal(outcome(`false${" || false".repeat(450)}`), false);
    assert.equal(outcome(`(${"(true && ".repeat(30)}true${")".repeat(30)})${" && true".repeat(100)}`), true);
  });

  test("thousands of consecutive signs cause an error and not a crash", () => {
    for (const sign of ["!", "-", "(", "[", "{", "a.", "a[", "f(", "?", "\\", '"', "'''"])
      assert.ok(["limit", "syntax", "type"].includes(String(outcome(sign.repeat(4_096 / sign.length)))), sign);
  });

  test("the size of list and map literals is limited", () => {
    const elements = LIMITS.literalElements;
    assert.equal(outcome(`size([${"1,".repeat(elements - 1)}1])`), elements);
    assert.equal(outcome(`size([${"1,".repeat(elements)}1])`), "limit");
    assert.equal(outcome(`size({${Array.from({ length: elements + 1 }, (_, i) => `${i}:0`).join()}})`), "limit");
    assert.equal(outcome(`size(${"1,".repeat(LIMITS.callArguments)}1)`), "limit");
  });

  test("its regular expressions are limited in number, length, repetition and Unicode classes", () => {
    const matching = (pattern: string) => `text.matches(r'${pattern}')`;
    assert.equal(outcome(matching("^[A-Za-z0-9._%+-]+@([A-Za-z0-9-]+\\.)+[A-Za-z]{2,24}$")), false);
    assert.equal(outcome(matching("^\\p{L}{1,40}$")), false);
    for (const pattern of [
      "a".repeat(LIMITS.patternLength + 1),
      "a{601}",
      "((a{10}){10}){10}",
      "(a{0,30}){30}",
      "\\pL".repeat(LIMITS.patternWideClasses + 1),
      `(?i)${"[k-\\x{212a}]".repeat(LIMITS.patternWideClasses + 1)}`,
      `\\Q[\\E${"a{500}".repeat(9)}`,
    ])
      assert.equal(outcome(matching(pattern)), "limit", pattern);
    const times = (count: number) => Array.from({ length: count }, () => matching("a")).join(" || ");
    assert.equal(outcome(times(LIMITS.patterns)), false);
    assert.equal(outcome(times(LIMITS.patterns + 1)), "limit");
  });
});

suite("limits on an evaluation", () => {
  test("the work of comprehensions is counted over all levels", () => {
    const list = Array.from({ length: 50 }, (_, i) => i);
    assert.equal(outcome("list.all(a, list.all(b, a + b >= 0))", { list }), true);
    assert.equal(outcome("list.all(a, list.all(b, list.all(c, a + b + c >= 0)))", { list }), "budget");
  });

  test("a comprehension costs as much as its body for every item", () => {
    const list = Array.from({ length: 1_000 }, (_, i) => i);
    assert.equal(outcome("list.all(x, x >= 0)", { list }), true);
    assert.equal(outcome(`list.all(x, x >= 0${" && x >= 0".repeat(100)})`, { list }), "budget");
  });

  test("no operator absorbs the error of an exceeded work limit", () => {
    const list = Array.from({ length: 300 }, (_, i) => i);
    const endless = "list.all(a, list.all(b, list.all(c, true)))";
    for (const source of [
      `${endless} || true`,
      `true && ${endless}`,
      `[1].exists(x, ${endless} || true)`,
      `!${endless}`,
    ])
      assert.equal(outcome(source, { list }), "budget", source);
    assert.equal(outcome(`false && ${endless}`, { list }), false);
  });

  test("strings do not exceed the length limit of an evaluation", () => {
    const text = "a".repeat(LIMITS.stringLength / 2);
    assert.equal(outcome("size(text + text)", { text }), LIMITS.stringLength);
    for (const source of [
      "text + text + 'a'",
      "[text, text, text].join('')",
      "'aaaa'.replace('a', text)",
      "text.replace('', 'b')",
      "[text].map(t, t + t).map(t, t + t)",
    ])
      assert.equal(outcome(source, { text }), "budget", source);
  });

  test("matching a long text is bounded by the work limit", () => {
    assert.equal(outcome("text.matches('a+b')", { text: "a".repeat(2_000) }), false);
    assert.equal(outcome("text.matches('a+b')", { text: "a".repeat(LIMITS.matchedLength) }), "budget");
    assert.equal(outcome("text.matches('b')", { text: "a".repeat(LIMITS.matchedLength + 1) }), "budget");
  });

  test("a computed pattern has the same limits as a literal one", () => {
    const matching = (pattern: string) => outcome("text.matches(item.pattern)", { text: "a", item: { pattern } });
    assert.equal(matching("^a$"), true);
    assert.equal(matching("("), "evaluation");
    for (const pattern of ["a{1000}", "\\pL".repeat(20), "a".repeat(257)]) assert.equal(matching(pattern), "budget");
  });

  test("values beyond the depth limit are neither compared nor returned", () => {
    let deep: unknown = 1;
    for (let i = 0; i < 10_000; i += 1) deep = [deep];
    const copy = { a: deep, b: structuredClone(deepEnough()) };
    assert.equal(outcome("item.a == item.a", { item: copy }), "budget");
    assert.equal(outcome("item.a", { item: copy }), "budget");
    assert.equal(outcome("item.b == item.b", { item: copy }), true);
  });

  function deepEnough(): unknown {
    let deep: unknown = 1;
    for (let i = 0; i < 60; i += 1) deep = [deep];
    return deep;
  }
});
