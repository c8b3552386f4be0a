import assert from "node:assert/strict";
import { test } from "node:test";
import { createDrainRate } from "./drain-rate.ts";

/** The estimate after requests at a constant interval for some seconds. */
function estimate({ everyMs, items, forMs = 10_000 }: { everyMs: number; items: number; forMs?: number }) {
  const clock = { ms: 0 };
  const rate = createDrainRate(() => clock.ms);
  for (; clock.ms < forMs; clock.ms += everyMs) rate.record(items);
  return { rate, clock };
}

test("a steady drain is estimated within a few percent", () => {
  for (const [everyMs, items] of [
    [1, 1],
    [10, 1],
    [10, 100],
    [2, 7],
  ] as const) {
    const expected = (50 * items) / everyMs;
    const got = estimate({ everyMs, items }).rate.itemsIn(50);
    assert.ok(Math.abs(got - expected) <= 1 + expected * 0.05, `${got} is not ${expected}`);
  }
});

test("one request a second expects no item, however many items it receives", () => {
  for (const items of [1, 100, 1000]) {
    const { rate, clock } = estimate({ everyMs: 1000, items });
    for (let ms = 0; ms < 1000; ms += 10) {
      assert.equal(rate.itemsIn(50), 0);
      clock.ms += 10;
    }
  }
});

test("the first requests expect no item", () => {
  const { rate } = estimate({ everyMs: 1, items: 1, forMs: 15 });
  assert.equal(rate.itemsIn(50), 0);
});

test("a drain that stops is forgotten within seconds", () => {
  const { rate, clock } = estimate({ everyMs: 1, items: 10 });
  assert.ok(rate.itemsIn(50) > 400);
  clock.ms += 5000;
  assert.equal(rate.itemsIn(50), 0);
});

test("unused items lower the estimate until they are forgotten", () => {
  const { rate, clock } = estimate({ everyMs: 1, items: 1 });
  const full = rate.itemsIn(50);
  rate.recordUnused(100);
  const half = rate.itemsIn(50);
  assert.ok(Math.abs(half - full / 2) <= 1, `${half} is not half of ${full}`);
  for (const untilMs = clock.ms + 5000; clock.ms < untilMs; clock.ms++) rate.record(1);
  assert.ok(rate.itemsIn(50) > 0.9 * full);
});
