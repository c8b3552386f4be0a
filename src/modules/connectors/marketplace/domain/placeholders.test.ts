import assert from "node:assert/strict";
import { test } from "node:test";
import { fillPlaceholders, placeholdersOf } from "./placeholders.ts";

const values = { slot: { team: "blue", limit: 5 }, record: { frame: "01ABC" } };

test("a text that is only a placeholder becomes the value with its type", () => {
  const content = { a: "[[slot.limit]]", b: ["[[record.frame]]"], c: "over [[slot.limit]] for [[slot.team]]" };
  assert.deepEqual(fillPlaceholders(content, values), { a: 5, b: ["01ABC"], c: "over 5 for blue" });
});

test("names of members and other brackets stay as they are", () => {
  const content = { "[[slot.team]]": 1, list: "[[1], [2]]", template: "{{payload.x}} [[other.team]]" };
  assert.deepEqual(fillPlaceholders(content, values), content);
});

test("all placeholders of a content are found", () => {
  assert.deepEqual(placeholdersOf({ a: "[[slot.x]] and [[slot.y]]", b: [{ c: "[[record.z-1]]" }] }), [
    { kind: "slot", name: "x" },
    { kind: "slot", name: "y" },
    { kind: "record", name: "z-1" },
  ]);
});
