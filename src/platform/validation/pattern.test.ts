import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { re2Pattern } from "./pattern.ts";

suite("RE2 patterns", () => {
  test("what both engines read alike stays as it is", () => {
    for (const [pattern, yes, no] of [
      ["^[a-z][a-z0-9_]{0,62}$", ["a", "a_1"], ["", "A", "1", `a${"b".repeat(63)}`, "a\n"]],
      ["^([a-z.]+|\\*):([a-z]+|\\*)$", ["a:b", "*:*", "a.b:c"], ["a", ":b", "a:b:c"]],
      ["b", ["abc"], ["ac"]],
      ["^[A-Za-z0-9_./\\-\\]]+$", ["a/b-c]"], ["a b"]],
      ["^\\p{Lu}\\x41$", ["ÉA"], ["éA"]],
      ["^(?:a|b){2}$", ["ab"], ["a"]],
    ] as const) {
      for (const text of yes) assert.ok(re2Pattern(pattern).test(text), `${pattern} matches ${text}`);
      for (const text of no) assert.ok(!re2Pattern(pattern).test(text), `${pattern} does not match ${text}`);
    }
  });

  test("a dot is any character but a line feed, and white space is ASCII, as in RE2", () => {
    for (const character of ["\r", "\u2028", "😀"]) assert.ok(re2Pattern("^.$").test(character));
    assert.ok(!re2Pattern("^.$").test("\n"));
    for (const character of ["\v", "\u00a0"]) {
      assert.ok(!re2Pattern("\\s").test(character));
      assert.ok(!re2Pattern("[\\s]").test(character));
      assert.ok(re2Pattern("\\S").test(character));
    }
    assert.ok(re2Pattern("^[\\s.]+$").test(" .\t"));
  });

  test("what RE2 does not have, or JavaScript reads otherwise, is refused", () => {
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
      assert.throws(() => re2Pattern(pattern), pattern);
    }
  });

  test("a repetition of a repetition, which could take exponential time, is refused", () => {
    for (const pattern of ["(a+)+$", "(a*)*", "((a+)b?)*", "(?:a{2,})+", "(x(a*)y)+"]) {
      assert.throws(() => re2Pattern(pattern), /repetition of a repetition/, pattern);
    }
    for (const pattern of ["(a+)b+", "(a{0,5})+", "[(a+)]+", "(\\.[a-z]+){1,4}", "\\(a+\\)+"]) re2Pattern(pattern);
  });
});
