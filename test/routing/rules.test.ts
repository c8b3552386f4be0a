import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

/** A pool with two recipients that rules can distinguish. */
async function poolOfTwo(fields: object = {}) {
  const pool = await own.pool(fields);
  const gold = await own.recipient(pool, { attributes: { tier: "gold" } });
  const silver = await own.recipient(pool, { attributes: { tier: "silver" } });
  return { pool, gold, silver };
}

async function routedTo(pool: string, times: number, fields: object = {}): Promise<Set<string>> {
  const items = Array.from({ length: times }, () => ({ pool_id: pool, type: "task", ...fields }));
  return new Set((await own.routeAll(items)).map(({ decision }) => decision.recipient_id));
}

test("route: a rule that names a recipient gives it the matching items, and no others", async () => {
  const { pool, gold, silver } = await poolOfTwo();
  const rule = await own.rule(
    pool,
    { type: "route", recipient_id: gold },
    { condition: "item.attributes.vip == true" },
  );
  assert.deepEqual(await routedTo(pool, 20, { attributes: { vip: true } }), new Set([gold]));
  assert.deepEqual(await routedTo(pool, 60, { attributes: { vip: false } }), new Set([gold, silver]));
  const { reason, matched_rule_ids } = await own.route(pool, { attributes: { vip: true } });
  assert.deepEqual([reason, matched_rule_ids], ["named_by_rule", [rule]]);
});

test("require: only recipients that satisfy the condition get the item, and it waits when there is none", async () => {
  const { pool, silver } = await poolOfTwo();
  await own.rule(pool, { type: "require" }, { condition: "recipient.attributes.tier == item.attributes.tier" });
  assert.deepEqual(await routedTo(pool, 20, { attributes: { tier: "silver" } }), new Set([silver]));
  const nobody = await own.route(pool, { attributes: { tier: "bronze" } });
  assert.deepEqual([nobody.outcome, nobody.reason], ["queued", "rules_exclude_all"]);
});

test("prefer: recipients that satisfy the condition go first, and others serve as fallback", async () => {
  const { pool, gold, silver } = await poolOfTwo();
  await own.rule(pool, { type: "prefer" }, { condition: "recipient.attributes.tier == 'gold'" });
  assert.deepEqual(await routedTo(pool, 20), new Set([gold]));
  await own.ok("POST", `/api/recipients/${gold}/pause`, {});
  assert.deepEqual(await routedTo(pool, 5), new Set([silver]));
});

test("set_priority: the item goes before earlier ones with a lower priority", async () => {
  const pool = await own.pool();
  await own.rule(pool, { type: "set_priority", priority: 10 }, { condition: "item.type == 'urgent'" });
  const plain = await own.route(pool);
  const urgent = await own.route(pool, { type: "urgent", priority: -5 });
  const leased = await own.lease(pool, { max_items: 2 });
  assert.deepEqual(
    leased.map(({ queue_item_id, priority }) => [queue_item_id, priority]),
    [
      [urgent.queue_item_id, 10],
      [plain.queue_item_id, 0],
    ],
  );
});

test("redirect_pool: the other pool's own rules and recipients apply", async () => {
  const { pool, gold } = await poolOfTwo();
  const named = await own.rule(pool, { type: "route", recipient_id: gold });
  const front = await own.pool();
  const redirecting = await own.rule(
    front,
    { type: "redirect_pool", pool_id: pool },
    { condition: "item.type == 'hard'" },
  );
  const decision = await own.route(front, { type: "hard" });
  assert.deepEqual([decision.pool_id, decision.recipient_id], [pool, gold]);
  assert.deepEqual(decision.matched_rule_ids, [redirecting, named]);
  assert.equal((await own.item(pool, decision.queue_item_id)).pool_id, pool);
  assert.equal((await own.route(front, { type: "easy" })).pool_id, front);
});

test("a redirected item keeps the priority that a rule set, unless a rule of the other pool sets one", async () => {
  const target = await own.pool({ config: { queue: { order: "strict_priority" } } });
  const on = { stop_on_match: false };
  const seen = await own.rule(target, { type: "prefer" }, { condition: "item.priority == 7", priority: 1, ...on });
  const later = { condition: "item.type == 'own'", priority: 2 };
  await own.rule(target, { type: "set_priority", priority: 9 }, later);
  const raise = { type: "set_priority", priority: 7 };
  const byRule = await own.pool();
  await own.rule(byRule, raise, { priority: 1, ...on });
  await own.rule(byRule, { type: "redirect_pool", pool_id: target }, { priority: 2 });
  const byFallback = await own.pool({
    config: { fallback: { on_no_match: "redirect_pool", redirect_pool_id: target } },
  });
  await own.rule(byFallback, raise);
  const direct = await own.route(target, { priority: 1 });
  const redirected = await own.route(byRule, { priority: 1 });
  const unroutable = await own.route(byFallback);
  const replaced = await own.route(byRule, { type: "own" });
  assert.ok(redirected.matched_rule_ids.includes(seen), "conditions of the other pool see the new priority");
  const leased = await own.lease(target, { max_items: 4 });
  assert.deepEqual(
    leased.map(({ queue_item_id, priority }) => [queue_item_id, priority]),
    [
      [replaced.queue_item_id, 9],
      [redirected.queue_item_id, 7],
      [unroutable.queue_item_id, 7],
      [direct.queue_item_id, 1],
    ],
  );
  for (const { decision_id } of [redirected, unroutable, replaced]) {
    const { data } = await own.ok("POST", `/api/decisions/${decision_id}:replay`, {});
    assert.deepEqual([data.identical, data.differences], [true, []]);
  }
});

