import assert from "node:assert/strict";
import { test } from "node:test";
import { nearestName } from "./nearest-name.ts";

test("a mistyped name suggests the closest known one, and a far name none", () => {
  assert.equal(nearestName("max_atempts", ["max_attempts", "max_ms"]), "max_attempts");
  assert.equal(nearestName("colour", ["max_attempts", "max_ms"]), undefined);
});

test("a name without its _id suggests the name with it", () => {
  assert.equal(nearestName("environment", ["name", "environment_id"]), "environment_id");
  assert.equal(nearestName("pool", ["poll", "pool_id"]), "pool_id");
});
