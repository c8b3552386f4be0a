import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { RestResponse } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

/** Sends a request twice with one key; asserts that both responses are equal. */
async function twice(path: string, body: object): Promise<ResponseData> {
  const key = { "idempotency-key": freshName() };
  const first = await own.rest.call("POST", path, body, key);
  const second = await own.rest.call("POST", path, body, key);
  assert.deepEqual([first.status, second.status], [200, 200], first.text + second.text);
  assert.equal(first.headers.get("idempotency-replayed"), null);
  assert.equal(second.headers.get("idempotency-replayed"), "true");
  assert.deepEqual(second.body.data, first.body.data);
  const other = await own.rest.call("POST", path, { ...body, ...differing(path) }, key);
  assert.equal(other.body.errorCode, "IDEMPOTENCY_KEY_REUSED", other.text);
  return first.body.data;
}

function differing(path: string): object {
  if (path.endsWith("/lease")) return { max_items: 3 };
  if (path.endsWith("batch")) return { items: [{ type: "other" }] };
  return path === "/api/route" ? { type: "other" } : { lease_token: "aaaaaaaaaaaaaaaaaaaaaaaap1" };
}

test("routing, leasing, completing and failing take effect once per idempotency key", async () => {
  const pool = await own.pool({ config: { retry: { initial_ms: 3_600_000, max_ms: 3_600_000 } } });
  await own.recipient(pool);
  const one = await twice("/api/route", { pool_id: pool, type: "t" });
  assert.equal((await own.status(pool)).depth, 1);
  const items = [1, 2, 3].map((n) => ({ pool_id: pool, type: "t", payload: { n } }));
  const { results } = await twice("/api/route:batch", { items });
  assert.equal(new Set(results.map(({ decision }: ResponseData) => decision.decision_id)).size, 3);
  assert.equal((await own.status(pool)).depth, 4);
  const leased = await twice(`/api/queues/${pool}/lease`, { max_items: 2 });
  assert.deepEqual([leased.items.length, leased.items[0].queue_item_id], [2, one.queue_item_id]);
  assert.equal((await own.status(pool)).in_flight, 2);
  const of = ({ queue_item_id }: ResponseData) => `/api/queues/${pool}/items/${queue_item_id}`;
  const [done, lost] = leased.items;
  await twice(`${of(done)}/heartbeat`, { lease_token: done.lease_token });
  assert.equal((await twice(`${of(done)}/complete`, { lease_token: done.lease_token })).state, "completed");
  assert.equal((await twice(`${of(lost)}/fail`, { lease_token: lost.lease_token })).state, "pending");
  assert.equal((await own.item(pool, lost.queue_item_id)).failures.length, 1);
  const { throughput_today, failed_today, depth } = await own.status(pool);
  assert.deepEqual([throughput_today, failed_today, depth], [1, 1, 3]);
});

test("constrained items take effect once per idempotency key, even with concurrent calls", async () => {
  const pool = await own.pool({
    config: { admission: { throttle: { key: "item.key", limit: 1, period_s: 3600 }, singleton: { key: "item.key" } } },
  });
  const decision = await twice("/api/route", { pool_id: pool, type: "t", key: "k" });
  assert.equal(decision.outcome, "queued");
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      own.rest.call("POST", "/api/route", { pool_id: pool, type: "t", key: "l" }, { "idempotency-key": "at once" }),
    ),
  );
  const told = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => JSON.stringify(body.data)));
  assert.equal(told.size, 1);
  for (const { status, body } of answers) {
    if (status !== 200) assert.equal(body.errorCode, "IDEMPOTENCY_IN_PROGRESS");
  }
  assert.equal((await own.status(pool)).depth, 2);
});

test("a repeat gets the first response, even when it would be rejected by now", async () => {
  const pool = await own.pool({ config: { queue: { max_depth: 1 } } });
  const send = (key: string) =>
    own.rest.call("POST", "/api/route", { pool_id: pool, type: "t" }, { "idempotency-key": key });
  const first = await send("kept");
  assert.equal((await send("another")).body.errorCode, "ROUTING_FAILED");
  assert.deepEqual((await send("kept")).body.data, first.body.data);
  await own.ok("POST", `/api/pools/${pool}:set_enabled`, { enabled: false });
  assert.equal((await send("another")).body.errorCode, "FAILED_PRECONDITION");
  assert.deepEqual((await send("kept")).body.data, first.body.data);
});

