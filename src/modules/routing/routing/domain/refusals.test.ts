import assert from "node:assert/strict";
import { test } from "node:test";
import { noRequirementsJson } from "../../queues/index.ts";
import { noRequirements } from "./item.ts";
import { allRefused, isNewRound, type Refusals, waitAfter, withoutRefusing } from "./refusals.ts";

const item = { type: "t", key: "", attributes: {}, requirements: noRequirements, priority: 0 };
const refusedBy = (...ids: string[]): Refusals => ({ refusedBy: ids, refusedForS: 5, lastReason: allRefused });
const nobody: Refusals = { refusedBy: null, refusedForS: null, lastReason: null };
const decision = { reason: "requirements_unmet", holdS: 0, nextStepInS: 0 } as const;

test("recipients that refused an item are left out, besides those that the item excludes", () => {
  const requirements = { ...noRequirements, excludedRecipientIds: ["x"] };
  const left = withoutRefusing({ ...item, requirements }, refusedBy("a", "b"));
  assert.deepEqual(left.requirements.excludedRecipientIds, ["x", "a", "b"]);
  assert.equal(withoutRefusing(item, nobody), item);
});

test("everyone is considered again only after a search found nobody else and the wait is over", () => {
  assert.equal(isNewRound(refusedBy("a"), 5), true);
  assert.equal(isNewRound(refusedBy("a"), 6), false);
  assert.equal(isNewRound({ ...refusedBy("a"), lastReason: "all_at_capacity" }, 1), false);
  assert.equal(isNewRound({ ...nobody, lastReason: allRefused }, 0), false);
});

test("an item that everyone refused waits for the rest of the time, or for the next fallback step", () => {
  assert.deepEqual(waitAfter(decision, 1, refusedBy("a"), 60), { reason: allRefused, retryInS: 55 });
  assert.deepEqual(waitAfter({ ...decision, nextStepInS: 9 }, 1, refusedBy("a"), 60), {
    reason: allRefused,
    retryInS: 9,
  });
  assert.deepEqual(waitAfter(decision, 1, refusedBy("a"), 2), { reason: allRefused, retryInS: 1 });
});

test("an item waits for recipients that are busy, although others refused it", () => {
  const busy = { ...decision, reason: "all_at_capacity" } as const;
  assert.equal(waitAfter(busy, 1, refusedBy("a"), 60).reason, "all_at_capacity");
  assert.equal(waitAfter(decision, 1, nobody, 60).reason, "requirements_unmet");
});

test("the stored form of no requirements is the one that leases compare with", () => {
  assert.equal(JSON.stringify(noRequirements), noRequirementsJson);
});
