import assert from "node:assert/strict";
import { test } from "node:test";
import type { PoolId, RecipientId } from "../../pools/index.ts";
import type { Decision } from "./decision.ts";
import { decide } from "./decision-engine.ts";
import { LivePool } from "./facts/live-pool.ts";
import type { RoutableItem } from "./item.ts";
import { at, itemOf, nowMs, type PoolParts, poolOf, type RecipientParts, type RuleParts } from "./testing/fixtures.ts";

const staff: RecipientParts[] = [
  { id: "ann", attributes: { tier: "gold", region: "eu" }, capacity: 1 },
  { id: "bob", attributes: { tier: "silver", region: "eu" } },
  { id: "cyd", attributes: { tier: "silver", region: "us" } },
  { id: "dee", attributes: {} },
  { id: "eve", attributes: { tier: "gold", region: "mars" }, status: "paused" },
];

interface Given {
  readonly item?: Partial<RoutableItem>;
  readonly parts?: PoolParts;
  readonly busy?: readonly string[];
  readonly waitedS?: number;
}

function decided(
  rules: readonly RuleParts[],
  { item = {}, parts = {}, busy = [], waitedS = 0 }: Given = {},
): Decision[] {
  const pool = poolOf({ recipients: staff, rules, ...parts });
  const live = new LivePool(pool);
  for (const id of busy) live.assigned(id, nowMs);
  return Array.from({ length: 80 }, (_, nth) => decide(pool, live, itemOf(item), at(nth, { waitedS })));
}

/** All recipients that are ever chosen. */
const reached = (decisions: readonly Decision[]) =>
  [...new Set(decisions.map(({ recipientId }) => recipientId))].sort().join(" ");

const one = (rules: readonly RuleParts[], given?: Given) => decided(rules, given)[0]!;
const requiring = (condition: string, parts: RuleParts = {}): RuleParts => ({
  condition,
  action: { type: "require" },
  ...parts,
});
const prefer = (condition: string, parts: RuleParts = {}): RuleParts => ({
  condition,
  action: { type: "prefer" },
  ...parts,
});
const route = (condition: string, recipientId: string, parts: RuleParts = {}): RuleParts => ({
  condition,
  action: { type: "route", recipientId: recipientId as RecipientId },
  ...parts,
});
const setPriority = (condition: string, priority: number, parts: RuleParts = {}): RuleParts => ({
  condition,
  action: { type: "set_priority", priority },
  ...parts,
});
const reject: RuleParts = { action: { type: "reject", reason: "No such thing." } };

