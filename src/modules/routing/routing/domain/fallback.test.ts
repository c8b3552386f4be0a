import assert from "node:assert/strict";
import { test } from "node:test";
import type { FallbackStep } from "../../pools/index.ts";
import { checkAcceptance } from "./acceptance.ts";
import { decide } from "./decision-engine.ts";
import { LivePool } from "./facts/live-pool.ts";
import type { RoutableItem } from "./item.ts";
import { at, type ConfigParts, itemOf, nowMs, poolOf, type RuleParts } from "./testing/fixtures.ts";

const gold: RuleParts = { condition: "recipient.attributes.tier == 'gold'", action: { type: "require" } };
const recipients = [
  { id: "gold", attributes: { tier: "gold" }, skills: { german: 5 }, capacity: 1 },
  { id: "silver", attributes: { tier: "silver" }, skills: { german: 3 } },
  { id: "tin", attributes: { tier: "tin" } },
];
const step = (
  afterS: number,
  condition = "",
  strategy: FallbackStep["strategy"] = "weighted_random",
): FallbackStep => ({
  afterS,
  condition,
  strategy,
});

/** The recipient of an item by its waiting time, while gold is busy. */
function after(
  fallback: ConfigParts["fallback"],
  waitedS: number,
  item: RoutableItem = itemOf(),
  strategy: "weighted_random" | "first_accept" | "manual" = "weighted_random",
) {
  const pool = poolOf({ recipients, rules: [gold], strategy, config: { fallback } });
  const live = new LivePool(pool);
  live.assigned("gold", nowMs);
  return decide(pool, live, item, at(1, { waitedS }));
}

const widening = {
  steps: [step(30, "recipient.attributes.tier == 'silver'"), step(60, "recipient.attributes.tier == 'tin'"), step(90)],
};

test("a step applies once the item has waited that long, and not before", () => {
  const before = after(widening, 29.5);
  assert.deepEqual([before.outcome, before.reason, before.nextStepInS], ["queued", "all_at_capacity", 0.5]);
  const due = after(widening, 30);
  assert.deepEqual(
    [due.outcome, due.recipientId, due.reason, due.nextStepInS],
    ["routed", "silver", "chosen_by_fallback", 0],
  );
});

test("due steps are tried in order, and only if the strategy of the pool finds no recipient", () => {
  assert.equal(after(widening, 1000).recipientId, "silver");
  const noSilver = itemOf({ requirements: { excludedRecipientIds: ["silver"] } });
  assert.equal(after(widening, 59, noSilver).outcome, "queued");
  assert.equal(after(widening, 60, noSilver).recipientId, "tin");
  const pool = poolOf({ recipients, rules: [gold], config: { fallback: widening } });
  assert.equal(decide(pool, new LivePool(pool), itemOf(), at(1, { waitedS: 1000 })).recipientId, "gold");
});

test("on_no_match applies when no step is left", () => {
  const fallback = { steps: [step(30, "recipient.id == 'nobody'")], onNoMatch: "reject" as const };
  assert.deepEqual([after(fallback, 0).outcome, after(fallback, 0).nextStepInS], ["queued", 30]);
  assert.deepEqual([after(fallback, 30).outcome, after(fallback, 30).nextStepInS], ["no_match", 0]);
  const redirect = {
    steps: [step(30, "recipient.id == 'nobody'")],
    onNoMatch: "redirect_pool" as const,
    redirectPoolId: "p",
  };
  assert.equal(after(redirect, 29).outcome, "queued");
  assert.deepEqual([after(redirect, 30).outcome, after(redirect, 30).redirectPoolId], ["redirected", "p"]);
});

test("a step's condition replaces what rules require and the skills that the item requires", () => {
  const latin = itemOf({ requirements: { skills: { latin: 4 } } });
  for (const condition of ["", "true"]) {
    const { outcome, reason } = after({ steps: [step(30, condition)] }, 30, latin);
    assert.deepEqual([outcome, reason], ["routed", "chosen_by_fallback"], condition);
    assert.equal(after({ steps: [step(30, condition)] }, 29, latin).outcome, "queued");
  }
  assert.equal(after({ steps: [step(0, "recipient.attributes.tier == 'tin'")] }, 0, latin).recipientId, "tin");
});

test("a step respects the recipients that the item names and excludes by id", () => {
  const anyone = { steps: [step(0)] };
  assert.equal(after(anyone, 0, itemOf({ requirements: { recipientId: "gold" } })).outcome, "queued");
  assert.equal(after(anyone, 0, itemOf({ requirements: { recipientId: "tin" } })).recipientId, "tin");
  const excluded = itemOf({ requirements: { skills: { latin: 4 }, excludedRecipientIds: ["silver"] } });
  assert.equal(after(anyone, 0, excluded).recipientId, "tin");
});

