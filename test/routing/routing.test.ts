import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { readRows } from "../harness/rows.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { inEachProtocol, newTenant, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
let sql: TestSql;
before(async () => {
  service = await startService();
  own = await newTenant(service);
  sql = connect(service.databaseUrl, 2);
});
after(() => sql.end({ timeout: 1 }));

test("an item is routed equally over REST and Connect, and waits for the chosen recipient", async () => {
  const pool = await own.pool();
  const recipient = await own.recipient(pool);
  const item = { pool_id: pool, type: "ticket", key: "customer-1", attributes: { region: "eu" }, payload: { n: 1 } };
  for (const { protocol, code, data } of await inEachProtocol(service, own, "RoutingService/Route", item)) {
    assert.equal(code, "OK", protocol);
    const { outcome, reason, recipient_id, queue_item_id, decision_id, dry_run, type, key } = data;
    assert.deepEqual(
      { outcome, reason, recipient_id, type, key, dry_run: dry_run ?? false },
      {
        outcome: "routed",
        reason: "chosen",
        recipient_id: recipient,
        type: "ticket",
        key: "customer-1",
        dry_run: false,
      },
    );
    assert.equal(queue_item_id, decision_id);
    const { state, recipient_id: given, attributes, payload } = await own.item(pool, queue_item_id);
    assert.deepEqual([state, given, attributes, payload], ["ready", recipient, { region: "eu" }, { n: 1 }], protocol);
  }
});

test("each item of a batch has its own result, in order, over REST and Connect", async () => {
  const [pool, empty] = [await own.pool(), await own.pool({ config: { fallback: { on_no_match: "reject" } } })];
  await own.recipient(pool);
  await own.rule(pool, { type: "reject", reason: "no spam" }, { condition: "item.type == 'spam'" });
  const items = [
    { pool_id: pool, type: "a" },
    { pool_id: "nowhere", type: "b" },
    { pool_id: pool, type: "spam" },
    { pool_id: empty, type: "c" },
    { pool_id: pool, type: "d" },
  ];
  for (const { protocol, data } of await inEachProtocol(service, own, "RoutingService/RouteBatch", { items })) {
    assert.deepEqual(
      data.results.map(
        ({ decision, error_code }: Record<string, Record<string, string>>) => error_code || decision!.outcome,
      ),
      ["routed", "NOT_FOUND", "rejected", "ROUTING_FAILED", "routed"],
      protocol,
    );
    assert.equal(data.accepted_count, 2);
    assert.deepEqual([data.results[0].decision.type, data.results[4].decision.type], ["a", "d"]);
  }
  assert.equal((await own.status(pool)).depth, 4);
});

test("a batch accepts 1 to 1,000 items", async () => {
  const pool = await own.pool();
  const items = Array.from({ length: 1000 }, (_, n) => ({ pool_id: pool, type: "bulk", payload: { n } }));
  const results = await own.routeAll(items);
  assert.equal(new Set(results.map(({ decision }) => decision.queue_item_id)).size, 1000);
  assert.equal((await own.status(pool)).depth, 1000);
  await own.refused("INVALID_ARGUMENT", "POST", "/api/route:batch", { items: [...items, items[0]] });
  await own.refused("INVALID_ARGUMENT", "POST", "/api/route:batch", { items: [] });
  assert.equal((await own.status(pool)).depth, 1000);
});

test("an item's result is its outcome: routed, queued, held, rejected, deduplicated, debounced", async () => {
  const free = await own.pool();
  assert.deepEqual(pick(await own.route(free)), { outcome: "queued", reason: "no_recipients", recipient_id: "" });
  const recipient = await own.recipient(free);
  assert.deepEqual(pick(await own.route(free)), { outcome: "routed", reason: "chosen", recipient_id: recipient });
  await own.rule(free, { type: "hold", hold_s: 600 }, { condition: "item.type == 'later'" });
  await own.rule(free, { type: "reject" }, { condition: "item.type == 'never'" });
  const held = await own.route(free, { type: "later" });
  assert.deepEqual(pick(held), { outcome: "held", reason: "rule_hold", recipient_id: "" });
  assert.equal((await own.item(free, held.queue_item_id)).state, "held");
  const rejected = await own.route(free, { type: "never" });
  assert.deepEqual(pick(rejected), { outcome: "rejected", reason: "rule_reject", recipient_id: "" });
  assert.equal(rejected.queue_item_id, "");

  const single = await own.pool({ config: { admission: { singleton: { key: "item.key" } } } });
  const first = await own.route(single, { key: "k" });
  const second = await own.route(single, { key: "k" });
  assert.equal(first.outcome, "queued");
  assert.deepEqual(pick(second), { outcome: "deduplicated", reason: "singleton_deduplicated", recipient_id: "" });
  assert.deepEqual([second.existing_item_id, second.queue_item_id], [first.queue_item_id, ""]);
  const calm = await own.pool({ config: { admission: { debounce: { key: "item.key" } } } });
  const debounced = await own.route(calm, { key: "k" });
  assert.deepEqual(pick(debounced), { outcome: "debounced", reason: "debounce_debounced", recipient_id: "" });
  assert.ok(Date.parse(debounced.due_at) >= Date.parse(debounced.decided_at) + 5000);
});