test("a rejected item leaves its idempotency key free for another attempt", async () => {
  const pool = await own.pool({ config: { fallback: { on_no_match: "reject" } } });
  const send = () =>
    own.rest.call("POST", "/api/route", { pool_id: pool, type: "t" }, { "idempotency-key": "until it works" });
  assert.equal((await send()).body.errorCode, "ROUTING_FAILED");
  await own.recipient(pool);
  assert.equal((await send()).body.data.outcome, "routed");
});

test("the daily quota counts every routed item, and a batch beyond it is rejected completely", async () => {
  const bounded = await newTenant(service, { quotas: { route: { limit_per_day: 10 } } });
  const pool = await bounded.pool();
  const batch = (count: number) => ({ items: Array.from({ length: count }, () => ({ pool_id: pool, type: "t" })) });
  const used = async () => (await bounded.ok("GET", `/api/tenants/${bounded.id}/quota/route`)).data;
  await bounded.route(pool);
  await bounded.ok("POST", "/api/route:batch", batch(6));
  assert.deepEqual(counts(await used()), [10, 7, 3]);
  const refusal = await bounded.refused("QUOTA_EXCEEDED", "POST", "/api/route:batch", batch(4));
  assert.deepEqual([refusal.status, refusal.body.retryable], [429, false]);
  assert.deepEqual(counts(await used()), [10, 7, 3]);
  await bounded.ok("POST", "/api/route", { pool_id: pool, type: "t", dry_run: true });
  await bounded.ok("POST", "/api/route:batch", { ...batch(9), dry_run: true });
  await bounded.ok("POST", "/api/route:batch", batch(3));
  await bounded.refused("QUOTA_EXCEEDED", "POST", "/api/route", { pool_id: pool, type: "t" });
  assert.deepEqual(counts(await used()), [10, 10, 0]);
  assert.equal((await bounded.status(pool)).depth, 10);
});

test("an item that is invalid, rejected or deduplicated uses no quota", async () => {
  const bounded = await newTenant(service, { quotas: { route: { limit_per_day: 10 } } });
  const used = async () => counts((await bounded.ok("GET", `/api/tenants/${bounded.id}/quota/route`)).data);
  const closed = await bounded.pool();
  await bounded.ok("PATCH", `/api/pools/${closed}`, { status: "STATUS_DISABLED" });
  await bounded.refused("FAILED_PRECONDITION", "POST", "/api/route", { pool_id: closed, type: "t" });
  await bounded.refused("NOT_FOUND", "POST", "/api/route", { pool_id: "nowhere", type: "t" });
  assert.deepEqual(await used(), [10, 0, 10]);

  const pool = await bounded.pool({ config: { admission: { singleton: { key: "item.key" } } } });
  await bounded.rule(pool, { type: "reject" }, { condition: "item.type == 'unwanted'" });
  assert.equal((await bounded.route(pool, { type: "unwanted" })).outcome, "rejected");
  const items = ["a", "a", "b"].map((key) => ({ pool_id: pool, type: "t", key }));
  const results = await bounded.routeAll([
    ...items,
    { pool_id: closed, type: "t" },
    { pool_id: pool, type: "unwanted" },
  ]);
  assert.deepEqual(
    results.map(({ decision, error_code }) => decision?.outcome ?? error_code),
    ["queued", "deduplicated", "queued", "FAILED_PRECONDITION", "rejected"],
  );
  assert.deepEqual(await used(), [10, 2, 8]);
});

function counts({ limit, used, remaining }: Record<string, number>) {
  return [limit, used, remaining];
}

