import assert from "node:assert/strict";
import { test } from "node:test";
import { refusalPace } from "./refusal-pace.ts";

test("so many refusals a second are given at once, the next are held back, and other tenants' are not", async () => {
  const pace = refusalPace({ perSecond: 100, heldMsMax: 50, heldMax: 1000 });
  const held = Array.from({ length: 300 }, () => pace("hostile")).filter((each) => each !== undefined);
  // While the loop runs, time brings a few more that are given at once.
  assert.ok(held.length > 100 && held.length <= 200, `${held.length} were held back`);
  assert.equal(pace("other"), undefined);
  await Promise.all(held);
});

test("no more refusals are held back at once than there is room for", async () => {
  const pace = refusalPace({ perSecond: 10, heldMsMax: 50, heldMax: 5 });
  const held = Array.from({ length: 100 }, () => pace("hostile")).filter((each) => each !== undefined);
  assert.equal(held.length, 5);
  await Promise.all(held);
  assert.ok(pace("hostile") !== undefined, "and there is room again");
});
