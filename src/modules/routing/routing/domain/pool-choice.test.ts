import assert from "node:assert/strict";
import { test } from "node:test";
import type { PoolId, RecipientId, RuleAction } from "../../pools/index.ts";
import { PoolChoice } from "./pool-choice.ts";
import { at, itemOf, poolOf, type RuleParts } from "./testing/fixtures.ts";

const recipients = [{ id: "a", attributes: { tier: "gold" } }];
const choiceOf = (rules: readonly RuleParts[], type = "lead") =>
  new PoolChoice(poolOf({ recipients, rules }), itemOf({ type }), at(1)).proceed(() => false);

test("rules that say who takes an item choose their pool, and all other actions choose none", () => {
  const actions: readonly [RuleAction, boolean][] = [
    [{ type: "route", recipientId: "a" as RecipientId }, true],
    [{ type: "require" }, true],
    [{ type: "prefer" }, true],
    [{ type: "redirect_pool", poolId: "other" as PoolId }, true],
    [{ type: "set_priority", priority: 5 }, false],
    [{ type: "hold", holdS: 60 }, false],
    [{ type: "reject", reason: "" }, false],
    [{ type: "assign_experiment", experimentKey: "e" }, false],
  ];
  for (const [action, chooses] of actions) {
    assert.equal(choiceOf([{ action }])?.type, chooses ? "chosen" : "not_chosen", action.type);
  }
});

test("a rule chooses only the items that it matches, and names itself", () => {
  const rules: RuleParts[] = [
    { id: "leads", condition: "item.type == 'lead'", action: { type: "require" } },
    { id: "gold", condition: "item.type == 'vip' && recipient.attributes.tier == 'gold'", action: { type: "require" } },
    {
      id: "silver",
      condition: "item.type == 'x' && recipient.attributes.tier == 'silver'",
      action: { type: "require" },
    },
  ];
  assert.deepEqual(choiceOf(rules), { type: "chosen", ruleId: "leads" });
  assert.deepEqual(choiceOf(rules, "vip"), { type: "chosen", ruleId: "gold" });
  assert.deepEqual(choiceOf(rules, "x"), { type: "not_chosen" }, "nobody fulfils it");
  assert.deepEqual(choiceOf(rules, "mail"), { type: "not_chosen" });
});

test("a catch-all hold before it, or one that stops, does not keep a rule from choosing", () => {
  const rules: RuleParts[] = [
    { action: { type: "hold", holdS: 60 }, stopOnMatch: true },
    { id: "leads", condition: "item.type == 'lead'", action: { type: "require" } },
  ];
  assert.deepEqual(choiceOf(rules), { type: "chosen", ruleId: "leads" });
  assert.deepEqual(choiceOf(rules, "mail"), { type: "not_chosen" });
});

test("a condition that fails chooses nothing, also if its rule rejects items then", () => {
  const failing: RuleParts = { condition: "item.attributes.none > 1", action: { type: "require" }, onError: "reject" };
  assert.deepEqual(choiceOf([failing]), { type: "not_chosen" });
});
