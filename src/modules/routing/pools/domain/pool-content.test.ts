import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeContent, diffContents, encodeContent, type PoolContent } from "./pool-content.ts";

const content = (settings: PoolContent["settings"]): PoolContent => ({ strategy: "priority", settings, rules: [] });

test("a version says whether unaddressed items are accepted, and reads back as it was", () => {
  for (const [settings, accepts] of [
    [{}, undefined],
    [{ acceptsUnaddressed: false }, undefined],
    [{ acceptsUnaddressed: true }, true],
  ] as const) {
    const text = encodeContent(content(settings));
    assert.equal(decodeContent(text).settings.acceptsUnaddressed, accepts);
    assert.equal(encodeContent(decodeContent(text)), text);
  }
});

test("a diff names the opt-in to unaddressed items, and not an explicit default", () => {
  const paths = (before: PoolContent["settings"], after: PoolContent["settings"]) =>
    diffContents(content(before), content(after)).map(({ path, change }) => [path, change]);
  assert.deepEqual(paths({}, { acceptsUnaddressed: true }), [["config.accepts_unaddressed", "added"]]);
  assert.deepEqual(paths({}, { acceptsUnaddressed: false }), []);
});