test("a repeat with its idempotency key uses no quota, and succeeds when the quota is used up", async () => {
  const bounded = await newTenant(service, { quotas: { route: { limit_per_day: 3 } } });
  const pool = await bounded.pool();
  const send = (path: string, body: object, key: string) =>
    bounded.rest.call("POST", path, body, { "idempotency-key": key });
  const one = { pool_id: pool, type: "t" };
  const first = await send("/api/route", one, "a");
  const repeated = await send("/api/route", one, "a");
  assert.deepEqual(repeated.body.data, first.body.data);
  const batch = await send("/api/route:batch", { items: [one, one] }, "b");
  assert.equal(batch.status, 200, batch.text);
  for (const again of [
    await send("/api/route", one, "a"),
    await send("/api/route:batch", { items: [one, one] }, "b"),
  ]) {
    assert.deepEqual([again.status, again.headers.get("idempotency-replayed")], [200, "true"], again.text);
  }
  assert.equal((await send("/api/route", one, "c")).body.errorCode, "QUOTA_EXCEEDED");
  const { data } = await bounded.ok("GET", `/api/tenants/${bounded.id}/quota/route`);
  assert.deepEqual(counts(data), [3, 3, 0]);
});

test("a key bound to an environment works only with the pools of that environment", async () => {
  const { data: environments } = await own.ok("GET", "/api/v2/environments");
  const staging = environments.find(({ key }: { key: string }) => key === "staging").id;
  const config = { accepts_unaddressed: true };
  const pools = {
    production: await own.pool({ config }),
    staging: await own.pool({ config, environment_id: staging }),
  };
  for (const pool of Object.values(pools)) await own.rule(pool, { type: "prefer" });
  for (const [allowed, denied, mode] of [
    [pools.production, pools.staging, "production_only"],
    [pools.staging, pools.production, "non_production_only"],
  ] as const) {
    const bound = await own.caller({ roles: ["admin"], environment_mode: mode });
    const { decision_id } = await own.route(denied);
    const leased = await own.leaseOne(denied);
    const item = `/api/queues/${denied}/items/${decision_id}`;
    const { lease_token } = leased;
    const refused: [string, string, object?][] = [
      ["POST", "/api/route", { pool_id: denied, type: "t" }],
      ["GET", `/api/decisions/${decision_id}`],
      ["POST", `/api/decisions/${decision_id}:replay`, {}],
      ["POST", "/api/outcomes", { decision_id, status: "success" }],
      ["GET", `/api/queues/${denied}/status`],
      ["POST", `/api/queues/${denied}/pause`, {}],
      ["POST", `/api/queues/${denied}/drain`, { max_items: 1 }],
      ["GET", `/api/queues/${denied}/items`],
      ["GET", item],
      ["POST", `${item}/cancel`, {}],
      ["POST", `${item}/complete`, { lease_token }],
      ["POST", `${item}/heartbeat`, { lease_token }],
      ["POST", `/api/queues/${denied}/items:complete`, { items: [{ queue_item_id: decision_id, lease_token }] }],
      ["POST", `/api/queues/${denied}/lease`, {}],
      ["GET", `${item}/admission-explanation`],
      ["POST", `/api/queues/${denied}:preview-admission`, { item: { type: "t" } }],
      ["GET", `/api/dlq/${denied}`],
    ];
    for (const [method, path, body] of refused) {
      assert.equal((await bound.call(method, path, body)).status, 403, `${method} ${path}`);
    }
    const batch = await bound.call("POST", "/api/route:batch", { items: [{ pool_id: denied, type: "t" }] });
    assert.equal(batch.body.data.results[0].error_code, "PERMISSION_DENIED");
    // Of several pools with a rule that chooses the item, the bound key's own pool is chosen, and lists show no others.
    const picked = await bound.call("POST", "/api/route", { type: "t" });
    assert.equal(picked.body.data.pool_id, allowed, picked.text);
    const listed = async (path: string) =>
      (await bound.call("GET", path)).body.data.map(({ pool_id }: Record<string, string>) => pool_id) as string[];
    assert.deepEqual(new Set(await listed("/api/decisions?limit=1000")).has(denied), false);
    assert.deepEqual(
      [(await listed("/api/queues")).includes(allowed), (await listed("/api/queues")).includes(denied)],
      [true, false],
    );
    await own.complete(leased);
  }
});

