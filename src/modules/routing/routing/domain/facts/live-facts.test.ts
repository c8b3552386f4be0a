import assert from "node:assert/strict";
import { test } from "node:test";
import { poolOf } from "../testing/fixtures.ts";
import { LiveFacts } from "./live-facts.ts";
import { LivePool } from "./live-pool.ts";

test("a second attempt starts again with the first turn", () => {
  const pool = poolOf({ strategy: "round_robin", recipients: Array.from({ length: 20 }, () => ({})) });
  const facts = new LiveFacts(pool, new LivePool(pool), 0);
  const readTurns = () => [0, 1, 2].map((nth) => facts.nthInTurn(nth));
  const first = readTurns();
  assert.equal(new Set(first).size, 3);
  assert.deepEqual(readTurns(), first);
});
