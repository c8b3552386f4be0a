import assert from "node:assert/strict";
import { test } from "node:test";
import type { Strategy } from "../../../pools/index.ts";
import { decide } from "../decision-engine.ts";
import { LivePool, type RecipientLiveState } from "../facts/live-pool.ts";
import type { Requirements } from "../item.ts";
import { at, type ConfigParts, itemOf, nowMs, poolOf, type RecipientParts, tally } from "../testing/fixtures.ts";

function counts(
  strategy: Strategy,
  recipients: readonly RecipientParts[],
  rows: readonly RecipientLiveState[],
  {
    count = 2000,
    requirements = {},
    config = {},
  }: { count?: number; requirements?: Partial<Requirements>; config?: ConfigParts } = {},
) {
  const pool = poolOf({ strategy, recipients, config });
  const live = new LivePool(pool);
  live.refresh(rows);
  return tally(Array.from({ length: count }, (_, nth) => decide(pool, live, itemOf({ requirements }), at(nth))));
}

test("skills_based: the recipient furthest above the required levels in total", () => {
  const recipients: RecipientParts[] = [
    { skills: { a: 5, b: 1, c: 5 } },
    { skills: { a: 3, b: 4 } },
    { skills: { a: 1, b: 5 } },
  ];
  const requirements = { skills: { a: 2, b: 1 } };
  assert.deepEqual(counts("skills_based", recipients, [], { requirements }), { r1: 2000 });
});

test("skills_based: ties by load, and equal load at random", () => {
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

test("skills_based, least_skilled: the recipient least above the required levels, among those that have them; ties by load", () => {
  const recipients: RecipientParts[] = [
    { skills: { a: 5, b: 5 } },
    { skills: { a: 3, b: 2 } },
    { skills: { a: 2, b: 3 } },
    { skills: { a: 1, b: 1 } },
  ];
  const options = {
    requirements: { skills: { a: 2, b: 2 } },
    config: { selection: { skillChoice: "least_skilled" } },
  } as const;
  const busy = [{ recipientId: "r1", inFlight: 1 }];
  assert.deepEqual(counts("skills_based", recipients, busy, options), { r2: 2000 });
  const full = [{ skills: { a: 2, b: 2 }, capacity: 1 }, recipients[0]!];
  assert.deepEqual(counts("skills_based", full, [{ recipientId: "r0", inFlight: 1 }], options), { r1: 2000 });
});

test("skills_based, longest_idle: the longest idle recipient with the required skills, whatever their level", () => {
  const recipients = [{ skills: { a: 2 } }, { skills: { a: 5 } }, { skills: { a: 1 } }];
  const rows = [
    { recipientId: "r0", lastAssignedAtMs: nowMs - 9000 },
    { recipientId: "r1", lastAssignedAtMs: nowMs - 5000 },
    { recipientId: "r2", lastAssignedAtMs: nowMs - 99_000 },
  ];
  const config = { selection: { skillChoice: "longest_idle" } } as const;
  assert.deepEqual(counts("skills_based", recipients, rows, { requirements: { skills: { a: 2 } }, config }), {
    r0: 2000,
  });
});

test("longest_idle: the least recently assigned; first those never assigned, oldest first", () => {
  const since = (agoS: number) => ({ availableSince: new Date(nowMs - agoS * 1000) });
  const rows = [
    { recipientId: "r0", lastAssignedAtMs: nowMs - 5000 },
    { recipientId: "r1", lastAssignedAtMs: nowMs - 9000 },
  ];
  assert.deepEqual(counts("longest_idle", [since(900), since(10)], rows), { r1: 2000 });
  assert.deepEqual(counts("longest_idle", [since(900), since(10), since(60), since(80)], rows), { r3: 2000 });
  assert.deepEqual(counts("longest_idle", [since(900), since(10), since(1)], rows), { r2: 2000 });
});

test("longest_idle: rotates, even within one millisecond", () => {
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

test("lowest_latency: the fastest gets nearly all items, the others are explored now and then", () => {
  const rows = [30, 10, 20].map((latencyMs, nth) => ({ recipientId: `r${nth}`, latencyMs }));
  const chosen = counts("lowest_latency", [{}, {}, {}], rows, { count: 20_000 });
  assert.ok(chosen.r1! > 19_500, JSON.stringify(chosen));
  assert.ok(chosen.r0! > 20 && chosen.r2! > 20, JSON.stringify(chosen));
});

test("lowest_latency: recipients without outcomes are tried beside the fastest", () => {
  const rows = [30, 10].map((latencyMs, nth) => ({ recipientId: `r${nth}`, latencyMs }));
  const chosen = counts("lowest_latency", [{}, {}, {}], rows);
  assert.ok(chosen.r1! > 850 && chosen.r2! > 850, JSON.stringify(chosen));
  const unknown = counts("lowest_latency", [{}, {}, {}, {}], []);
  for (const id of ["r0", "r1", "r2", "r3"]) assert.ok(unknown[id]! > 400, JSON.stringify(unknown));
});

test("lowest_latency: a deprioritized recipient counts as ten times slower and is not tried as new", () => {
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

test("lowest_cost: by outcomes, and by the declared cost without outcomes", () => {
  const recipients = [{ cost: 3 }, { cost: 2 }, { cost: 9 }];
  const cheapest = (rows: readonly RecipientLiveState[]) => {
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
