import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { describePattern } from "./pattern-text.ts";

const patternText = /\bpattern\s*[:=]\s*("(?:[^"\\]|\\.)*")/g;

test("every pattern in the definitions is described in words, with examples that match", () => {
  const definitions = globSync("definitions/service/**/*.proto").map((file) => readFileSync(file, "utf8"));
  const texts = definitions.flatMap((text) => Array.from(text.matchAll(patternText), ([, quoted]) => quoted!));
  assert.ok(texts.length > 0);
  for (const text of new Set(texts)) {
    const pattern = JSON.parse(text) as string;
    const description = describePattern(pattern);
    assert.doesNotMatch(description, /^must match/, pattern);
    const examples = /\(for example: (.+)\)$/.exec(description)?.[1]?.split(" or ") ?? [];
    for (const example of examples) assert.match(example, new RegExp(pattern));
  }
});