test("recipients reached by require and prefer", () => {
  const vip = { attributes: { vip: true } };
  const plain = { attributes: { vip: false } };
  const table: [string, RuleParts[], Given, string][] = [
    ["no rule", [], {}, "ann bob cyd dee"],
    ["require", [requiring("recipient.attributes.region == 'eu'")], {}, "ann bob"],
    ["an attribute that some lack", [requiring("recipient.attributes.tier == 'gold'")], {}, "ann"],
    [
      "two requirements",
      [requiring("recipient.attributes.region == 'eu'"), requiring("recipient.attributes.tier == 'silver'")],
      {},
      "bob",
    ],
    [
      "a requirement over the item",
      [requiring("recipient.attributes.region == item.type")],
      { item: { type: "us" } },
      "cyd",
    ],
    [
      "not about this item",
      [requiring("item.attributes.vip && recipient.attributes.tier == 'gold'")],
      { item: plain },
      "ann bob cyd dee",
    ],
    [
      "about this item",
      [requiring("item.attributes.vip && recipient.attributes.tier == 'gold'")],
      { item: vip },
      "ann",
    ],
    [
      "with swapped operands",
      [requiring("recipient.attributes.tier == 'gold' && item.attributes.vip")],
      { item: plain },
      "ann bob cyd dee",
    ],
    [
      "about this item, no recipient fulfils it",
      [requiring("item.attributes.vip && recipient.attributes.region == 'mars'")],
      { item: vip },
      "",
    ],
    ["all matching recipients are busy", [requiring("recipient.attributes.tier == 'gold'")], { busy: ["ann"] }, ""],
    ["a condition without a recipient does not restrict", [requiring("item.type == 'ticket'")], {}, "ann bob cyd dee"],
    [
      "a false condition without a recipient does not restrict either",
      [requiring("item.type == 'lead'")],
      {},
      "ann bob cyd dee",
    ],
    ["holds for all", [requiring("recipient.weight == 100 && recipient.capacity >= 0")], {}, "ann bob cyd dee"],
    ["prefer", [prefer("recipient.attributes.tier == 'gold'")], {}, "ann"],
    [
      "preferred recipients are busy",
      [prefer("recipient.attributes.tier == 'gold'")],
      { busy: ["ann"] },
      "bob cyd dee",
    ],
    ["no recipient is preferred", [prefer("recipient.attributes.tier == 'tin'")], {}, "ann bob cyd dee"],
    [
      "the first preference outweighs the second",
      [prefer("recipient.attributes.region == 'us'"), prefer("recipient.attributes.tier == 'gold'")],
      {},
      "cyd",
    ],
    [
      "the second decides among those of the first",
      [prefer("recipient.attributes.tier == 'silver'"), prefer("recipient.attributes.region == 'eu'")],
      {},
      "bob",
    ],
    [
      "prefer among those required",
      [requiring("recipient.attributes.region == 'eu'"), prefer("recipient.attributes.tier == 'silver'")],
      {},
      "bob",
    ],
    [
      "by id, by pool, by time",
      [
        requiring(
          "recipient.id == 'dee' && pool.strategy == 'weighted_random' && now > timestamp('2020-01-01T00:00:00Z')",
        ),
      ],
      {},
      "dee",
    ],
    ["skills as conditions see them", [requiring("'x' in recipient.skills")], {}, ""],
  ];
  for (const [name, rules, given, expected] of table) assert.equal(reached(decided(rules, given)), expected, name);
});

test("preferences apply to every strategy, as far as preferred recipients are available", () => {
  for (const strategy of [
    "weighted_random",
    "round_robin",
    "least_loaded",
    "priority",
    "sticky_hash",
    "skills_based",
    "longest_idle",
    "lowest_latency",
    "lowest_cost",
  ] as const) {
    const rules = [prefer("recipient.attributes.tier == 'gold'"), prefer("recipient.attributes.region == 'us'")];
    assert.equal(reached(decided(rules, { parts: { strategy } })), "ann", strategy);
    assert.equal(reached(decided(rules, { parts: { strategy }, busy: ["ann"] })), "cyd", strategy);
  }
});

test("route: only to the named recipient; the first such rule wins", () => {
  assert.deepEqual([one([route("", "bob")]).recipientId, one([route("", "bob")]).reason], ["bob", "named_by_rule"]);
  assert.equal(one([route("", "bob"), route("", "cyd")]).recipientId, "bob");
  assert.equal(one([route("false", "bob"), route("", "cyd")]).recipientId, "cyd");
  const busy = one([route("", "ann")], { busy: ["ann"] });
  assert.deepEqual([busy.outcome, busy.reason], ["queued", "recipient_unavailable"]);
  assert.deepEqual(one([route("", "eve")]).reason, "recipient_not_eligible");
  assert.deepEqual(one([route("", "gone")]).reason, "recipient_not_eligible");
  const other = one([route("", "bob")], { item: itemOf({ requirements: { recipientId: "cyd" } }) });
  assert.deepEqual([other.outcome, other.reason], ["queued", "recipient_not_eligible"]);
  assert.equal(one([route("", "bob")], { parts: { strategy: "first_accept" } }).recipientId, "bob");
});

test("route: a condition over the recipient is evaluated for the named one", () => {
  assert.equal(one([route("recipient.attributes.region == 'us'", "cyd")]).recipientId, "cyd");
  assert.deepEqual(one([route("recipient.attributes.region == 'us'", "bob")]).matchedRuleIds, []);
});

test("set_priority: the last match wins; otherwise the priority of the item applies", () => {
  assert.equal(one([], { item: { priority: 7 } }).priority, 7);
  assert.equal(one([setPriority("", 5), setPriority("item.priority == 7", 9)], { item: { priority: 7 } }).priority, 9);
  assert.equal(one([setPriority("", 5), setPriority("false", 9)]).priority, 5);
});

