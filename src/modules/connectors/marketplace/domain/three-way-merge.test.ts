import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../pack-records.ts";
import { changedPaths, isSame, mergeContents } from "./three-way-merge.ts";

const base = { name: "a", config: { size: 1, list: [1, 2] }, gone: true };

test("a change of only one side is taken, at any depth", () => {
  const local = { ...base, config: { ...base.config, size: 2 } };
  const pack = { name: "b", config: { size: 1, list: [1, 2, 3] } };
  const { content, conflicts } = mergeContents(base, local, pack, "local");
  assert.deepEqual(content, { name: "b", config: { size: 2, list: [1, 2, 3] } });
  assert.deepEqual(conflicts, []);
});

test("a change that both sides made alike is no conflict", () => {
  const both = { ...base, name: "c" };
  assert.deepEqual(mergeContents(base, both, both, "local"), { content: both, conflicts: [] });
});

test("different changes of one value are a conflict, which the winner decides", () => {
  const local = { name: "mine", config: { size: 5, list: [1] } };
  const pack = { name: "theirs", config: { size: 1, list: [2] }, gone: false };
  const mine = mergeContents(base, local, pack, "local");
  assert.deepEqual(mine.conflicts, ["/name", "/config/list", "/gone"]);
  assert.deepEqual(mine.content, { name: "mine", config: { size: 5, list: [1] } });
  assert.deepEqual(mergeContents(base, local, pack, "pack").content, {
    name: "theirs",
    config: { size: 5, list: [2] },
    gone: false,
  });
});

test("members that both sides added are merged", () => {
  const local = { ...base, added: { a: 1 } };
  const pack = { ...base, added: { b: 2 } };
  assert.deepEqual(mergeContents(base, local, pack, "local").content, { ...base, added: { a: 1, b: 2 } });
});

test("names in paths are escaped as in JSON Pointer", () => {
  assert.deepEqual(changedPaths({ "a/b": 1, "c~d": { e: 1 } }, { "a/b": 2, "c~d": { e: 2 } }), ["/a~1b", "/c~0d/e"]);
  assert.deepEqual(changedPaths({ a: [1] }, { a: [1, 2], b: null }), ["/a", "/b"]);
});

test("the order of members does not matter", () => {
  assert.ok(isSame({ a: 1, b: [{ c: 1, d: 2 }] }, { b: [{ d: 2, c: 1 }], a: 1 }));
  assert.ok(!isSame(undefined, null));
});

test("an unchanged side never wins over a change, and equal sides never conflict", () => {
  const values: unknown[] = [undefined, null, 1, "x", [], {}, { a: 1 }, { a: 2 }, { a: { b: 1 } }, [1]];
  const of = (value: unknown) => (value === undefined ? {} : { v: value }) as JsonObject;
  for (const one of values) {
    for (const two of values) {
      assert.deepEqual(mergeContents(of(one), of(one), of(two), "local"), { content: of(two), conflicts: [] });
      assert.deepEqual(mergeContents(of(one), of(two), of(one), "pack"), { content: of(two), conflicts: [] });
      assert.deepEqual(mergeContents(of(one), of(two), of(two), "local"), { content: of(two), conflicts: [] });
    }
  }
});
