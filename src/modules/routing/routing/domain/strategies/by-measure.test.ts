import assert from "node:assert/strict";
import { test } from "node:test";
import type { Strategy } from "../../../pools/index.ts";
import { decide } from "../decide.ts";
import { LivePool, type LiveRow } from "../facts/live-pool.ts";
import type { Requirements } from "../item.ts";
import { at, itemOf, nowMs, poolOf, type RecipientParts, tally } from "../testing/fixtures.ts";

function counts(
  strategy: Strategy,
  recipients: readonly RecipientParts[],
  rows: readonly LiveRow[],
  { count = 2000, requirements = {} }: { count?: number; requirements?: Partial<Requirements> } = {},
) {
  const pool = poolOf({ strategy, recipients });
  const live = new LivePool(pool);
  live.refresh(rows);
  return tally(Array.from({ length: count }, (_, nth) => decide(pool, live, itemOf({ requirements }), at(nth))));
}

test("skills_based: the one furthest above what is asked for, over all skills together", () => {
  const recipients: RecipientParts[] = [
    { skills: { a: 5, b: 1, c: 5 } },
    { skills: { a: 3, b: 4 } },
    { skills: { a: 1, b: 5 } },
  ];
  const requirements = { skills: { a: 2, b: 1 } };
  assert.deepEqual(counts("skills_based", recipients, [], { requirements }), { r1: 2000 });
});

test("skills_based: equals by load, and equal load by chance", () => {
  const recipients = [{ skills: { a: 3 } }, { skills: { a: 3 } }, { skills: { a: 3 } }, { skills: { a: 2 } }];
  const rows = [
    { recipientId: "r0", inFlight: 2 },
    { recipientId: "r1", inFlight: 1 },
    { recipientId: "r2", inFlight: 1 },
  ];
  const chosen = counts("skills_based", recipients, rows, { requirements: { skills: { a: 1 } } });
  assert.deepEqual(Object.keys(chosen).sort(), ["r1", "r2"]);
  assert.ok(Math.abs(chosen.r1! - 1000) < 150, JSON.stringify(chosen));
});

test("longest_idle: whoever was last given an item longest ago; before them those who never were, oldest first", () => {
  const since = (agoS: number) => ({ availableSince: new Date(nowMs - agoS * 1000) });
  const rows = [
    { recipientId: "r0", lastAssignedAtMs: nowMs - 5000 },
    { recipientId: "r1", lastAssignedAtMs: nowMs - 9000 },
  ];
  assert.deepEqual(counts("longest_idle", [since(900), since(10)], rows), { r1: 2000 });
  assert.deepEqual(counts("longest_idle", [since(900), since(10), since(60), since(80)], rows), { r3: 2000 });
  assert.deepEqual(counts("longest_idle", [since(900), since(10), since(1)], rows), { r2: 2000 });
});

test("longest_idle: goes round, also within one millisecond", () => {
  const pool = poolOf({ strategy: "longest_idle", recipients: [{}, {}, {}, {}, {}] });
  const live = new LivePool(pool);
  const turns = Array.from({ length: 25 }, (_, nth) => {
    const { recipientId } = decide(pool, live, itemOf(), at(nth));
    live.assigned(recipientId, nowMs);
    return recipientId;
  });
  for (let at = 5; at < 25; at++) assert.equal(turns[at], turns[at - 5]);
  assert.equal(new Set(turns.slice(0, 5)).size, 5);
});

test("lowest_latency: the fastest gets nearly all, the others are looked at now and then", () => {
  const rows = [30, 10, 20].map((latencyMs, nth) => ({ recipientId: `r${nth}`, latencyMs }));
  const chosen = counts("lowest_latency", [{}, {}, {}], rows, { count: 20_000 });
  assert.ok(chosen.r1! > 19_500, JSON.stringify(chosen));
  assert.ok(chosen.r0! > 20 && chosen.r2! > 20, JSON.stringify(chosen));
});

test("lowest_latency: one without outcomes gets its try beside the fastest, and so do all when none has any", () => {
  const rows = [30, 10].map((latencyMs, nth) => ({ recipientId: `r${nth}`, latencyMs }));
  const chosen = counts("lowest_latency", [{}, {}, {}], rows);
  assert.ok(chosen.r1! > 850 && chosen.r2! > 850, JSON.stringify(chosen));
  const unknown = counts("lowest_latency", [{}, {}, {}, {}], []);
  for (const id of ["r0", "r1", "r2", "r3"]) assert.ok(unknown[id]! > 400, JSON.stringify(unknown));
});

test("lowest_latency: a deprioritized one counts as ten times as slow, and is no longer tried as new", () => {
  const rows = [
    { recipientId: "r0", latencyMs: 10, deprioritizedUntilMs: nowMs + 1 },
    { recipientId: "r1", latencyMs: 90 },
    { recipientId: "r2", deprioritizedUntilMs: nowMs + 1 },
  ];
  const chosen = counts("lowest_latency", [{}, {}, {}], rows);
  assert.ok(chosen.r1! > 1950, JSON.stringify(chosen));
  const alone = counts("lowest_latency", [{}], [{ recipientId: "r0", deprioritizedUntilMs: nowMs + 1 }]);
  assert.deepEqual(alone, { r0: 2000 });
});

test("lowest_cost: by outcomes, and by what is declared while there are none", () => {
  const recipients = [{ cost: 3 }, { cost: 2 }, { cost: 9 }];
  const cheapest = (rows: readonly LiveRow[]) => {
    const chosen = Object.entries(counts("lowest_cost", recipients, rows)).sort(([, one], [, other]) => other - one);
    assert.ok(chosen[0]![1] > 1950, JSON.stringify(chosen));
    return chosen[0]![0];
  };
  assert.equal(cheapest([]), "r1");
  assert.equal(cheapest([{ recipientId: "r1", cost: 4 }]), "r0");
  assert.equal(cheapest([{ recipientId: "r2", cost: 0 }]), "r2");
  assert.equal(cheapest([{ recipientId: "r1", deprioritizedUntilMs: nowMs + 1 }]), "r0");
});

test("lowest_cost: equals share evenly", () => {
  const chosen = counts("lowest_cost", [{}, {}, {}, {}], [], { count: 4000 });
  for (const id of ["r0", "r1", "r2", "r3"]) assert.ok(Math.abs(chosen[id]! - 1000) < 150, JSON.stringify(chosen));
});