test("reject, redirect and hold end the decision; the first one wins", () => {
  const redirect: RuleParts = { action: { type: "redirect_pool", poolId: "other" as PoolId } };
  const rejected = one([reject, redirect]);
  assert.deepEqual(
    [rejected.outcome, rejected.reason, rejected.message],
    ["rejected", "rule_reject", "No such thing."],
  );
  const redirected = one([setPriority("", 3), redirect, reject]);
  assert.deepEqual(
    [redirected.outcome, redirected.redirectPoolId, redirected.reason],
    ["redirected", "other", "rule_redirect"],
  );
  assert.deepEqual([redirected.priority, redirected.matchedRuleIds], [3, ["rule0", "rule1"]]);
  assert.equal(rejected.recipientId, "");
});

test("hold: until the item has waited that long, and not after", () => {
  const hold: RuleParts = { action: { type: "hold", holdS: 60 }, stopOnMatch: true };
  const held = one([hold, reject], { waitedS: 20 });
  assert.deepEqual([held.outcome, held.holdS, held.reason], ["held", 40, "rule_hold"]);
  assert.equal(one([hold, reject], { waitedS: 60 }).outcome, "rejected");
  assert.deepEqual(one([hold], { waitedS: 60 }).matchedRuleIds, []);
});

test("assign_experiment: each key once, in order", () => {
  const assign = (experimentKey: string): RuleParts => ({ action: { type: "assign_experiment", experimentKey } });
  assert.deepEqual(one([assign("b"), assign("a"), assign("b")]).experimentKeys, ["b", "a"]);
});

test("stop_on_match skips later rules, but only if the rule matches", () => {
  const stop = { stopOnMatch: true };
  assert.deepEqual(one([setPriority("", 1, stop), setPriority("", 2)]).priority, 1);
  assert.deepEqual(one([setPriority("false", 1, stop), setPriority("", 2)]).priority, 2);
  assert.equal(reached(decided([requiring("recipient.attributes.tier == 'gold'", stop), reject])), "ann");
  // The rule matches no recipient, so later rules still apply.
  assert.equal(one([requiring("recipient.attributes.region == 'mars'", stop), reject]).outcome, "rejected");
  assert.equal(reached(decided([prefer("recipient.attributes.tier == 'tin'", stop), route("", "dee")])), "dee");
});

test("actions on the item with a condition over the recipient match when it holds for any candidate", () => {
  assert.equal(one([setPriority("recipient.attributes.tier == 'gold'", 4)]).priority, 4);
  assert.equal(one([setPriority("recipient.attributes.region == 'mars'", 4)]).priority, 0);
  const excluded = itemOf({ requirements: { excludedRecipientIds: ["ann"] } });
  assert.equal(one([setPriority("recipient.attributes.tier == 'gold'", 4)], { item: excluded }).priority, 0);
  assert.equal(one([setPriority("recipient.attributes.tier == 'gold'", 4)], { busy: ["ann"] }).priority, 4);
});

test("on_error: a failing rule is skipped and traced, or rejects the item", () => {
  for (const condition of [
    "item.attributes.absent == 1",
    "item.attributes.absent == recipient.id",
    "1 / 0 == 1",
    "this is no expression",
  ]) {
    const skipped = one([setPriority(condition, 9), setPriority("", 2)]);
    assert.deepEqual([skipped.outcome, skipped.priority, skipped.matchedRuleIds], ["routed", 2, ["rule1"]], condition);
    assert.ok(skipped.trace.some(({ step, id, result }) => step === "rule" && id === "rule0" && result === "error"));
    const rejected = one([setPriority(condition, 9, { onError: "reject" }), setPriority("", 2)]);
    assert.deepEqual([rejected.outcome, rejected.reason, rejected.priority], ["rejected", "rule_error", 0], condition);
  }
  assert.equal(reached(decided([requiring("recipient.attributes.absent == 1")])), "ann bob cyd dee");
  assert.equal(one([requiring("recipient.attributes.absent == 1", { onError: "reject" })]).outcome, "rejected");
  // It fails for dee only: that is a result for dee and not a failure of the rule.
  assert.equal(reached(decided([requiring("recipient.attributes.tier != ''", { onError: "reject" })])), "ann bob cyd");
});

