import assert from "node:assert/strict";
import { test } from "node:test";
import type { Strategy } from "../../../pools/index.ts";
import { decide } from "../decision-engine.ts";
import { LivePool } from "../facts/live-pool.ts";
import { at, itemOf, nowMs, poolOf, type RecipientParts } from "../testing/fixtures.ts";

const choosing: readonly Strategy[] = [
  "weighted_random",
  "round_robin",
  "least_loaded",
  "priority",
  "sticky_hash",
  "skills_based",
  "longest_idle",
  "lowest_latency",
  "lowest_cost",
];

function chosenBy(strategy: Strategy, recipients: readonly RecipientParts[], prepare?: (live: LivePool) => void) {
  const pool = poolOf({ strategy, recipients, config: { outlier: { maxEjectedPct: 100 } } });
  const live = new LivePool(pool);
  prepare?.(live);
  return Array.from({ length: 60 }, (_, nth) => decide(pool, live, itemOf({ key: `key ${nth}` }), at(nth)));
}

for (const strategy of choosing) {
  test(`${strategy}: an empty pool has no recipient`, () => {
    for (const { outcome, reason, recipientId } of chosenBy(strategy, [])) {
      assert.deepEqual([outcome, reason, recipientId], ["queued", "no_recipients", ""]);
    }
  });

  test(`${strategy}: the only recipient gets everything`, () => {
    for (const { outcome, recipientId, deliveryMode } of chosenBy(strategy, [{}])) {
      assert.deepEqual([outcome, recipientId, deliveryMode], ["routed", "r0", "pull"]);
    }
  });

  test(`${strategy}: a recipient that is paused, draining, offline or has weight 0 is never chosen, even if it is the only one`, () => {
    const out: RecipientParts[] = [{ status: "paused" }, { status: "draining" }, { status: "offline" }, { weight: 0 }];
    for (const { outcome, reason } of chosenBy(strategy, out)) {
      assert.deepEqual([outcome, reason], ["queued", "no_recipients"]);
    }
    for (const { recipientId } of chosenBy(strategy, [...out, { id: "in" }])) assert.equal(recipientId, "in");
  });

  test(`${strategy}: a missing weight counts as 100, at any position`, () => {
    const none = { weight: undefined as unknown as number };
    for (const recipients of [[none, { weight: 0 }], [{ weight: 0 }, none], [none]]) {
      for (const { recipientId } of chosenBy(strategy, recipients)) {
        assert.equal(recipientId, recipients[0] === none ? "r0" : "r1");
      }
    }
  });

  test(`${strategy}: at capacity, the item waits; with one slot left it is assigned`, () => {
    const recipients = [{ capacity: 2 }, { capacity: 1 }, { capacity: 3 }];
    const fill = (live: LivePool) =>
      live.refresh([
        { recipientId: "r0", inFlight: 2 },
        { recipientId: "r1", inFlight: 1 },
        { recipientId: "r2", inFlight: 3 },
      ]);
    for (const { outcome, reason } of chosenBy(strategy, recipients, fill)) {
      assert.deepEqual([outcome, reason], ["queued", "all_at_capacity"]);
    }
    const release = (live: LivePool) => {
      fill(live);
      live.released("r1");
    };
    for (const { recipientId } of chosenBy(strategy, recipients, release)) assert.equal(recipientId, "r1");
  });

  test(`${strategy}: an ejected recipient returns when its time is over`, () => {
    const eject = (untilMs: number) => (live: LivePool) =>
      live.refresh(["r0", "r1"].map((recipientId) => ({ recipientId, ejectedUntilMs: untilMs })));
    for (const { outcome, reason } of chosenBy(strategy, [{}, {}], eject(nowMs + 1))) {
      assert.deepEqual([outcome, reason], ["queued", "all_ejected"]);
    }
    for (const { outcome } of chosenBy(strategy, [{}, {}], eject(nowMs))) assert.equal(outcome, "routed");
    for (const { recipientId } of chosenBy(strategy, [{}, {}, {}], eject(nowMs + 1))) assert.equal(recipientId, "r2");
  });

  test(`${strategy}: the only available recipient among ten thousand is found`, () => {
    const count = 10_000;
    const recipients = Array.from({ length: count }, () => ({ capacity: 1 }));
    const pool = poolOf({ strategy, recipients });
    const live = new LivePool(pool);
    live.refresh(pool.snapshot.recipients.map(({ id }) => ({ recipientId: id, inFlight: 1 })));
    assert.equal(decide(pool, live, itemOf(), at(1)).reason, "all_at_capacity");
    live.released("r7531");
    for (let nth = 0; nth < 5; nth++) assert.equal(decide(pool, live, itemOf(), at(nth)).recipientId, "r7531");
  });

  test(`${strategy}: excluded recipients and those without the skill are skipped`, () => {
    const pool = poolOf({
      strategy,
      recipients: [{ skills: { german: 2 } }, { skills: { german: 5 } }, { skills: { german: 4 } }, {}],
    });
    const live = new LivePool(pool);
    const item = itemOf({ requirements: { skills: { german: 3 }, excludedRecipientIds: ["r1", "gone"] } });
    for (let nth = 0; nth < 40; nth++) assert.equal(decide(pool, live, item, at(nth)).recipientId, "r2");
    const beyond = itemOf({ requirements: { skills: { german: 5 }, excludedRecipientIds: ["r1"] } });
    assert.equal(decide(pool, live, beyond, at(1)).reason, "requirements_unmet");
    for (const skill of ["klingon", "constructor", "__proto__"]) {
      const { reason } = decide(pool, live, itemOf({ requirements: { skills: { [skill]: 1 } } }), at(1));
      assert.equal(reason, "requirements_unmet", skill);
    }
  });

  test(`${strategy}: a recipient that the item names gets it, or the item waits for it`, () => {
    const pool = poolOf({ strategy, recipients: [{}, { capacity: 1 }, { status: "paused" }] });
    const live = new LivePool(pool);
    const naming = (recipientId: string) => decide(pool, live, itemOf({ requirements: { recipientId } }), at(1));
    assert.deepEqual([naming("r1").recipientId, naming("r1").reason], ["r1", "named_by_item"]);
    live.assigned("r1", nowMs);
    assert.deepEqual([naming("r1").outcome, naming("r1").reason], ["queued", "recipient_unavailable"]);
    assert.deepEqual([naming("r2").outcome, naming("r2").reason], ["queued", "recipient_not_eligible"]);
    assert.deepEqual([naming("gone").outcome, naming("gone").reason], ["queued", "recipient_not_eligible"]);
  });
}

