import assert from "node:assert/strict";
import { test } from "node:test";
import type { Decision } from "./decision.ts";
import { decide, replay, SlicedDecision } from "./decision-engine.ts";
import { LivePool } from "./facts/live-pool.ts";
import { at, itemOf, type PoolParts, poolOf } from "./testing/fixtures.ts";

/** Makes a decision in minimal slices and counts them. */
function decideBySlices(pending: SlicedDecision, afterEach = () => {}): { decision: Decision; slices: number } {
  for (let slices = 1; ; slices++) {
    const decision = pending.proceed(() => true);
    if (decision !== undefined) return { decision, slices };
    afterEach();
  }
}

const regions: PoolParts = {
  strategy: "round_robin",
  recipients: Array.from({ length: 500 }, (_, nth) => ({ attributes: { regions: [`r${nth}`] } })),
  rules: [{ condition: "item.attributes.region in recipient.attributes.regions", action: { type: "require" } }],
};

test("a sliced decision and its replay equal an unsliced decision", () => {
  for (const region of ["r0", "r250", "r499", "nowhere"]) {
    const item = itemOf({ attributes: { region } });
    const atOnce = poolOf(regions);
    const whole = decide(atOnce, new LivePool(atOnce), item, at(1));
    const pool = poolOf(regions);
    const { decision, slices } = decideBySlices(new SlicedDecision(pool, new LivePool(pool), item, at(1)));
    assert.deepEqual(decision, whole);
    assert.equal(slices > 5, region !== "r0");
    assert.deepEqual(replay(poolOf(regions), item, at(1), decision.observed), decision);
  }
});

test("a slice ends after one expression that uses its whole work limit", () => {
  const pool = poolOf({
    strategy: "round_robin",
    recipients: Array.from({ length: 20 }, () => ({})),
    rules: [
      {
        condition: "item.attributes.l.all(a, item.attributes.l.all(b, a + b >= 0)) && recipient.weight < 0",
        action: { type: "require" },
      },
    ],
  });
  const item = itemOf({ attributes: { l: Array.from({ length: 300 }, (_, nth) => nth) } });
  const pending = new SlicedDecision(pool, new LivePool(pool), item, at(1));
  const { decision, slices } = decideBySlices(pending);
  // Ten expressions use up the work limit of a decision.
  assert.deepEqual([decision.reason, slices], ["rules_too_costly", 10]);
  assert.deepEqual(replay(pool, item, at(1), decision.observed), decision);
});

test("a pause holds no state: other decisions run in between, and the last slice sees their effects", () => {
  const parts: PoolParts = {
    ...regions,
    recipients: Array.from({ length: 200 }, (_, nth) => ({
      id: `r${nth}`,
      capacity: 1,
      attributes: { regions: nth >= 198 ? ["north"] : [] },
    })),
  };
  const pool = poolOf(parts);
  const live = new LivePool(pool);
  const item = itemOf({ attributes: { region: "north" } });
  let isTaken = false;
  const { decision } = decideBySlices(new SlicedDecision(pool, live, item, at(1)), () => {
    if (!isTaken) live.assigned("r198", at(1).nowMs);
    isTaken = true;
  });
  assert.equal(isTaken, true);
  assert.equal(decision.recipientId, "r199");
});

test("a paused decision switches to the changed pool", () => {
  const before = poolOf(regions);
  const after = poolOf({ ...regions, recipients: [{ id: "new", attributes: { regions: ["nowhere"] } }] });
  const live = new LivePool(before);
  const item = itemOf({ attributes: { region: "nowhere" } });
  const pending = new SlicedDecision(before, live, item, at(1));
  assert.equal(
    pending.proceed(() => true),
    undefined,
  );
  live.follow(after);
  assert.equal(decideBySlices(pending).decision.recipientId, "new");
  assert.equal(pending.pool, after);
});

test("a deferred decision is replayed as deferred", () => {
  const pool = poolOf(regions);
  const item = itemOf({ priority: 3 });
  const deferred = new SlicedDecision(pool, new LivePool(pool), item, at(1)).defer();
  assert.deepEqual([deferred.outcome, deferred.reason, deferred.priority], ["queued", "decided_later", 3]);
  assert.deepEqual(replay(pool, item, at(1), JSON.parse(JSON.stringify(deferred.observed))), deferred);
});