test("on_no_match decides what happens to an item without a recipient", () => {
  const mars = [requiring("recipient.attributes.region == 'mars'")];
  const under = (fallback: NonNullable<PoolParts["config"]>["fallback"]) =>
    one(mars, { parts: { config: { fallback } } });
  assert.deepEqual([under({}).outcome, under({}).reason], ["queued", "rules_exclude_all"]);
  assert.equal(under({ onNoMatch: "reject" }).outcome, "no_match");
  const redirected = under({ onNoMatch: "redirect_pool", redirectPoolId: "overflow" });
  assert.deepEqual([redirected.outcome, redirected.redirectPoolId], ["redirected", "overflow"]);
  assert.equal(under({ onNoMatch: "redirect_pool", redirectPoolId: "" }).outcome, "queued");
});

test("the trace names what applied, is bounded and contains no item values", () => {
  const rules = Array.from({ length: 200 }, (_, nth) =>
    setPriority(nth % 10 === 9 ? "" : "item.attributes.secret == 'x'", nth),
  );
  const item = { key: "topsecret", attributes: { secret: "topsecret" } };
  const { trace, matchedRuleIds } = one(rules, { item });
  assert.equal(matchedRuleIds.length, 20);
  assert.ok(trace.length <= 64);
  assert.deepEqual(trace.at(-1), { step: "omitted", result: "160" });
  assert.equal(trace.filter(({ result }) => result === "matched").length, 16);
  assert.ok(trace.some(({ step, result, id }) => step === "strategy" && result === "chosen" && id !== undefined));
  assert.ok(!JSON.stringify(trace).includes("topsecret"));
});

test("conditions that exceed the work limit end the decision, and on_no_match applies", () => {
  const pool = poolOf({
    recipients: Array.from({ length: 2000 }, () => ({})),
    rules: Array.from({ length: 20 }, (_, nth) =>
      requiring(`now > timestamp('2020-01-01T00:00:00Z') && recipient.name == 'r${nth}x'`),
    ),
    config: { fallback: { onNoMatch: "reject" } },
  });
  const decision = decide(pool, new LivePool(pool), itemOf(), at(1));
  assert.deepEqual([decision.outcome, decision.reason, decision.matchedRuleIds], ["no_match", "rules_too_costly", []]);
});

test("one costly expression exceeds the limit just like many cheap ones", () => {
  const pool = poolOf({
    recipients: Array.from({ length: 20 }, () => ({})),
    rules: [requiring("item.attributes.l.all(a, item.attributes.l.all(b, a + b >= 0)) && recipient.weight < 0")],
  });
  const item = itemOf({ attributes: { l: Array.from({ length: 300 }, (_, nth) => nth) } });
  const decision = decide(pool, new LivePool(pool), item, at(1));
  assert.deepEqual([decision.outcome, decision.reason], ["queued", "rules_too_costly"]);
});

test("cached results let a decision succeed that exceeded the limit at first", () => {
  const pool = poolOf({
    recipients: Array.from({ length: 10_000 }, () => ({})),
    rules: Array.from({ length: 4 }, (_, nth) => requiring(`recipient.name == 'r9999' || item.type == 'no${nth}'`)),
  });
  const live = new LivePool(pool);
  assert.equal(decide(pool, live, itemOf(), at(1)).reason, "rules_too_costly");
  assert.equal(decide(pool, live, itemOf(), at(2)).recipientId, "r9999");
});

test("a decision that exceeded the limit leaves no wrong result in the cache", () => {
  const pool = poolOf({
    recipients: Array.from({ length: 7 }, () => ({})),
    rules: [requiring("recipient.id == 'r6'")],
  });
  const live = new LivePool(pool);
  assert.equal(decide(pool, live, itemOf(), at(1, { stepsMax: 30 })).reason, "rules_too_costly");
  assert.equal(decide(pool, live, itemOf(), at(1)).recipientId, "r6");
});
