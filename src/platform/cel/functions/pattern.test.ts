import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { fc } from "../../../../test/harness/random.ts";
import { LIMITS } from "../limits.ts";
import { Frame } from "../plan/frame.ts";
import { compilePattern } from "./pattern.ts";
import { patternCost } from "./pattern-cost.ts";

const { pattern: patterns } = fc.letrec<{ pattern: string; atom: string; repeated: string }>((tie) => ({
  pattern: fc
    .tuple(fc.constantFrom("", "^", "(?i)", "(?s)"), fc.array(tie("repeated"), { maxLength: 4 }), fc.boolean())
    .map(([flags, parts, alternatives]) => flags + parts.join(alternatives ? "|" : "")),
  repeated: fc
    .tuple(tie("atom"), fc.constantFrom("", "", "*", "+", "?", "{3}", "{2,}", "{0,4}", "{7,9}", "{12}", "??"))
    .map(([atom, quantifier]) => atom + quantifier),
  atom: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(
      "a",
      ".",
      "\\d",
      "\\.",
      "[a-z]",
      "[^]a]",
      "[[:alpha:]-]",
      "\\pL",
      "é",
      "😀",
      "\\x{10ffff}",
      "[\\]x]",
    ),
    tie("pattern").map((inner) => `(${inner})`),
    tie("pattern").map((inner) => `(?:${inner})`),
    tie("pattern").map((inner) => `(?P<name>${inner})`),
  ),
}));

suite("patterns", () => {
  test("the cost of a pattern is never underestimated", () => {
    fc.assert(
      fc.property(patterns, (source) => {
        const estimate = patternCost(source).instructions;
        fc.pre(estimate <= 3 * LIMITS.patternInstructions);
        const actual = compilePattern(source)?.instructions ?? 0;
        assert.ok(actual <= estimate, `${source} compiles to ${actual} instructions, estimated ${estimate}`);
      }),
      { numRuns: 1_000, examples: [["()*()*"]] },
    );
  });

  test("quantifiers in classes and escapes are not counted, and all others are", () => {
    for (const [source, instructions] of [
      ["[{}()]{2}", 2],
      ["\\{9\\}", 3],
      ["[[:alpha:]]{20}", 20],
      ["[]{50}]{2}", 2],
      ["(?:ab){30}", 60],
      ["(?P<n>a){30}", 30],
      ["a{,5}", 5],
    ] as const) {
      const estimate = patternCost(source).instructions;
      assert.ok(estimate >= instructions && estimate <= 4 * instructions + 10, `${source}: ${estimate}`);
    }
    assert.equal(patternCost("\\Q[\\Ea{500}").instructions, Number.POSITIVE_INFINITY);
    assert.equal(patternCost("\\pL[\\PN\\p{Greek}](?i)[ -\\x{ff}]").wideClasses, 4);
  });

  test("a pattern matches anywhere in the text, and repeatedly", () => {
    const frame = new Frame({}, 0);
    for (const [source, yes, no] of [
      ["b+", ["abc", "b"], ["", "ac"]],
      ["^(?i)straße$", ["STRAße"], ["strasse"]],
      ["^.$", ["😀", "é"], ["", "ab", "\n"]],
      ["\\bvip\\b", ["a vip b"], ["vips"]],
      ["^\\p{Lu}\\p{L}*$", ["Éa", "Zoë"], ["éa"]],
    ] as const)
      for (let round = 0; round < 3; round += 1) {
        const pattern = compilePattern(source)!;
        for (const text of yes) assert.equal(pattern.test(frame, text), true, `${source} finds ${text}`);
        for (const text of no) assert.equal(pattern.test(frame, text), false, `${source} does not find ${text}`);
      }
  });
});
