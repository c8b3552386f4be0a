import assert from "node:assert/strict";
import { test } from "node:test";
import { applyPatch } from "./json-patch.ts";

test("steps add, replace, remove and move members and items, and the document itself stays as it was", () => {
  const document = { name: "a", tags: ["x", "z"], "a/b~c": 1 };
  const patched = applyPatch(document, [
    { op: "add", path: "/tags/1", value: "y" },
    { op: "add", path: "/tags/-", value: "end" },
    { op: "replace", path: "/tags/0", value: "X" },
    { op: "move", from: "/name", path: "/key" },
    { op: "remove", path: "/a~1b~0c" },
  ]);
  assert.deepEqual(patched, { key: "a", tags: ["X", "y", "z", "end"] });
  assert.deepEqual(document, { name: "a", tags: ["x", "z"], "a/b~c": 1 });
});

test("a step that does not fit the document is refused", () => {
  assert.throws(() => applyPatch({}, [{ op: "replace", path: "/a", value: 1 }]), /no value at \/a/);
  assert.throws(() => applyPatch({}, [{ op: "remove", path: "/a" }]), /no value at \/a/);
  assert.throws(() => applyPatch({ a: 1 }, [{ op: "add", path: "/a/b", value: 1 }]), /no value at \/a\/b/);
  for (const key of ["b", "length", "3", "01", "-1"]) {
    assert.throws(() => applyPatch({ a: [1, 2] }, [{ op: "add", path: `/a/${key}`, value: 3 }]), /no position/, key);
    assert.throws(() => applyPatch({ a: [1, 2] }, [{ op: "remove", path: `/a/${key}` }]), /no (?:position|value)/, key);
  }
});

test("a member named __proto__ is a member like others", () => {
  const patched = applyPatch({ a: {} }, [{ op: "add", path: "/__proto__", value: { polluted: true } }]) as object;
  assert.equal(Object.getPrototypeOf(patched), Object.prototype);
  assert.throws(() => applyPatch({}, [{ op: "add", path: "/__proto__/polluted", value: true }]), /no value/);
});
