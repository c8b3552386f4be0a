import assert from "node:assert/strict";
import { test } from "node:test";
import { samplePattern } from "./sample-pattern.ts";

const patterns = [
  "^[a-z][a-z0-9_]{0,62}$",
  "^([a-z][a-z0-9_.]{0,62}|\\*):([a-z][a-z0-9_]{0,62}|\\*)$",
  "^[a-z][a-z0-9_]{0,62}(\\.[a-z0-9_]{1,63}){1,4}$",
  "^[0-7][0-9A-HJKMNP-TV-Z]{25}$",
  "^(?:GET|POST)$",
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^#[^a-z]+$",
  "^v1:.+",
];

for (const pattern of patterns) {
  test(`a sample of ${pattern} matches it`, () => {
    assert.match(samplePattern(pattern)!, new RegExp(pattern, "u"));
  });
}

test("an unsupported pattern has no sample", () => {
  assert.equal(samplePattern("^(?=x)y$"), undefined);
  assert.equal(samplePattern("^a(?<!a)$"), undefined);
});
