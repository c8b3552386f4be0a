import assert from "node:assert/strict";
import { test } from "node:test";
import { BoundedCache } from "./bounded-cache.ts";

test("the cache retains the most recently used entries, up to its weight", () => {
  const cache = new BoundedCache<string, number>(10);
  for (const [key, weight] of [
    ["a", 4],
    ["b", 4],
  ] as const)
    cache.set(key, weight, weight);
  assert.equal(cache.get("a"), 4);
  cache.set("c", 4, 4);
  assert.deepEqual([cache.get("a"), cache.get("b"), cache.get("c")], [4, undefined, 4]);
  cache.set("huge", 1, 100);
  assert.deepEqual([cache.get("huge"), cache.get("a"), cache.size], [1, undefined, 1]);
  cache.set("huge", 2, 1);
  cache.set("d", 3, 9);
  assert.deepEqual([cache.get("huge"), cache.get("d")], [2, 3]);
});

test("the cache retains used entries, within its weight", () => {
  const cache = new BoundedCache<string, number>(30);
  for (let i = 0; i < 1000; i++) {
    cache.set(`k${i}`, i, 10);
    cache.get("k0");
    assert.ok(cache.weight <= 30);
  }
  assert.equal(cache.get("k0"), 0);
  assert.equal(cache.get("k500"), undefined);
});

test("new entries do not evict each other while there are older ones", () => {
  const cache = new BoundedCache<string, number>(3);
  for (const key of ["a", "b", "c"]) cache.set(key, 1);
  for (const key of ["a", "b", "c"]) cache.get(key);
  cache.set("new", 2);
  cache.set("newer", 3);
  assert.deepEqual([cache.get("new"), cache.get("newer"), cache.size], [2, 3, 3]);
});

test("without weights the maximum is a number of entries, and a stored entry counts as the newest", () => {
  const cache = new BoundedCache<string, number>(2);
  cache.set("a", 1);
  cache.set("b", 2);
  cache.set("a", 3);
  cache.set("c", 4);
  assert.deepEqual(
    [...cache],
    [
      ["a", 3],
      ["c", 4],
    ],
  );
});

test("a missing value is created once, and again after it was deleted", () => {
  const cache = new BoundedCache<string, boolean>(2);
  let created = 0;
  const create = () => ++created === 0;
  assert.deepEqual([cache.getOrCreate("a", create), cache.getOrCreate("a", create), created], [false, false, 1]);
  cache.delete("a");
  assert.deepEqual([cache.getOrCreate("a", create), created, cache.weight], [false, 2, 1]);
  cache.clear();
  assert.deepEqual([cache.size, cache.weight], [0, 0]);
});
