import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { compileRe2 } from "./pattern.ts";

suite("RE2 patterns", () => {
  test("constructs with the same meaning in both engines are unchanged", () => {
    for (const [pattern, yes, no] of [
      ["^[a-z][a-z0-9_]{0,62}$", ["a", "a_1"], ["", "A", "1", `a${"b".repeat(63)}`, "a\n"]],
      ["^([a-z.]+|\\*):([a-z]+|\\*)$", ["a:b", "*:*", "a.b:c"], ["a", ":b", "a:b:c"]],
      ["b", ["abc"], ["ac"]],
      ["^[A-Za-z0-9_./\\-\\]]+$", ["a/b-c]"], ["a b"]],
      ["^\\p{Lu}\\x41$", ["ÉA"], ["éA"]],
      ["^(?:a|b){2}$", ["ab"], ["a"]],
    ] as const) {
      for (const text of yes) assert.ok(compileRe2(pattern).test(text), `${pattern} matches ${text}`);
      for (const text of no) assert.ok(!compileRe2(pattern).test(text), `${pattern} does not match ${text}`);
    }
  });

  test("a dot matches any character except a line feed, and whitespace is ASCII, as in RE2", () => {
    for (const character of ["\r", "\u2028", "😀"]) assert.ok(compileRe2("^.$").test(character));
    assert.ok(!compileRe2("^.$").test("\n"));
    for (const character of ["\v", "\u00a0"]) {
      assert.ok(!compileRe2("\\s").test(character));
      assert.ok(!compileRe2("[\\s]").test(character));
      assert.ok(compileRe2("\\S").test(character));
    }
    assert.ok(compileRe2("^[\\s.]+$").test(" .\t"));
  });

  test("constructs that RE2 lacks or JavaScript interprets differently are rejected", () => {
    for (const pattern of [
      "(?=a)",
      "(?!a)",
      "(?<=a)",
      "(?<!a)",
      "(?<name>a)",
      "(?P<name>a)",
      "(?i)a",
      "(a)\\1",
      "\\k<a>",
      "\\u0041",
      "\\cA",
      "\\Aa\\z",
      "\\Qa\\E",
      "[\\S]",
      "[[:alpha:]]",
      "a{2,1}",
      "(",
      "a\\",
    ]) {
      assert.throws(() => compileRe2(pattern), pattern);
    }
  });

  test("a repetition of a repetition, which could take exponential time, is rejected", () => {
    for (const pattern of ["(a+)+$", "(a*)*", "((a+)b?)*", "(?:a{2,})+", "(x(a*)y)+"]) {
      assert.throws(() => compileRe2(pattern), /repetition of a repetition/, pattern);
    }
    for (const pattern of ["(a+)b+", "(a{0,5})+", "[(a+)]+", "(\\.[a-z]+){1,4}", "\\(a+\\)+"]) compileRe2(pattern);
  });
});
