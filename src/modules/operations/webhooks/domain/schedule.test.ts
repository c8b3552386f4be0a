import assert from "node:assert/strict";
import { test } from "node:test";
import { nextWaitMs } from "./schedule.ts";

const s = 1000;
const m = 60 * s;
const h = 60 * m;
const nominal = [0, 5 * s, 5 * m, 30 * m, 2 * h, 5 * h, 10 * h, 14 * h, 20 * h, 24 * h];

test("there are ten attempts, each after its delay, and no eleventh", () => {
  assert.deepEqual(
    nominal.map((_, attempts) => nextWaitMs(attempts, 0.5)),
    nominal,
  );
  assert.equal(nextWaitMs(10, 0.5), undefined);
});

test("delays have a jitter of 20 percent in both directions", () => {
  for (const [attempts, wait] of nominal.entries()) {
    assert.equal(nextWaitMs(attempts, 0), Math.round(wait * 0.8));
    assert.equal(nextWaitMs(attempts, 1), Math.round(wait * 1.2));
  }
});
