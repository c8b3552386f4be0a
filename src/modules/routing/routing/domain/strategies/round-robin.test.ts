import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../../test/harness/random.ts";
import { decide } from "../decision-engine.ts";
import { LivePool } from "../facts/live-pool.ts";
import { assignAndRelease, at, itemOf, nowMs, poolOf } from "../testing/fixtures.ts";

function sequence(weights: readonly number[], length: number, salt = 0): number[] {
  const pool = poolOf({ strategy: "round_robin", recipients: weights.map((weight) => ({ weight })) });
  const live = new LivePool(pool, salt);
  return Array.from({ length }, (_, nth) => {
    const { recipientId } = decide(pool, live, itemOf(), at(nth));
    assignAndRelease(live, recipientId);
    return Number(recipientId.slice(1));
  });
}

test("each recipient has its exact share to within one turn at any time", () => {
  const weights = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(weights, fc.nat(), (given, salt) => {
      const total = given.reduce((sum, weight) => sum + weight, 0);
      const taken = given.map(() => 0);
      for (const [at, index] of sequence(given, 400, salt).entries()) {
        taken[index]!++;
        for (const [other, weight] of given.entries()) {
          const behind = (weight * (at + 1)) / total - taken[other]!;
          assert.ok(Math.abs(behind) < 1.01, `${JSON.stringify(given)}: ${other} is ${behind} turns behind at ${at}`);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("equals take turns, each once a round", () => {
  const turns = sequence([100, 100, 100, 100], 40);
  for (let round = 0; round < 10; round++) {
    assert.deepEqual(turns.slice(4 * round, 4 * round + 4).sort(), [0, 1, 2, 3]);
  }
});

test("a heavy recipient is spread out, not chosen several times in a row", () => {
  const turns = sequence([5, 1, 1], 70).join("");
  assert.ok(!turns.includes("00000"), turns);
  // A recipient with the weight of all others together gets every other turn.
  assert.ok(!/00|[^0][^0]/.test(sequence([8, 1, 1, 1, 1, 1, 1, 1, 1], 64).join("").slice(1)));
});

test("nodes do not all begin with the same recipient", () => {
  const first = new Set(Array.from({ length: 40 }, (_, salt) => sequence([1, 1, 1, 1, 1], 1, salt)[0]));
  assert.equal(first.size, 5);
});

test("a recipient that was skipped for long gets one immediate turn and then its share", () => {
  const pool = poolOf({
    strategy: "round_robin",
    recipients: [{ attributes: { vip: true } }, {}, {}],
    rules: [
      { condition: "!item.attributes.open || has(recipient.attributes.vip) == false", action: { type: "require" } },
    ],
  });
  const live = new LivePool(pool);
  const next = (nth: number, open: boolean) => {
    const { recipientId } = decide(pool, live, itemOf({ attributes: { open } }), at(nth));
    assignAndRelease(live, recipientId);
    return recipientId;
  };
  for (let nth = 0; nth < 300; nth++) assert.notEqual(next(nth, true), "r0");
  const after = Array.from({ length: 30 }, (_, nth) => next(nth, false));
  const own = after.filter((id) => id === "r0").length;
  assert.ok(own >= 10 && own <= 11, after.join(" "));
});

test("the others keep their shares while one is at capacity, and it regains its own afterwards", () => {
  const pool = poolOf({
    strategy: "round_robin",
    recipients: [{ weight: 200, capacity: 1 }, { weight: 300 }, { weight: 100 }],
  });
  const live = new LivePool(pool);
  const run = (count: number) => {
    const counts: Record<string, number> = {};
    for (let nth = 0; nth < count; nth++) {
      const { recipientId } = decide(pool, live, itemOf(), at(nth));
      assignAndRelease(live, recipientId);
      counts[recipientId] = (counts[recipientId] ?? 0) + 1;
    }
    return counts;
  };
  live.refresh([{ recipientId: "r0", inFlight: 1 }]);
  const without = run(400);
  assert.equal(without.r0, undefined);
  assert.ok(Math.abs(without.r1! - 300) <= 2 && Math.abs(without.r2! - 100) <= 2, JSON.stringify(without));
  live.released("r0");
  const withAll = run(600);
  for (const [id, expected] of [
    ["r0", 200],
    ["r1", 300],
    ["r2", 100],
  ] as const) {
    assert.ok(Math.abs(withAll[id]! - expected) <= 2, JSON.stringify(withAll));
  }
});

test("using up and freeing capacity does not earn extra turns", () => {
  const recipients = [
    { weight: 300, capacity: 1 },
    { weight: 100, capacity: 1 },
    { weight: 100 },
    { weight: 500, capacity: 1 },
  ];
  const pool = poolOf({ strategy: "round_robin", recipients });
  const live = new LivePool(pool);
  const counts: Record<string, number> = {};
  for (let nth = 0; nth < 1000; nth++) {
    const { recipientId } = decide(pool, live, itemOf(), at(nth));
    assignAndRelease(live, recipientId);
    counts[recipientId] = (counts[recipientId] ?? 0) + 1;
  }
  for (const [nth, { weight }] of recipients.entries()) {
    assert.ok(Math.abs(counts[`r${nth}`]! - weight) <= 2, JSON.stringify(counts));
  }
});

test("slow start and deprioritization make turns rarer", () => {
  const recipients = [{}, {}, { availableSince: new Date(nowMs) }, {}];
  const pool = poolOf({ strategy: "round_robin", recipients });
  const live = new LivePool(pool);
  live.refresh([{ recipientId: "r3", deprioritizedUntilMs: nowMs + 1 }]);
  const counts: Record<string, number> = {};
  for (let nth = 0; nth < 2200; nth++) {
    const { recipientId } = decide(pool, live, itemOf(), at(nth));
    assignAndRelease(live, recipientId);
    counts[recipientId] = (counts[recipientId] ?? 0) + 1;
  }
  for (const [id, expected] of [
    ["r0", 1000],
    ["r1", 1000],
    ["r2", 100],
    ["r3", 100],
  ] as const) {
    assert.ok(Math.abs(counts[id]! - expected) <= 3, JSON.stringify(counts));
  }
});

test("an ejected recipient does not block others", () => {
  const recipients = Array.from({ length: 60 }, (_, nth) => ({
    id: `r${nth}`,
    weight: nth < 25 ? 1000 : 10 * (1 + (nth % 3)),
  }));
  const pool = poolOf({ strategy: "round_robin", recipients });
  const live = new LivePool(pool);
  live.refresh(recipients.slice(0, 25).map(({ id }) => ({ recipientId: id, ejectedUntilMs: nowMs + 1 })));
  const counts: Record<string, number> = {};
  const rounds = 40;
  const weight = recipients.slice(25).reduce((sum, recipient) => sum + recipient.weight, 0) / 10;
  for (let nth = 0; nth < rounds * weight; nth++) {
    const { recipientId } = decide(pool, live, itemOf(), at(nth));
    assignAndRelease(live, recipientId);
    counts[recipientId] = (counts[recipientId] ?? 0) + 1;
  }
  for (const { id, weight: own } of recipients.slice(25)) {
    assert.ok(Math.abs(counts[id]! - (rounds * own) / 10) <= 2, `${id}: ${counts[id]} of ${(rounds * own) / 10}`);
  }
});

test("an assignment out of turn does not use a turn", () => {
  const pool = poolOf({ strategy: "round_robin", recipients: [{ weight: 300 }, {}, {}] });
  const live = new LivePool(pool);
  const counts: Record<string, number> = {};
  for (let nth = 0; nth < 500; nth++) {
    const named = decide(pool, live, itemOf({ requirements: { recipientId: "r1" } }), at(nth));
    assignAndRelease(live, named.recipientId);
    const { recipientId } = decide(pool, live, itemOf(), at(nth));
    assignAndRelease(live, recipientId);
    counts[recipientId] = (counts[recipientId] ?? 0) + 1;
  }
  for (const [id, expected] of [
    ["r0", 300],
    ["r1", 100],
    ["r2", 100],
  ] as const) {
    assert.ok(Math.abs(counts[id]! - expected) <= 2, JSON.stringify(counts));
  }
});

test("a new snapshot keeps the order of turns", () => {
  const recipients = Array.from({ length: 6 }, (_, nth) => ({ id: `r${nth}` }));
  const live = new LivePool(poolOf({ strategy: "round_robin", recipients }));
  const taken: string[] = [];
  for (let nth = 0; nth < 9; nth++) {
    const pool = poolOf({ strategy: "round_robin", recipients });
    const { recipientId } = decide(pool, live, itemOf(), at(nth));
    assignAndRelease(live, recipientId);
    taken.push(recipientId);
  }
  assert.equal(new Set(taken.slice(0, 6)).size, 6);
  assert.equal(new Set(taken.slice(3, 9)).size, 6);
});
