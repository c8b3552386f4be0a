import assert from "node:assert/strict";
import { test } from "node:test";
import { decide } from "../decision-engine.ts";
import { at, itemOf, nowMs, poolOf } from "../testing/fixtures.ts";
import { LivePool } from "./live-pool.ts";

test("assignments and releases are counted, and no count falls below 0", () => {
  const live = new LivePool(poolOf({ recipients: [{}, {}] }));
  live.assigned("r1", nowMs);
  live.assigned("r1", nowMs + 5);
  live.released("r1");
  live.released("r0");
  live.assigned("unknown", nowMs);
  live.released("unknown");
  assert.deepEqual([...live.inFlight], [0, 1]);
  assert.deepEqual([...live.lastAssignedAtMs], [0, nowMs + 5]);
});

test("a new snapshot keeps the state of known recipients by id and initializes new ones", () => {
  const live = new LivePool(poolOf({ recipients: [{ id: "a" }, { id: "b" }, { id: "c" }] }));
  live.refresh([
    {
      recipientId: "a",
      inFlight: 3,
      latencyMs: 12,
      cost: 2,
      lastAssignedAtMs: 7,
      ejectedUntilMs: nowMs + 9,
      deprioritizedUntilMs: 8,
    },
    { recipientId: "c", inFlight: 5 },
  ]);
  live.follow(poolOf({ recipients: [{ id: "c" }, { id: "new" }, { id: "a" }] }));
  assert.deepEqual([...live.inFlight], [5, 0, 3]);
  assert.deepEqual([...live.latencyMs], [Number.NaN, Number.NaN, 12]);
  assert.deepEqual([...live.cost], [Number.NaN, Number.NaN, 2]);
  assert.deepEqual([...live.lastAssignedAtMs], [0, 0, 7]);
  assert.deepEqual([...live.ejectedUntilMs], [0, 0, nowMs + 9]);
  assert.deepEqual([...live.deprioritizedUntilMs], [0, 0, 8]);
  assert.equal(live.ejectedCount(nowMs), 1);
});

test("a decision with a newer snapshot updates the live state", () => {
  const live = new LivePool(poolOf({ recipients: [{ id: "a", capacity: 1 }, { id: "b" }] }));
  live.assigned("a", nowMs);
  const next = poolOf({
    recipients: [
      { id: "0", weight: 0 },
      { id: "a", capacity: 1 },
    ],
  });
  assert.equal(decide(next, live, itemOf(), at(1)).reason, "all_at_capacity");
  live.released("a");
  assert.equal(decide(next, live, itemOf(), at(1)).recipientId, "a");
});

test("a refresh sets the given fields, keeps the others and never reverts a later assignment", () => {
  const live = new LivePool(poolOf({ recipients: [{}, {}] }));
  live.refresh([{ recipientId: "r0", inFlight: 4, latencyMs: 9 }]);
  live.assigned("r0", nowMs);
  live.refresh([
    { recipientId: "r0", inFlight: 2, lastAssignedAtMs: nowMs - 1000 },
    { recipientId: "unknown", inFlight: 1 },
  ]);
  assert.deepEqual([live.inFlight[0], live.latencyMs[0], live.lastAssignedAtMs[0]], [2, 9, nowMs]);
  live.refresh([{ recipientId: "r0", latencyMs: Number.NaN }]);
  assert.deepEqual([live.inFlight[0], live.latencyMs[0]], [2, Number.NaN]);
});

test("ejections are counted at the given time and only for eligible recipients", () => {
  const live = new LivePool(poolOf({ recipients: [{}, {}, {}, { status: "paused" }] }));
  live.refresh([
    { recipientId: "r0", ejectedUntilMs: 100 },
    { recipientId: "r1", ejectedUntilMs: 200 },
    { recipientId: "r3", ejectedUntilMs: 900 },
  ]);
  assert.deepEqual(
    [50, 99, 100, 150, 199, 200, 50].map((ms) => live.ejectedCount(ms)),
    [2, 2, 1, 1, 1, 0, 2],
  );
  live.refresh([{ recipientId: "r2", ejectedUntilMs: 60 }]);
  assert.deepEqual(
    [50, 60].map((ms) => live.ejectedCount(ms)),
    [3, 2],
  );
  live.refresh([{ recipientId: "r0", ejectedUntilMs: 0 }]);
  assert.equal(live.ejectedCount(50), 2);
});