test("hold: the item is not leased before its time, and is then assigned to a recipient", async () => {
  const pool = await own.pool();
  const recipient = await own.recipient(pool);
  await own.rule(pool, { type: "hold", hold_s: 5 });
  const { queue_item_id, decided_at, due_at } = await own.route(pool);
  assert.equal(Date.parse(due_at), Date.parse(decided_at) + 5000);
  assert.deepEqual(await own.lease(pool), []);
  const leased = await own.leaseOne(pool, { recipient_id: recipient });
  assert.equal(leased.queue_item_id, queue_item_id);
  const { leased_at } = await own.item(pool, queue_item_id);
  assert.ok(Date.parse(leased_at) >= Date.parse(due_at), `${leased_at} is before ${due_at}`);
});

test("reject: the item is not stored, and the decision is", async () => {
  const pool = await own.pool();
  const rule = await own.rule(pool, { type: "reject", reason: "closed" });
  const { decision_id, outcome, matched_rule_ids } = await own.route(pool, { payload: { big: "x".repeat(1000) } });
  assert.deepEqual([outcome, matched_rule_ids], ["rejected", [rule]]);
  assert.equal((await own.status(pool)).depth, 0);
  const kept = (await own.ok("GET", `/api/decisions/${decision_id}`)).data;
  assert.deepEqual([kept.outcome, kept.message], ["rejected", "closed"]);
  assert.equal((await own.rest.call("GET", `/api/queues/${pool}/items/${decision_id}`)).status, 404);
});

test("rules apply in priority order, up to the first one that stops, and disabled rules never apply", async () => {
  const pool = await own.pool();
  const going = { condition: "true", stop_on_match: false };
  const last = await own.rule(pool, { type: "set_priority", priority: 3 }, { ...going, priority: 30 });
  const experiment = await own.rule(
    pool,
    { type: "assign_experiment", experiment_key: "e1" },
    { ...going, priority: 5 },
  );
  await own.rule(pool, { type: "reject" }, { priority: 1, enabled: false });
  const first = await own.rule(pool, { type: "set_priority", priority: 1 }, { ...going, priority: 10 });
  const decision = await own.route(pool);
  assert.deepEqual(decision.matched_rule_ids, [experiment, first, last]);
  assert.deepEqual(decision.experiment_keys, ["e1"]);
  assert.equal((await own.item(pool, decision.queue_item_id)).priority, 3);
  await own.ok("PATCH", `/api/rules/${first}`, { stop_on_match: true });
  assert.deepEqual((await own.route(pool)).matched_rule_ids, [experiment, first]);
  await own.ok("DELETE", `/api/rules/${first}`);
  assert.deepEqual((await own.route(pool)).matched_rule_ids, [experiment, last]);
});

test("a condition that fails on an item skips its rule, or rejects the item when the rule says so", async () => {
  const pool = await own.pool();
  const failing = { condition: "item.attributes.size > 10" };
  const rule = await own.rule(pool, { type: "set_priority", priority: 9 }, failing);
  assert.equal((await own.route(pool)).outcome, "queued");
  await own.ok("PATCH", `/api/rules/${rule}`, { on_error: "reject" });
  const { outcome, reason } = await own.route(pool);
  assert.deepEqual([outcome, reason], ["rejected", "rule_error"]);
  assert.equal((await own.route(pool, { attributes: { size: 11 } })).outcome, "queued");
});

test("an item without a pool goes to the oldest pool that accepts such items and has a rule that chooses it", async () => {
  const other = await newTenant(service);
  const open = { config: { accepts_unaddressed: true } };
  // None of these pools is chosen: it did not opt in, or its rules choose nothing.
  const [closed, held, raised] = [await other.pool(), await other.pool(open), await other.pool(open)];
  await other.rule(closed, { type: "require" });
  await other.rule(held, { type: "hold", hold_s: 60 });
  await other.rule(raised, { type: "set_priority", priority: 10 });
  const [sales, support] = [await other.pool(open), await other.pool(open)];
  await other.rule(support, { type: "hold", hold_s: 60 }, { priority: 1 });
  await other.rule(sales, { type: "require" }, { condition: "item.type in ['sales', 'both']" });
  await other.rule(support, { type: "require" }, { condition: "item.type in ['support', 'both']" });
  assert.equal((await other.route("", { type: "sales" })).pool_id, sales);
  assert.equal((await other.route("", { type: "support" })).pool_id, support);
  assert.equal((await other.route("", { type: "both" })).pool_id, sales);
  const { body } = await other.refused("INVALID_ARGUMENT", "POST", "/api/route", { type: "neither" });
  assert.equal(body.violations[0].field, "pool_id");
  await other.ok("POST", `/api/pools/${sales}:set_enabled`, { enabled: false });
  assert.equal((await other.route("", { type: "both" })).pool_id, support);
});
