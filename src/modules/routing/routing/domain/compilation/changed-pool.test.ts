import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../../../test/harness/random.ts";
import { decide, replay } from "../decision-engine.ts";
import { LivePool } from "../facts/live-pool.ts";
import { item as anyItem, point as anyPoint, pool as anyPool } from "../testing/arbitrary.ts";
import { at, itemOf, nowMs, poolOf } from "../testing/fixtures.ts";
import { compilePool } from "./compiled-pool.ts";

test("a pool compiled from an earlier snapshot decides like one compiled from scratch", () => {
  const changes = fc.array(fc.record({ nth: fc.nat(20), weight: fc.nat(3), active: fc.boolean(), zone: fc.nat(2) }));
  fc.assert(
    fc.property(anyPool, anyItem, anyPoint, changes, (parts, item, point, changed) => {
      const earlier = poolOf(parts);
      // Fills the result caches of the conditions.
      decide(earlier, new LivePool(earlier), item, point);
      const recipients = [...earlier.snapshot.recipients];
      for (const { nth, weight, active, zone } of changed) {
        const recipient = recipients[nth];
        if (recipient === undefined) continue;
        const status = active ? "active" : "paused";
        recipients[nth] = { ...recipient, weight, status, attributes: { ...recipient.attributes, zone } };
      }
      const snapshot = { ...earlier.snapshot, recipients };
      const [derived, scratch] = [compilePool(snapshot, earlier), compilePool(snapshot)];
      for (const column of ["weights", "capacities", "availableSinceMs", "costs", "eligible"] as const) {
        assert.deepEqual(derived[column], scratch[column]);
      }
      const decision = decide(scratch, new LivePool(scratch), item, point);
      assert.deepEqual(decide(derived, new LivePool(derived), item, point), decision);
      assert.deepEqual(
        replay(derived, item, point, decision.observed),
        replay(scratch, item, point, decision.observed),
      );
    }),
    { numRuns: 500 },
  );
});

test("when a recipient changes, conditions keep their results for all others", () => {
  const rules = [{ condition: "recipient.attributes.zone == item.key", action: { type: "require" } as const }];
  const zones = ["a", "b", "a"].map((zone) => ({ attributes: { zone } }));
  const earlier = poolOf({ recipients: zones, rules });
  const [holds, doesNot, unknown] = [1, 2, 0] as const;
  const known = earlier.rules[0]!.condition!.rowFor(itemOf({ key: "a" }));
  for (const [index, verdict] of ([holds, doesNot, holds] as const).entries()) known.set(index, verdict);
  const recipients = earlier.snapshot.recipients.with(1, {
    ...earlier.snapshot.recipients[1]!,
    attributes: { zone: "a" },
  });
  const later = compilePool({ ...earlier.snapshot, recipients }, earlier);
  const results = ({ rules: [rule] }: typeof later) => {
    const row = rule!.condition!.rowFor(itemOf({ key: "a" }));
    return [0, 1, 2].map((index) => row.get(index));
  };
  assert.deepEqual(results(later), [holds, unknown, holds]);
  assert.deepEqual(results(earlier), [holds, doesNot, holds], "a decision in progress keeps its results");
});

test("a paused recipient leaves the turn queue, and a resumed one returns with its weight", () => {
  const pool = poolOf({ strategy: "round_robin", recipients: [{}, {}, {}] });
  const live = new LivePool(pool);
  const { recipients } = pool.snapshot;
  const changeSecond = (change: object) =>
    compilePool({ ...live.pool.snapshot, recipients: recipients.with(1, { ...recipients[1]!, ...change }) }, live.pool);
  const turns = (count: number) => {
    const counts = [0, 0, 0];
    for (let n = 0; n < count; n++) {
      const { recipientId } = decide(live.pool, live, itemOf({}), at(n));
      live.assigned(recipientId, nowMs);
      counts[live.pool.indexById.get(recipientId)!]!++;
    }
    return counts;
  };
  assert.deepEqual(turns(6), [2, 2, 2]);
  live.follow(changeSecond({ status: "paused" }));
  assert.deepEqual(turns(6), [3, 0, 3]);
  live.follow(changeSecond({ weight: 200 }));
  assert.deepEqual(turns(40), [10, 20, 10]);
  assert.deepEqual([...live.inFlight], [15, 22, 15], "items in flight are kept");
});
