import assert from "node:assert/strict";
import { test } from "node:test";
import { redirectPath } from "./redirect-cycle.ts";

const edges = [
  ["a", "b"],
  ["b", "c"],
  ["b", "a"],
  ["c", "d"],
  ["x", "y"],
].map(([fromId, toId]) => ({ fromId: fromId!, toId: toId! }));

test("a way over any number of redirects is found, and named pool by pool", () => {
  assert.deepEqual(redirectPath(edges, "a", "d"), ["a", "b", "c", "d"]);
  assert.deepEqual(redirectPath(edges, "a", "a"), ["a"]);
});

test("where no redirects lead there is no way, also among pools that lead back to each other", () => {
  assert.equal(redirectPath(edges, "a", "x"), undefined);
  assert.equal(redirectPath(edges, "d", "a"), undefined);
});