test("the condition of a step may require lower skills", () => {
  const german = itemOf({ requirements: { skills: { german: 4 } } });
  const less = {
    steps: [step(0, "'german' in recipient.skills && recipient.skills.german >= item.requirements.skills.german - 1")],
  };
  assert.equal(after(less, 0, german).recipientId, "silver");
  const excluded = itemOf({ requirements: { skills: { german: 4 }, excludedRecipientIds: ["silver"] } });
  assert.equal(after(less, 0, excluded).outcome, "queued");
});

test("a step whose condition fails admits no recipient", () => {
  assert.equal(after({ steps: [step(0, "item.attributes.absent == recipient.id")] }, 0).outcome, "queued");
  assert.equal(after({ steps: [step(0, "no expression")] }, 0).outcome, "queued");
});

test("items of first_accept and manual are assigned by a step with another strategy", () => {
  for (const strategy of ["first_accept", "manual"] as const) {
    assert.equal(after({ steps: [step(30, "recipient.id == 'tin'")] }, 29, itemOf(), strategy).outcome, "queued");
    assert.equal(after({ steps: [step(30, "recipient.id == 'tin'")] }, 30, itemOf(), strategy).recipientId, "tin");
    const waiting = after({ steps: [step(30, "", "first_accept")], onNoMatch: "reject" }, 30, itemOf(), strategy);
    assert.equal(waiting.outcome, "queued");
  }
});

test("each step uses its own strategy", () => {
  const cheap = { steps: [step(0, "recipient.attributes.tier != 'gold'", "priority")] };
  const pool = poolOf({
    recipients: [...recipients, { id: "first", attributes: { tier: "tin" }, priority: 1 }],
    rules: [gold],
    config: { fallback: cheap },
  });
  const live = new LivePool(pool);
  live.assigned("gold", nowMs);
  for (let nth = 0; nth < 30; nth++) assert.equal(decide(pool, live, itemOf(), at(nth)).recipientId, "first");
});

test("a worker may accept what rules and due steps allow, while it has capacity", () => {
  const pool = poolOf({
    strategy: "first_accept",
    recipients,
    rules: [gold],
    config: { fallback: { steps: [step(30, "recipient.attributes.tier == 'silver'")] } },
  });
  const live = new LivePool(pool);
  const may = (recipientId: string, waitedS = 0, item = itemOf()) =>
    checkAcceptance(pool, live, item, recipientId, at(1, { waitedS }));
  assert.deepEqual(may("gold"), { may: true });
  assert.deepEqual(may("silver"), { may: false, reason: "recipient_not_eligible" });
  assert.deepEqual(may("silver", 30), { may: true });
  assert.deepEqual(may("tin", 30), { may: false, reason: "recipient_not_eligible" });
  assert.deepEqual(may("unknown"), { may: false, reason: "recipient_not_eligible" });
  assert.deepEqual(may("gold", 0, itemOf({ requirements: { excludedRecipientIds: ["gold"] } })), {
    may: false,
    reason: "recipient_not_eligible",
  });
  assert.deepEqual(may("gold", 0, itemOf({ requirements: { recipientId: "silver" } })), {
    may: false,
    reason: "recipient_not_eligible",
  });
  live.assigned("gold", nowMs);
  assert.deepEqual(may("gold"), { may: false, reason: "recipient_unavailable" });
});

test("a worker may not accept held, rejected or redirected items, nor items that await assignment", () => {
  const accepting = (parts: Parameters<typeof poolOf>[0], item = itemOf(), waitedS = 0) => {
    const pool = poolOf({ strategy: "first_accept", recipients, ...parts });
    return checkAcceptance(pool, new LivePool(pool), item, "tin", at(1, { waitedS }));
  };
  assert.deepEqual(accepting({ rules: [{ action: { type: "reject", reason: "" } }] }), {
    may: false,
    reason: "rule_reject",
  });
  const hold: RuleParts = { action: { type: "hold", holdS: 10 } };
  assert.deepEqual(accepting({ rules: [hold] }), { may: false, reason: "rule_hold" });
  assert.deepEqual(accepting({ rules: [hold] }, itemOf(), 10), { may: true });
  assert.deepEqual(accepting({ strategy: "manual" }), { may: false, reason: "awaiting_assignment" });
  assert.deepEqual(accepting({ strategy: "manual" }, itemOf({ requirements: { recipientId: "tin" } })), { may: true });
  assert.deepEqual(
    accepting({ strategy: "manual", config: { fallback: { steps: [step(5, "", "first_accept")] } } }, itemOf(), 5),
    { may: true },
  );
  assert.deepEqual(accepting({ strategy: "weighted_random" }), { may: true });
});
