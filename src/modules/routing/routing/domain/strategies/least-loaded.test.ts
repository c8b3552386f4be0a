import assert from "node:assert/strict";
import { test } from "node:test";
import { decide } from "../decision-engine.ts";
import { LivePool } from "../facts/live-pool.ts";
import { at, itemOf, nowMs, poolOf, tally } from "../testing/fixtures.ts";

function loaded(recipients: Parameters<typeof poolOf>[0]["recipients"], inFlight: readonly number[], choiceCount = 2) {
  const pool = poolOf({
    strategy: "least_loaded",
    recipients: recipients ?? [],
    config: { selection: { choiceCount } },
  });
  const live = new LivePool(pool);
  live.refresh(inFlight.map((count, nth) => ({ recipientId: `r${nth}`, inFlight: count })));
  return (count: number) => tally(Array.from({ length: count }, (_, nth) => decide(pool, live, itemOf(), at(nth))));
}

test("of two recipients, the one with less in flight relative to its capacity is chosen", () => {
  assert.deepEqual(loaded([{ capacity: 2 }, { capacity: 10 }], [1, 3])(50), { r1: 50 });
  assert.deepEqual(loaded([{ capacity: 10 }, { capacity: 2 }], [6, 1])(50), { r1: 50 });
  assert.deepEqual(loaded([{ capacity: 4 }, { weight: 100 }], [1, 10])(50), { r1: 50 });
  assert.deepEqual(loaded([{ weight: 50 }, { weight: 200 }], [2, 4])(50), { r1: 50 });
});

test("comparing all recipients finds the least loaded one", () => {
  const inFlight = [9, 4, 7, 3, 8, 2, 6, 5];
  assert.deepEqual(
    loaded(
      inFlight.map(() => ({})),
      inFlight,
      8,
    )(50),
    { r5: 50 },
  );
  assert.deepEqual(
    loaded(
      inFlight.map(() => ({})),
      inFlight,
      100,
    )(50),
    { r5: 50 },
  );
});

test("ties share evenly: the order gives no advantage", () => {
  for (const count of [2, 3, 4, 5, 40]) {
    const counts = loaded(
      Array.from({ length: count }, () => ({})),
      Array.from({ length: count }, () => 3),
    )(count * 1000);
    for (const [id, own] of Object.entries(counts)) {
      assert.ok(Math.abs(own - 1000) < 5 * Math.sqrt(1000), `${count}: ${id} got ${own} of 1000`);
    }
    assert.equal(Object.keys(counts).length, count);
  }
});

test("two random choices keep a large pool balanced", () => {
  const count = 200;
  const pool = poolOf({ strategy: "least_loaded", recipients: Array.from({ length: count }, () => ({})) });
  const live = new LivePool(pool);
  for (let nth = 0; nth < 10 * count; nth++) live.assigned(decide(pool, live, itemOf(), at(nth)).recipientId, nowMs);
  assert.ok(Math.max(...live.inFlight) <= 14, String(Math.max(...live.inFlight)));
  assert.ok(Math.min(...live.inFlight) >= 5, String(Math.min(...live.inFlight)));
});

test("a recipient of low weight is compared with a heavy one, however rarely it would be drawn", () => {
  assert.deepEqual(
    loaded(
      [
        { weight: 100_000, capacity: 5 },
        { weight: 1, capacity: 5 },
      ],
      [4, 0],
    )(200),
    { r1: 200 },
  );
});

test("a deprioritized recipient counts as ten times as loaded", () => {
  const pool = poolOf({ strategy: "least_loaded", recipients: [{ capacity: 100 }, { capacity: 100 }] });
  const live = new LivePool(pool);
  const chosen = (inFlight: number) => {
    live.refresh([
      { recipientId: "r0", inFlight, deprioritizedUntilMs: nowMs + 1 },
      { recipientId: "r1", inFlight: 50 },
    ]);
    return decide(pool, live, itemOf(), at(1)).recipientId;
  };
  assert.deepEqual([chosen(4), chosen(6)], ["r0", "r1"]);
});
