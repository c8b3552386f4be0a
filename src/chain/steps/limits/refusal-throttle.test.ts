import assert from "node:assert/strict";
import { test } from "node:test";
import { createRefusalThrottle } from "./refusal-throttle.ts";

test("refusals within the rate are immediate, later ones are delayed, and other tenants are not affected", async () => {
  const throttle = createRefusalThrottle({ perSecond: 100, delayMsMax: 50, delayedMax: 1000 });
  const delayed = Array.from({ length: 300 }, () => throttle("hostile")).filter((each) => each !== undefined);
  // The time that the loop takes allows a few more immediate refusals.
  assert.ok(delayed.length > 100 && delayed.length <= 200, `${delayed.length} were delayed`);
  assert.equal(throttle("other"), undefined);
  await Promise.all(delayed);
});

test("the number of delayed refusals is limited", async () => {
  const throttle = createRefusalThrottle({ perSecond: 0.1, delayMsMax: 50, delayedMax: 5 });
  const delayed = Array.from({ length: 100 }, () => throttle("hostile")).filter((each) => each !== undefined);
  assert.equal(delayed.length, 5);
  await Promise.all(delayed);
  assert.ok(throttle("hostile") !== undefined, "a later refusal is delayed again");
});
