import assert from "node:assert/strict";
import { test } from "node:test";
import { findRedirectPath } from "./redirect-cycle.ts";

const edges = [
  ["a", "b"],
  ["b", "c"],
  ["b", "a"],
  ["c", "d"],
  ["x", "y"],
].map(([fromId, toId]) => ({ fromId: fromId!, toId: toId! }));

test("a path over any number of redirects is found and listed pool by pool", () => {
  assert.deepEqual(findRedirectPath(edges, "a", "d"), ["a", "b", "c", "d"]);
  assert.deepEqual(findRedirectPath(edges, "a", "a"), ["a"]);
});

test("no path is found to an unreachable pool, even if the redirects contain a cycle", () => {
  assert.equal(findRedirectPath(edges, "a", "x"), undefined);
  assert.equal(findRedirectPath(edges, "d", "a"), undefined);
});