function pick({ outcome, reason, recipient_id }: Record<string, string>) {
  return { outcome, reason, recipient_id };
}

test("a dry run decides and stores nothing", async () => {
  const pool = await own.pool({ strategy: "round_robin", config: { admission: { singleton: { key: "item.key" } } } });
  await own.recipient(pool, { capacity: 1 });
  await own.rule(pool, { type: "set_priority", priority: 7 }, { condition: "true" });
  await own.route(pool, { key: "real" });
  await own.lease(pool);
  // Statistics of the real call are stored a moment later.
  await until(
    () => sql`select from recipient_states where pool_id = ${pool}`,
    ({ length }) => length === 1,
  );
  const before = await readRows(sql);
  const item = { pool_id: pool, type: "try", key: "k", dry_run: true };
  for (const { data } of await inEachProtocol(service, own, "RoutingService/Route", item)) {
    assert.deepEqual(
      [data.decision_id ?? "", data.queue_item_id ?? "", data.dry_run, data.reason],
      ["", "", true, "all_at_capacity"],
    );
  }
  const batch = { items: [{ pool_id: pool, type: "try" }], dry_run: true };
  for (const { data } of await inEachProtocol(service, own, "RoutingService/RouteBatch", batch)) {
    assert.equal(data.results[0].decision.dry_run, true);
  }
  assert.deepEqual(await readRows(sql), before);
});

test("an item without an eligible recipient fails with ROUTING_FAILED when the pool queues none, and may be sent again", async () => {
  const pool = await own.pool({ config: { fallback: { on_no_match: "reject" } } });
  for (const response of await inEachProtocol(service, own, "RoutingService/Route", { pool_id: pool, type: "t" })) {
    assert.deepEqual(
      [response.code, response.status, response.retryable],
      ["ROUTING_FAILED", 503, true],
      response.protocol,
    );
    assert.equal(response.headers.get("retry-after"), "1", response.protocol);
  }
  assert.equal((await own.status(pool)).depth, 0);
  await own.recipient(pool);
  assert.equal((await own.route(pool)).outcome, "routed");
});

test("a full queue fails with ROUTING_FAILED until it has room again", async () => {
  const pool = await own.pool({ config: { queue: { max_depth: 3 } } });
  const results = await own.routeAll(Array.from({ length: 5 }, () => ({ pool_id: pool, type: "t" })));
  assert.deepEqual(
    results.map(({ error_code }) => error_code),
    ["", "", "", "ROUTING_FAILED", "ROUTING_FAILED"],
  );
  const full = await own.refused("ROUTING_FAILED", "POST", "/api/route", { pool_id: pool, type: "t" });
  assert.deepEqual([full.status, full.body.retryable, full.headers.get("retry-after")], [503, true, "1"]);
  assert.equal((await own.status(pool)).depth, 3);
  assert.equal((await own.lease(pool)).length, 1);
  await until(
    () => own.rest.call("POST", "/api/route", { pool_id: pool, type: "t" }),
    ({ status }) => status === 200,
  );
  assert.equal((await own.status(pool)).depth, 3);
});

test("a decision-only item takes no room in the queue", async () => {
  const pool = await own.pool({ config: { queue: { max_depth: 1 } } });
  await own.recipient(pool, { delivery: { mode: "MODE_DECISION_ONLY" } });
  for (let n = 0; n < 5; n++) assert.equal((await own.route(pool)).outcome, "routed");
  assert.equal((await own.status(pool)).depth, 0);
});

