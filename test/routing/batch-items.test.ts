import assert from "node:assert/strict";
import { before, test } from "node:test";
import { openDatabase } from "../../src/platform/db/index.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, inEachProtocol, newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

const tooLongKey = { field: "key", rule: "string.max_len" };
const tooHighPriority = { field: "priority", rule: "int32.gte_lte" };

/** The fields and rules of a result's violations; asserts that each has a message. */
function violationsOf({ violations = [] }: ResponseData): object[] {
  for (const { message } of violations) assert.notEqual(message, "");
  return violations.map(({ field, rule }: ResponseData) => ({ field, rule }));
}

test("an item that violates its field rules gets its own error in a routed batch, and the others are routed", async () => {
  const pool = await own.pool();
  await own.recipient(pool);
  const items = [
    { pool_id: pool, type: "first" },
    { pool_id: pool, type: "broken", key: "k".repeat(256), priority: 1001 },
    { pool_id: pool, type: "last" },
  ];
  for (const answer of await inEachProtocol(service, own, "RoutingService/RouteBatch", { items })) {
    const { protocol, code, data } = answer;
    assert.equal(code, "OK", `${protocol}: ${answer.text}`);
    const [first, broken, last] = data.results;
    assert.deepEqual([first.decision.type, last.decision.type], ["first", "last"], protocol);
    assert.deepEqual([violationsOf(first), violationsOf(last)], [[], []], protocol);
    assert.equal(broken.decision ?? null, null, protocol);
    assert.equal(broken.error_code, "INVALID_ARGUMENT", protocol);
    assert.match(broken.error_message, /^key: .+ \(and 1 more\)$/, protocol);
    assert.deepEqual(violationsOf(broken), [tooLongKey, tooHighPriority], protocol);
    assert.equal(data.accepted_count, 2, protocol);
  }
  const { data: decisions } = await own.ok("GET", `/api/decisions?pool_id=${pool}`);
  assert.deepEqual(
    decisions.map(({ type }: ResponseData) => type),
    ["last", "first", "last", "first"],
  );
  assert.equal((await own.status(pool)).depth, 4);
});

test("every rule applies to each item separately: nested fields, ranges and payload size", async () => {
  const pool = await own.pool();
  const item = { pool_id: pool, type: "t" };
  const text = "x".repeat(128 * 1024);
  const results = await own.routeAll([
    { ...item, type: "" },
    { ...item, ttl_s: -1 },
    { ...item, requirements: { skills: { welding: 9 } } },
    { ...item, attributes: { text }, payload: { text } },
    item,
  ]);
  assert.deepEqual(results.map(violationsOf), [
    [{ field: "type", rule: "string.min_len" }],
    [{ field: "ttl_s", rule: "int32.gte_lte" }],
    [{ field: 'requirements.skills["welding"]', rule: "int32.gte_lte" }],
    [{ field: "payload", rule: "max_bytes" }],
    [],
  ]);
  assert.equal((await own.status(pool)).depth, 1);
});

test("a repeated batch with an invalid item gets the first response, and routes nothing twice", async () => {
  const pool = await own.pool();
  const item = { pool_id: pool, type: "t" };
  for (const items of [[item, { ...item, priority: -1001 }], [{ ...item, priority: 1001 }]]) {
    const headers = { "idempotency-key": freshName() };
    const first = await own.ok("POST", "/api/route:batch", { items }, headers);
    assert.deepEqual(violationsOf(first.data.results.at(-1)), [tooHighPriority]);
    const second = await own.ok("POST", "/api/route:batch", { items }, headers);
    assert.deepEqual(second.data, first.data);
  }
  assert.equal((await own.status(pool)).depth, 1);
});

test("a dry run reports the errors of each item of a batch", async () => {
  const pool = await own.pool();
  const items = [{ pool_id: pool }, { pool_id: pool, type: "t" }];
  const { data } = await own.ok("POST", "/api/route:batch", { items, dry_run: true });
  assert.deepEqual(
    data.results.map((result: ResponseData) => result.error_code || result.decision.outcome),
    ["INVALID_ARGUMENT", "queued"],
  );
});

test("invalid items use no routing quota", async () => {
  const limited = await newTenant(service, { quotas: { route: { limit_per_day: 2 } } });
  const pool = await limited.pool();
  const item = { pool_id: pool, type: "t" };
  const results = await limited.routeAll([item, { ...item, type: "" }, { ...item, ttl_s: -1 }, item]);
  assert.deepEqual(
    results.map(({ error_code }) => error_code),
    ["", "INVALID_ARGUMENT", "INVALID_ARGUMENT", ""],
  );
  // The quota is used up, and a batch without a valid item needs none.
  await limited.refused("QUOTA_EXCEEDED", "POST", "/api/route:batch", { items: [item] });
  const [broken] = await limited.routeAll([{ ...item, type: "" }]);
  assert.equal(broken.error_code, "INVALID_ARGUMENT");
});

