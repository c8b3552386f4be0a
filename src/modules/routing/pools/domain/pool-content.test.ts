import assert from "node:assert/strict";
import { test } from "node:test";
import { type ContentRule, decodeContent, diffContents, encodeContent, type PoolContent } from "./pool-content.ts";
import type { RuleId } from "./rule.ts";

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

const rule = (id: string, name: string, holdS: number): ContentRule => ({
  ...{ id: id as RuleId, name, priority: 100, condition: "true", enabled: true, stopOnMatch: true, onError: "skip" },
  ...{ action: { type: "hold", holdS }, createdAt: new Date("2026-01-02T03:04:05Z") },
});

test("a diff shows values as the API names them", () => {
  const before = { ...content({ lease: { durationS: 30 } }), rules: [rule("a", "wait", 5)] };
  const after = { ...content({ lease: { durationS: 60 } }), rules: [rule("a", "wait", 9)] };
  const [lease, changed] = diffContents(before, after);
  assert.deepEqual([lease!.before, lease!.after], ['{"duration_s":30}', '{"duration_s":60}']);
  const { action, created_at } = JSON.parse(changed!.after);
  assert.deepEqual([action, created_at], [{ type: "hold", hold_s: 9 }, "2026-01-02T03:04:05.000Z"]);
});

test("a rule that is replaced by one of the same name has changed", () => {
  const changes = (before: ContentRule[], after: ContentRule[]) =>
    diffContents({ ...content({}), rules: before }, { ...content({}), rules: after }).map(({ path, change }) => [
      path,
      change,
    ]);
  assert.deepEqual(changes([rule("a", "wait", 5)], [rule("b", "wait", 9)]), [["rules.b", "changed"]]);
  assert.deepEqual(changes([rule("a", "wait", 5)], [rule("b", "other", 5)]), [
    ["rules.a", "removed"],
    ["rules.b", "added"],
  ]);
  const twins = [rule("b", "wait", 5), rule("c", "wait", 5)];
  assert.deepEqual(
    changes([rule("a", "wait", 5)], twins).map(([, change]) => change),
    ["removed", "added", "added"],
  );
});