test("another tenant's pools, items, decisions and groups are not found by any operation", async () => {
  const foreign = await newTenant(service);
  const pool = await own.pool({ config: { admission: { throttle: { key: "item.key", limit: 9, period_s: 60 } } } });
  const recipient = await own.recipient(pool);
  const { decision_id: id } = await own.route(pool, { key: "k" });
  const [leased] = await own.lease(pool);
  const [group] = (await own.ok("GET", `/api/queues/admission-groups?pool_id=${pool}`)).data;
  const theirs = await foreign.pool();
  const item = `/api/queues/${pool}/items/${id}`;
  const token = { lease_token: leased.lease_token };
  const groups = `/api/queues/${pool}/admission-groups/throttle/${group.group_id}`;
  const asked: [string, string, object?][] = [
    ["POST", "/api/route", { pool_id: pool, type: "t" }],
    ["POST", "/api/route", { pool_id: pool, type: "t", dry_run: true }],
    ["GET", `/api/decisions/${id}`],
    ["POST", `/api/decisions/${id}:replay`, {}],
    ["POST", "/api/outcomes", { decision_id: id, status: "success" }],
    ["GET", `/api/outcomes/${id}`],
    ["GET", `/api/queues/${pool}/status`],
    ["POST", `/api/queues/${pool}/pause`, {}],
    ["POST", `/api/queues/${pool}/resume`, {}],
    ["POST", `/api/queues/${pool}/drain`, { max_items: 1 }],
    ["GET", `/api/queues/${pool}/items`],
    ["GET", item],
    ["POST", `${item}/cancel`, {}],
    ["POST", `${item}/assign`, { recipient_id: recipient }],
    ["POST", `/api/queues/${pool}/lease`, {}],
    ["POST", `${item}/heartbeat`, token],
    ["POST", `${item}/complete`, token],
    ["POST", `${item}/fail`, token],
    ["POST", `/api/queues/${pool}/items:complete`, { items: [{ queue_item_id: id, ...token }] }],
    ["POST", `/api/queues/${pool}/items:fail`, { items: [{ queue_item_id: id, ...token }] }],
    ["POST", `/api/queues/${pool}:preview-admission`, { item: { type: "t" } }],
    ["GET", `${item}/admission-explanation`],
    ["GET", groups],
    ["POST", `${groups}:clear`, { reason: "mine" }],
    ["GET", `/api/dlq/${pool}`],
    ["GET", `/api/dlq/${pool}/stats`],
    ["POST", `/api/dlq/${pool}/retry`, { queue_item_ids: [id] }],
    ["POST", `/api/dlq/${pool}/retry-all`, {}],
    ["POST", `/api/dlq/${pool}/quarantine`, { queue_item_ids: [id] }],
    ["POST", `/api/dlq/${pool}/purge`, {}],
    // A path with the caller's own pool does not reach another tenant's item.
    ["GET", `/api/queues/${theirs}/items/${id}`],
    ["POST", `/api/queues/${theirs}/items/${id}/cancel`, {}],
    ["GET", `/api/queues/${theirs}/items/${id}/admission-explanation`],
    ["GET", `/api/queues/${theirs}/admission-groups/throttle/${group.group_id}`],
  ];
  for (const [method, path, body] of asked) {
    const answer = await foreign.rest.call(method, path, body);
    assert.deepEqual([answer.status, answer.body.errorCode], [404, "NOT_FOUND"], `${method} ${path}: ${answer.text}`);
  }
  const lost: RestResponse = await foreign.rest.call("POST", `/api/queues/${theirs}/items/${id}/complete`, token);
  assert.equal(lost.body.errorCode, "LEASE_LOST");
  for (const path of ["/api/decisions", "/api/queues/admission-groups"]) {
    assert.deepEqual((await foreign.ok("GET", path)).data, []);
  }
  assert.equal((await foreign.refused("INVALID_ARGUMENT", "GET", `/api/queues?tenant_id=${own.id}`)).status, 400);
  assert.equal((await own.item(pool, id)).state, "leased");
  assert.equal((await own.complete(leased)).state, "completed");
});