for (const [verb, name, state] of [
  ["complete", "CompleteItems", "completed"],
  ["fail", "FailItems", "dead_lettered"],
] as const) {
  test(`an item that violates its field rules gets its own error when many ${verb}, and the others succeed`, async () => {
    const pool = await own.pool();
    const more = verb === "fail" ? { retryable: false } : {};
    const routed = [await own.route(pool), await own.route(pool), await own.route(pool), await own.route(pool)];
    const leased = await own.lease(pool, { max_items: routed.length });
    assert.equal(leased.length, routed.length);
    const refs = leased.map(({ queue_item_id, lease_token }) => ({ queue_item_id, lease_token }));
    const broken = { queue_item_id: refs[0]!.queue_item_id, lease_token: "" };
    const items = [refs[0]!, broken, { ...refs[1]!, lease_token: "lost" }, refs[1]!];
    const headers = { "idempotency-key": freshName() };
    const call = () => own.ok("POST", `/api/queues/${pool}/items:${verb}`, { items, ...more }, headers);
    const { data } = await call();
    const codes = data.results.map((result: ResponseData) => result.error_code || result.state);
    assert.deepEqual(codes, [state, "INVALID_ARGUMENT", "LEASE_LOST", state]);
    assert.deepEqual(violationsOf(data.results[1]), [{ field: "lease_token", rule: "string.min_len" }]);
    assert.equal(data.results[1].queue_item_id, broken.queue_item_id);
    assert.match(data.results[1].error_message, /^lease_token: /);
    assert.notEqual(data.results[2].error_message, "");
    assert.deepEqual((await call()).data, data);

    const rest = { pool_id: pool, items: [{ queue_item_id: "", lease_token: "t" }, refs[2]!], ...more };
    const [, connect] = await inEachProtocol(service, own, `WorkService/${name}`, rest);
    assert.equal(connect!.protocol, "Connect");
    assert.equal(connect!.data.results[0].error_code, "INVALID_ARGUMENT");
    assert.deepEqual(violationsOf(connect!.data.results[0]), [{ field: "queue_item_id", rule: "string.min_len" }]);
    assert.equal(connect!.data.results[1].state, state);
  });
}

for (const verb of ["complete", "fail"]) {
  test(`a batch of only invalid items gets a result per item when many ${verb}`, async () => {
    const pool = await own.pool();
    const items = [{}, { queue_item_id: "x".repeat(65), lease_token: "t" }];
    for (const headers of [undefined, { "idempotency-key": freshName() }]) {
      const { data } = await own.ok("POST", `/api/queues/${pool}/items:${verb}`, { items }, headers);
      assert.deepEqual(data.results.map(violationsOf), [
        [
          { field: "queue_item_id", rule: "string.min_len" },
          { field: "lease_token", rule: "string.min_len" },
        ],
        [{ field: "queue_item_id", rule: "string.max_len" }],
      ]);
    }
  });
}

test("an id with an invalid format is skipped, and the others are retried and quarantined", async () => {
  const pool = await own.pool();
  const { queue_item_id: id } = await own.route(pool);
  await own.fail(await own.leaseOne(pool), { retryable: false });
  const ids = ["", id, "x".repeat(65)];
  const skipped = ["", "x".repeat(65)].map((each) => ({ queue_item_id: each, reason: "not_found" }));
  const calls = [
    { verb: "quarantine", fields: {}, count: "changed_count" },
    { verb: "quarantine", fields: { release: true }, count: "changed_count" },
    { verb: "retry", fields: {}, count: "retried_count" },
  ];
  for (const { verb, fields, count } of calls) {
    const { data } = await own.ok("POST", `/api/dlq/${pool}/${verb}`, { queue_item_ids: ids, ...fields });
    assert.deepEqual([Number(data[count]), data.skipped], [1, skipped], verb);
  }
  assert.equal((await own.item(pool, id)).state, "ready");
});

test("an empty batch, too many items, and undecodable items reject the whole batch", async () => {
  const pool = await own.pool();
  const item = { pool_id: pool, type: "t" };
  const undecodable = [
    { ...item, no_such_field: 1 },
    { ...item, priority: "high" },
    { ...item, not_before: "soon" },
  ];
  for (const items of [[], Array(1001).fill(item), ...undecodable.map((each) => [item, each])]) {
    const { body } = await own.refused("INVALID_ARGUMENT", "POST", "/api/route:batch", { items });
    assert.match(body.violations[0].field, /^items/);
  }
  assert.equal((await own.status(pool)).depth, 0);
});

test("a large batch whose caller left before its turn is not routed, and the next one gets its turn", async (t) => {
  const pool = await own.pool();
  const db = openDatabase(service.databaseUrl, { maxConnections: 2 });
  t.after(() => db.close());
  const items = Array.from({ length: 500 }, () => ({ pool_id: pool, type: "t" }));
  const departure = new AbortController();
  let stored: Promise<unknown> | undefined;
  let left: Promise<unknown> | undefined;
  await db.transaction(async (tx) => {
    await tx`lock table queue_daily_counts in share mode`;
    stored = Promise.all([own.routeAll(items), own.routeAll(items)]);
    await until(async () => {
      const blocked = await db.sql`
        select from pg_stat_activity where wait_event_type = 'Lock' and query like '%string_to_table%'`;
      return blocked.length === 2;
    });
    left = fetch(`${service.baseUrl}/api/route:batch`, {
      method: "POST",
      headers: { "x-api-key": own.key, "content-type": "application/json" },
      body: JSON.stringify({ items }),
      signal: departure.signal,
    });
    left.catch(() => {});
    // The node is in this process: after some calls it has read the third batch, and after some more it knows who left.
    for (let nth = 0; nth < 20; nth++) await own.status(pool);
    departure.abort();
    for (let nth = 0; nth < 20; nth++) await own.status(pool);
  });
  await stored;
  await assert.rejects(left!);
  await own.routeAll(items);
  assert.equal((await own.status(pool)).depth, 1500);
});
