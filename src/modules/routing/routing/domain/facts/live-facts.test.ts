import assert from "node:assert/strict";
import { test } from "node:test";
import { poolOf } from "../testing/fixtures.ts";
import { LiveFacts } from "./live-facts.ts";
import { LivePool } from "./live-pool.ts";

test("a second try asks for turns from the first on again", () => {
  const pool = poolOf({ strategy: "round_robin", recipients: Array.from({ length: 20 }, () => ({})) });
  const facts = new LiveFacts(pool, new LivePool(pool), 0);
  const asked = () => [0, 1, 2].map((nth) => facts.turn(nth));
  const first = asked();
  assert.equal(new Set(first).size, 3);
  assert.deepEqual(asked(), first);
});
