import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../test/harness/random.ts";
import { PlannedExpression } from "./expression.ts";
import { CelError, compileCel } from "./index.ts";
import { ARBITRARY_VARIABLES, arbitraryExpression, arbitraryValues } from "./testing/arbitrary-expression.ts";
import { kindOf, type Value } from "./values/values.ts";

/** Runs a function, and rethrows every error except a CelError. */
function attempt<T>(run: () => T): T | CelError {
  try {
    return run();
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}

const isJsonNumber = (value: unknown): boolean => !Object.is(value, -0);

suite("arbitrary sources", () => {
  test("any text compiles or fails with a typed error", () => {
    const pieces = fc.constantFrom(
      "item",
      ".",
      "?",
      "[",
      "]",
      "(",
      ")",
      "{",
      "}",
      "'",
      '"',
      "\\",
      "r'",
      "1",
      "e",
      "-",
      "!",
      "&&",
      "a",
      "\n",
      "//",
      ",",
      ":",
      "in",
      " ",
    );
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(texts, (source) => {
        const result = attempt(() => new PlannedExpression(source, ARBITRARY_VARIABLES));
        if (result instanceof CelError) assert.ok(["syntax", "type", "limit"].includes(result.kind));
      }),
      { numRuns: 800 },
    );
  });

  test("an expression returns a value of its static type or a typed error, and is deterministic", () => {
    const seen = { values: 0, errors: 0 };
    fc.assert(
      fc.property(arbitraryExpression, arbitraryValues, (source, values) => {
        const expression = attempt(() => new PlannedExpression(source, ARBITRARY_VARIABLES));
        if (expression instanceof CelError) return;
        // evaluateTyped() does not convert other errors, so this verifies that nothing but CelError is thrown.
        const value = attempt(() => expression.evaluateTyped(values));
        assert.deepEqual(
          attempt(() => expression.evaluateTyped(values)),
          value,
        );
        if (value instanceof CelError) {
          seen.errors += 1;
          assert.ok(["evaluation", "budget"].includes(value.kind));
        } else {
          seen.values += 1;
          if (expression.type !== "any") assert.equal(kindOf(value as Value), expression.type, source);
        }
      }),
      { numRuns: 1_000 },
    );
    assert.ok(seen.values > 50 && seen.errors > 0, JSON.stringify(seen));
  });
});

suite("values from JSON", () => {
  const values = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);

  test("are returned unchanged", () => {
    const expression = compileCel("any", { any: "any" });
    fc.assert(fc.property(values, (any) => assert.deepEqual(expression.evaluate({ any }), any)));
  });

  test("equal a copy of themselves, and are found in their containers", () => {
    const equal = compileCel("a == b && [a] == [b] && {'k': a} == {'k': b} && a in [0, b]", { a: "any", b: "any" });
    fc.assert(fc.property(values, (a) => assert.equal(equal.evaluate({ a, b: structuredClone(a) }), true)));
  });

  test("are equal exactly if their JSON is", () => {
    const equal = compileCel("a == b", { a: "any", b: "any" });
    const small = fc.jsonValue({ maxDepth: 1, stringUnit: fc.constantFrom("a", "b") });
    fc.assert(
      fc.property(small, small, (a, b) => {
        let same = true;
        try {
          assert.deepEqual(a, b);
        } catch {
          same = false;
        }
        fc.pre(isJsonNumber(a) && isJsonNumber(b));
        assert.equal(equal.evaluate({ a, b }), same);
      }),
    );
  });

  test("ints and doubles are ordered by their numeric value", () => {
    const order = compileCel("[a < b, a <= b, a == b, a >= b, a > b]", { a: "any", b: "any" });
    const numbers = fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.constantFrom(0.5, 1, 1.5, 2));
    fc.assert(
      fc.property(numbers, numbers, (a, b) =>
        assert.deepEqual(order.evaluate({ a, b }), [a < b, a <= b, a === b, a >= b, a > b]),
      ),
    );
  });

  test("texts are ordered by code point", () => {
    const order = compileCel("a < b", { a: "string", b: "string" });
    const texts = fc.string({ unit: fc.constantFrom("a", "é", "\uffff", "😀", "𝒜"), maxLength: 3 });
    fc.assert(
      fc.property(texts, texts, (a, b) =>
        assert.equal(order.evaluate({ a, b }), Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0),
      ),
    );
  });

  test("texts are sliced and searched by code point", () => {
    const cut = compileCel("text.substring(from, to) + text.charAt(from)", { text: "string", from: "int", to: "int" });
    const texts = fc.string({ unit: "grapheme", maxLength: 8 });
    fc.assert(
      fc.property(texts, fc.nat(8), fc.nat(8), (text, a, b) => {
        const points = [...text];
        const [from, to] = [Math.min(a, b, points.length), Math.min(Math.max(a, b), points.length)];
        assert.equal(cut.evaluate({ text, from, to }), points.slice(from, to).join("") + (points[from] ?? ""));
      }),
    );
  });
});