test("a disabled pool neither accepts nor leases items; a draining one finishes its items", async () => {
  const pool = await own.pool();
  const recipient = await own.recipient(pool);
  for (let n = 0; n < 3; n++) await own.route(pool);
  await own.ok("POST", `/api/pools/${pool}:set_enabled`, { enabled: false });
  const refusal = await own.refused("FAILED_PRECONDITION", "POST", "/api/route", { pool_id: pool, type: "t" });
  assert.match(refusal.body.detail, /disabled/);
  assert.deepEqual(await own.lease(pool), []);
  assert.deepEqual(await own.lease(pool, { recipient_id: recipient }), []);
  assert.equal((await own.status(pool)).depth, 3);
  await own.ok("PATCH", `/api/pools/${pool}`, { status: "STATUS_DRAINING" });
  await own.refused("FAILED_PRECONDITION", "POST", "/api/route", { pool_id: pool, type: "t" });
  assert.equal((await own.lease(pool)).length, 1);
  await own.ok("POST", `/api/pools/${pool}:set_enabled`, { enabled: true });
  assert.equal((await own.route(pool)).outcome, "routed");
  assert.equal((await own.lease(pool, { max_items: 10 })).length, 3);
});

test("an item goes only to recipients with its required attributes", async () => {
  const pool = await own.pool();
  const expert = await own.recipient(pool, { skills: { german: 4 } });
  const novice = await own.recipient(pool, { skills: { german: 1 } });
  const asking = async (requirements: object) => {
    const { outcome, recipient_id, reason } = await own.route(pool, { requirements });
    return outcome === "routed" ? recipient_id : reason;
  };
  assert.equal(await asking({ skills: { german: 3 } }), expert);
  assert.equal(await asking({ skills: { german: 5 } }), "requirements_unmet");
  assert.equal(await asking({ recipient_id: novice }), novice);
  assert.equal(await asking({ excluded_recipient_ids: [expert] }), novice);
  assert.equal(await asking({ excluded_recipient_ids: [expert, novice] }), "requirements_unmet");
});

test("an item without an eligible recipient goes to one that is added later", async () => {
  const pool = await own.pool();
  const { queue_item_id } = await own.route(pool, { requirements: { skills: { rare: 2 } } });
  await own.recipient(pool);
  const able = await own.recipient(pool, { skills: { rare: 2 } });
  const { recipient_id } = await until(
    () => own.item(pool, queue_item_id),
    (item) => item.recipient_id !== "",
  );
  assert.equal(recipient_id, able);
  assert.equal((await own.lease(pool, { recipient_id: able }))[0].queue_item_id, queue_item_id);
});

test("a pool with a fallback redirects unroutable items to the other pool; a long chain of pools fails", async () => {
  const target = await own.pool();
  const recipient = await own.recipient(target);
  const source = await own.pool({ config: { fallback: { on_no_match: "redirect_pool", redirect_pool_id: target } } });
  const decision = await own.route(source);
  assert.deepEqual([decision.pool_id, decision.recipient_id], [target, recipient]);
  assert.deepEqual(
    decision.trace.filter(({ step }: { step: string }) => step === "redirect").map(({ id }: { id: string }) => id),
    [target],
  );
  let next = await own.pool();
  for (let n = 0; n < 6; n++) {
    const before = await own.pool();
    await own.rule(before, { type: "redirect_pool", pool_id: next });
    next = before;
  }
  await own.refused("ROUTING_FAILED", "POST", "/api/route", { pool_id: next, type: "t" });
});

test("redirect cycles by rules or fallbacks are rejected with the pools of the cycle", async () => {
  const [a, b, c] = [await own.pool({ name: "front" }), await own.pool({ name: "middle" }), await own.pool()];
  const back = (redirect_pool_id: string) => ({
    config: { fallback: { on_no_match: "redirect_pool", redirect_pool_id } },
  });
  await own.rule(a, { type: "redirect_pool", pool_id: b });
  await own.ok("PATCH", `/api/pools/${b}`, back(c));
  const byRule = { name: "back", action: { type: "redirect_pool", pool_id: a } };
  const refusal = await own.refused("INVALID_ARGUMENT", "POST", `/api/pools/${c}/rules`, byRule);
  assert.match(refusal.text, /this pool → front → middle → this pool/);
  await own.refused("INVALID_ARGUMENT", "PATCH", `/api/pools/${c}`, back(a));
  const harmless = await own.rule(c, { type: "redirect_pool", pool_id: await own.pool() });
  await own.refused("INVALID_ARGUMENT", "PATCH", `/api/rules/${harmless}`, { action: byRule.action });
  // Two concurrent changes that close a cycle: one of them is rejected.
  const [d, e] = [await own.pool(), await own.pool()];
  const responses = await Promise.all([
    own.rest.call("PATCH", `/api/pools/${d}`, back(e)),
    own.rest.call("PATCH", `/api/pools/${e}`, back(d)),
  ]);
  assert.deepEqual(responses.map(({ status }) => status).toSorted(), [200, 400]);
});