for (const strategy of ["first_accept", "manual"] as const) {
  test(`${strategy}: an item waits, even if on_no_match is reject`, () => {
    const reason = strategy === "manual" ? "awaiting_assignment" : "awaiting_acceptance";
    const pool = poolOf({ strategy, recipients: [{}], config: { fallback: { onNoMatch: "reject" } } });
    const decision = decide(pool, new LivePool(pool), itemOf(), at(1));
    assert.deepEqual([decision.outcome, decision.reason, decision.recipientId], ["queued", reason, ""]);
    const named = decide(pool, new LivePool(pool), itemOf({ requirements: { recipientId: "r0" } }), at(1));
    assert.deepEqual([named.outcome, named.recipientId], ["routed", "r0"]);
  });
}

test("ejection is ignored if more recipients are ejected than the pool allows", () => {
  const pool = poolOf({
    recipients: [{}, {}, {}, {}, { status: "paused" }],
    config: { outlier: { maxEjectedPct: 50 } },
  });
  const live = new LivePool(pool);
  const eject = (...ids: string[]) =>
    live.refresh(ids.map((recipientId) => ({ recipientId, ejectedUntilMs: nowMs + 1000 })));
  const reached = () =>
    new Set(Array.from({ length: 200 }, (_, nth) => decide(pool, live, itemOf(), at(nth)).recipientId));
  eject("r0", "r1");
  assert.deepEqual([...reached()].sort(), ["r2", "r3"]);
  eject("r2");
  assert.deepEqual([...reached()].sort(), ["r0", "r1", "r2", "r3"]);
  const { trace } = decide(pool, live, itemOf(), at(1));
  assert.ok(trace.some(({ step, result }) => step === "eligibility" && result === "ejection_ignored"));
});
