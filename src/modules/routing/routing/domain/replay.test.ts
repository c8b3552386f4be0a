import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../test/harness/random.ts";
import { decide, replay } from "./decision-engine.ts";
import { LivePool } from "./facts/live-pool.ts";
import type { Observation } from "./facts/observation.ts";
import { item, moment, point, pool, strategies } from "./testing/arbitrary.ts";
import { assignAndRelease, at, itemOf, nowMs, poolOf } from "./testing/fixtures.ts";

const written = (observed: Observation): Observation => JSON.parse(JSON.stringify(observed));

test("a replay needs only the snapshot, the item, the point and the observation", () => {
  fc.assert(
    fc.property(
      pool,
      fc.array(fc.tuple(item, point), { minLength: 1, maxLength: 5 }),
      moment,
      (parts, inputs, rows) => {
        const compiled = poolOf(parts);
        const live = new LivePool(compiled);
        live.refresh(rows);
        for (const [oneItem, onePoint] of inputs) {
          const decision = decide(compiled, live, oneItem, onePoint);
          // Compiled again, so that nothing is cached.
          assert.deepEqual(replay(poolOf(parts), oneItem, onePoint, written(decision.observed)), decision);
          if (decision.recipientId !== "") live.assigned(decision.recipientId, nowMs);
        }
      },
    ),
    { numRuns: 1500 },
  );
});

test("a decision only chooses recipients that may take the item", () => {
  fc.assert(
    fc.property(pool, item, point, moment, (parts, oneItem, onePoint, rows) => {
      const compiled = poolOf(parts);
      const live = new LivePool(compiled);
      live.refresh(rows);
      const { outcome, recipientId, deliveryMode } = decide(compiled, live, oneItem, onePoint);
      assert.equal(outcome === "routed", recipientId !== "");
      assert.equal(outcome === "routed", deliveryMode !== "");
      if (recipientId === "") return;
      const index = compiled.indexById.get(recipientId)!;
      const { status, weight, capacity } = compiled.snapshot.recipients[index]!;
      assert.ok(status === "active" && weight > 0);
      assert.ok(capacity === 0 || live.inFlight[index]! < capacity);
      assert.ok(!oneItem.requirements.excludedRecipientIds.includes(recipientId));
      assert.ok(["", recipientId].includes(oneItem.requirements.recipientId));
    }),
    { numRuns: 1500 },
  );
});

test("the observation stays small for any number and state of recipients", () => {
  const count = 10_000;
  const recipients = Array.from({ length: count }, (_, nth) => ({ capacity: 1, attributes: { odd: nth % 2 } }));
  const rules = [{ condition: "recipient.attributes.odd == 1", action: { type: "require" } as const }];
  for (const strategy of strategies) {
    for (const freeEvery of [1, 3, 5000, count + 1]) {
      const compiled = poolOf({ strategy, recipients, rules });
      const live = new LivePool(compiled);
      live.refresh(
        recipients.map((_, nth) => ({ recipientId: `r${nth}`, inFlight: nth % freeEvery === freeEvery - 1 ? 0 : 1 })),
      );
      const { observed } = decide(compiled, live, itemOf({ key: "k" }), at(freeEvery));
      const length = JSON.stringify(observed).length;
      assert.ok(length < 500, `${strategy}, one in ${freeEvery} free: ${length}`);
    }
  }
});

test("in the normal case the observation takes some tens of bytes", () => {
  for (const strategy of ["weighted_random", "round_robin", "least_loaded", "priority"] as const) {
    const compiled = poolOf({ strategy, recipients: Array.from({ length: 1000 }, () => ({})) });
    const { observed } = decide(compiled, new LivePool(compiled), itemOf(), at(1));
    assert.ok(JSON.stringify(observed).length < 60, JSON.stringify(observed));
  }
});

test("round robin advances on a decision, not on its replay", () => {
  const parts = { strategy: "round_robin", recipients: [{}, {}, {}, {}] } as const;
  const compiled = poolOf(parts);
  const live = new LivePool(compiled);
  const turns: string[] = [];
  for (let nth = 0; nth < 8; nth++) {
    const decision = decide(compiled, live, itemOf(), at(nth));
    for (let again = 0; again < 3; again++) {
      assert.equal(replay(compiled, itemOf(), at(nth), decision.observed).recipientId, decision.recipientId);
    }
    assignAndRelease(live, decision.recipientId);
    turns.push(decision.recipientId);
  }
  assert.equal(new Set(turns.slice(0, 4)).size, 4);
  assert.deepEqual(turns.slice(4), turns.slice(0, 4));
});

test("an observation of another snapshot gives a different decision, not an error", () => {
  const foreign: Observation[] = [
    { v: 1 },
    {
      v: 1,
      standings: "zzz",
      turns: [99, -5],
      witnesses: [77],
      surveys: [{ top: [1e9, 0, 1, -3, 7], atCapacity: 0, ejected: 0, refused: 0 }],
    },
    { v: 1, exhausted: true },
  ];
  for (const strategy of strategies) {
    const rules = [{ condition: "recipient.attributes.x == item.key", action: { type: "require" } as const }];
    const compiled = poolOf({ strategy, recipients: [{ attributes: { x: "k" } }, {}], rules });
    for (const observed of foreign) {
      const { outcome, recipientId } = replay(compiled, itemOf({ key: "k" }), at(1), observed);
      assert.deepEqual([outcome, recipientId], ["queued", ""], strategy);
    }
  }
});

test("a decision that exceeded its limits is replayed as such", () => {
  const parts = {
    recipients: Array.from({ length: 3000 }, () => ({})),
    rules: Array.from({ length: 10 }, (_, nth) => ({
      condition: `now > timestamp('2020-01-01T00:00:00Z') && recipient.id == 'x${nth}'`,
      action: { type: "require" } as const,
    })),
  };
  const compiled = poolOf(parts);
  const decision = decide(compiled, new LivePool(compiled), itemOf(), at(1));
  assert.equal(decision.reason, "rules_too_costly");
  assert.deepEqual(replay(poolOf(parts), itemOf(), at(1), written(decision.observed)), decision);
});
