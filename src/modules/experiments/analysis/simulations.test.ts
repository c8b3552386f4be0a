// Every simulation with a part of its runs. `npm run simulate` measures the rates with all runs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { simulations } from "./testing/simulations.ts";

for (const { name, shortSize, run } of simulations) {
  test(name, () => {
    const { rates, holds } = run(shortSize, 1);
    assert.ok(holds, JSON.stringify(rates));
  });
}
