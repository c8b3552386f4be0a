import assert from "node:assert/strict";
import { test } from "node:test";
import type { CompiledPool } from "../compilation/compiled-pool.ts";
import { decide } from "../decision-engine.ts";
import { LivePool } from "../facts/live-pool.ts";
import type { RoutableItem } from "../item.ts";
import { at, itemOf, nowMs, poolOf, tally } from "../testing/fixtures.ts";

const draws = 100_000;

/** Fails if the counts deviate from the shares with a probability below 1 in 10,000. */
function assertShares(counts: Record<string, number>, shares: Record<string, number>): void {
  const total = Object.values(shares).reduce((sum, share) => sum + share, 0);
  const drawn = Object.values(counts).reduce((sum, count) => sum + count, 0);
  let chiSquared = 0;
  for (const [id, share] of Object.entries(shares)) {
    const expected = (drawn * share) / total;
    chiSquared += ((counts[id] ?? 0) - expected) ** 2 / expected;
  }
  const freedom = Object.keys(shares).length - 1;
  // Wilson and Hilferty's approximation of the quantile at 0.9999.
  const limit = freedom * (1 - 2 / (9 * freedom) + 3.719 * Math.sqrt(2 / (9 * freedom))) ** 3;
  assert.deepEqual(Object.keys(counts).sort(), Object.keys(shares).sort());
  assert.ok(chiSquared < limit, `${chiSquared} is not below ${limit}: ${JSON.stringify(counts)}`);
}

function decided(pool: CompiledPool, live: LivePool, item: RoutableItem = itemOf(), count = draws) {
  return tally(Array.from({ length: count }, (_, nth) => decide(pool, live, item, at(nth))));
}

test("weighted_random: each recipient gets its share, whatever the order", () => {
  const recipients = [
    { weight: undefined as unknown as number },
    { weight: 1 },
    { weight: 300 },
    { weight: 49.5 },
    { weight: 7 },
  ];
  const pool = poolOf({ recipients });
  assertShares(decided(pool, new LivePool(pool)), { r0: 100, r1: 1, r2: 300, r3: 49.5, r4: 7 });
});

test("weighted_random: an unavailable recipient does not distort the shares of the others", () => {
  const recipients = [
    { weight: 500, capacity: 1 },
    { weight: 10 },
    { weight: 20 },
    { weight: 30, status: "paused" as const },
  ];
  const pool = poolOf({ recipients: [...recipients, { weight: 40 }] });
  const live = new LivePool(pool);
  live.assigned("r0", nowMs);
  assertShares(decided(pool, live), { r1: 10, r2: 20, r4: 40 });
});

test("weighted_random: the shares also hold if draws fail and all recipients are ranked", () => {
  const busy = Array.from({ length: 400 }, (_, nth) => ({ id: `busy${nth}`, weight: 1000, capacity: 1 }));
  const pool = poolOf({
    recipients: [{ weight: 10 }, ...busy, { id: "last", weight: 30 }, { id: "more", weight: 60 }],
  });
  const live = new LivePool(pool);
  for (const { id } of busy) live.assigned(id, nowMs);
  assertShares(decided(pool, live, itemOf(), 20_000), { r0: 10, last: 30, more: 60 });
});

test("weighted_random: skills and rules do not distort the shares of the remaining recipients", () => {
  const others = Array.from({ length: 50 }, (_, nth) => ({ id: `other${nth}` }));
  const pool = poolOf({
    recipients: [
      ...others,
      { id: "a", weight: 1, skills: { x: 1 }, attributes: { member: true } },
      { id: "b", weight: 4, skills: { x: 2 }, attributes: { member: true } },
      { id: "c", skills: { x: 1 } },
    ],
    rules: [{ condition: "has(recipient.attributes.member)", action: { type: "require" } }],
  });
  assertShares(decided(pool, new LivePool(pool), itemOf({ requirements: { skills: { x: 1 } } }), 20_000), {
    a: 1,
    b: 4,
  });
  assertShares(decided(pool, new LivePool(pool), itemOf(), 20_000), { a: 1, b: 4 });
});

test("weighted_random: a deprioritized recipient counts a tenth", () => {
  const pool = poolOf({ recipients: [{}, {}, {}] });
  const live = new LivePool(pool);
  live.refresh([{ recipientId: "r1", deprioritizedUntilMs: nowMs + 1 }]);
  assertShares(decided(pool, live), { r0: 100, r1: 10, r2: 100 });
  live.refresh([{ recipientId: "r1", deprioritizedUntilMs: nowMs }]);
  assertShares(decided(pool, live), { r0: 100, r1: 100, r2: 100 });
});

test("weighted_random: slow start ramps up from a tenth to the full weight", () => {
  for (const [sinceS, share] of [
    [0, 10],
    [30, 55],
    [60, 100],
    [-5, 10],
  ] as const) {
    const fresh = { availableSince: new Date(nowMs - sinceS * 1000) };
    const pool = poolOf({ recipients: [{}, fresh], config: { selection: { slowStartS: 60 } } });
    assertShares(decided(pool, new LivePool(pool), itemOf(), 40_000), { r0: 100, r1: share });
    const without = poolOf({ recipients: [{}, fresh], config: { selection: { slowStartS: 0 } } });
    assertShares(decided(without, new LivePool(without), itemOf(), 40_000), { r0: 100, r1: 100 });
  }
});

test("priority: the lowest number gets everything, ties share by weight, the next ones follow if those are unavailable", () => {
  const pool = poolOf({
    strategy: "priority",
    recipients: [
      { priority: 5 },
      { priority: -1, weight: 30, capacity: 1 },
      { priority: 9 },
      { priority: -1, weight: 10, capacity: 1 },
      { priority: 5, weight: 300 },
    ],
  });
  const live = new LivePool(pool);
  assertShares(decided(pool, live), { r1: 30, r3: 10 });
  live.assigned("r1", nowMs);
  assert.deepEqual(Object.keys(decided(pool, live, itemOf(), 100)), ["r3"]);
  live.assigned("r3", nowMs);
  assertShares(decided(pool, live, itemOf(), 40_000), { r0: 100, r4: 300 });
});

test("the same seed gives the same recipient, and another seed does not always", () => {
  const pool = poolOf({ recipients: Array.from({ length: 20 }, () => ({})) });
  const chosen = (seed: number) => decide(pool, new LivePool(pool), itemOf(), { nowMs, seed, waitedS: 0 }).recipientId;
  assert.equal(chosen(12_345), chosen(12_345));
  // Seeds that differ in one bit only, low or high.
  assert.ok(new Set(Array.from({ length: 52 }, (_, bit) => chosen(2 ** bit))).size > 10);
});
