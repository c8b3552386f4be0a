import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { checkWindows } from "./lease-checks.ts";
import { newTenant, type ResponseData, type TenantFixture, tenantAt } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

const many = (count: number, pool: string, fields: object = {}) =>
  Array.from({ length: count }, () => ({ pool_id: pool, type: "t", ...fields }));

const leasedAt = async (pool: string, { queue_item_id }: ResponseData) =>
  Date.parse((await own.item(pool, queue_item_id)).leased_at);

async function groupsOf(pool: string): Promise<ResponseData[]> {
  return (await own.ok("GET", `/api/queues/admission-groups?pool_id=${pool}`)).data;
}

test("a backlog is leased at the throttle's rate, not in one burst", async () => {
  const throttle = { key: "item.key", limit: 10, period_s: 1, burst: 2 };
  const pool = await own.pool({ config: { admission: { throttle } } });
  await own.routeAll(many(24, pool));
  await until(
    () => own.status(pool),
    ({ ready_count }) => ready_count === 24,
  );
  const leased = await own.lease(pool, { max_items: 24 });
  assert.equal(leased.length, 3);
  leased.push(...(await own.leaseMany(pool, 21)));
  checkWindows(await Promise.all(leased.map((item) => leasedAt(pool, item))), 12, 1000);
});

test("every attempt takes a throttle token, including retries", async () => {
  const throttle = { key: "item.key", limit: 1, period_s: 3600 };
  const pool = await own.pool({ config: { admission: { throttle }, retry: { initial_ms: 1, max_ms: 1 } } });
  const { queue_item_id: id } = await own.route(pool);
  await own.fail(await own.leaseOne(pool));
  await own.itemIn(pool, id, "ready");
  assert.deepEqual(await own.lease(pool), []);
  const explained = (await own.ok("GET", `/api/queues/${pool}/items/${id}/admission-explanation`)).data;
  assert.deepEqual([explained.status, explained.constraint_kind, explained.ahead], ["ready", "throttle", 0]);
  assert.ok(Date.parse(explained.not_before) > Date.now() + 3_000_000);
});

test("with concurrent workers on two nodes, no period leases more items than a throttle allows", async (t) => {
  const other = await startService({ "auth.bootstrap_api_key": service.adminKey }, service.databaseUrl);
  t.after(() => other.stop());
  const throttle = { key: "item.key", limit: 40, period_s: 1, burst: 5 };
  const pool = await own.pool({ config: { admission: { throttle } } });
  const keys = ["a", "b", "c"];
  await own.routeAll(keys.flatMap((key) => many(100, pool, { key })));
  const leased: ResponseData[] = [];
  const tenants = [own, tenantAt(other, own)];
  await Promise.all(
    Array.from({ length: 16 }, async (_, worker) => {
      await until(async () => {
        leased.push(...(await tenants[worker % 2]!.lease(pool, { max_items: 7, wait_s: 1, lease_s: 600 })));
        return leased.length >= 300;
      });
    }),
  );
  assert.equal(new Set(leased.map(({ queue_item_id }) => queue_item_id)).size, 300);
  for (const key of keys) {
    const own = leased.filter((item) => item.key === key);
    checkWindows(await Promise.all(own.map((item) => leasedAt(pool, item))), 45, 1000);
  }
});

test("items that wait in a paused pool take no slot from another pool of the same scope", async () => {
  const config = { admission: { concurrency: { key: "'all'", limit: 2, scope: "tenant" } } };
  const [paused, working] = [await own.pool({ config }), await own.pool({ config })];
  await own.ok("POST", `/api/queues/${paused}/pause`, { reason: "test" });
  await own.routeAll(many(3, paused));
  await own.routeAll(many(3, working));
  const leased = await own.lease(working, { max_items: 3 });
  assert.equal(leased.length, 2);
  // The resumed pool gets the slots that the other one releases.
  await own.ok("POST", `/api/queues/${paused}/resume`, {});
  assert.deepEqual(await own.lease(paused), []);
  const waiting = own.leaseOne(paused, { wait_s: 20 });
  await own.complete(leased[0]);
  await own.complete(await waiting);
});

test("items that wait for a recipient without a worker take no slot from other recipients", async () => {
  const pool = await own.pool({ config: { admission: { concurrency: { key: "'all'", limit: 1 } } } });
  const [away, here] = [await own.recipient(pool), await own.recipient(pool)];
  for (const recipient_id of [away, here]) await own.route(pool, { requirements: { recipient_id } });
  const leased = await own.leaseOne(pool, { recipient_id: here });
  assert.equal(leased.recipient_id, here);
  assert.deepEqual(await own.lease(pool, { recipient_id: away }), []);
  await own.complete(leased);
  assert.equal((await own.leaseOne(pool, { recipient_id: away })).recipient_id, away);
});

test("a group with a long blocked queue does not hide the items of other groups behind it", async () => {
  for (const admission of [
    { concurrency: { key: "item.key", limit: 1 } },
    { throttle: { key: "item.key", limit: 1, period_s: 3600 } },
  ]) {
    const pool = await own.pool({ config: { admission } });
    for (let n = 0; n < 3; n++) await own.routeAll(many(1000, pool, { key: "full", priority: 1 }));
    const later = await own.routeAll(["x", "y"].map((key) => ({ pool_id: pool, type: "t", key })));
    // The first lease need not look past the blocked group.
    const leased = [await own.lease(pool, { max_items: 5 }), await own.lease(pool, { max_items: 5 })].flat();
    assert.deepEqual(leased.map(({ key }) => key).toSorted(), ["full", "x", "y"]);
    const { data } = await own.ok("GET", `/api/queues/${pool}/items/${later[1].decision.queue_item_id}`);
    assert.equal(data.state, "leased");
  }
});

test("a waiting worker gets an item as soon as a slot or token is available", async () => {
  const admission = {
    throttle: { key: "'all'", limit: 4, period_s: 1 },
    concurrency: { key: "'all'", limit: 1 },
  };
  const pool = await own.pool({ config: { admission } });
  await own.routeAll(many(4, pool));
  const times: number[] = [];
  for (let n = 0; n < 4; n++) {
    const [item] = await own.lease(pool, { wait_s: 20 });
    times.push(await leasedAt(pool, item));
    await own.complete(item);
  }
  checkWindows(times, 1, 250);
  assert.deepEqual(
    (await groupsOf(pool)).map(({ constraint_kind, in_use, waiting }) => [constraint_kind, in_use, waiting]),
    [
      ["concurrency", 0, 0],
      ["throttle", 0, 0],
    ],
  );
});

test("an expired lease releases its slot, and the first item in order gets it", async () => {
  const pool = await own.pool({ config: { admission: { concurrency: { key: "'all'", limit: 1 } } } });
  await own.route(pool);
  const lost = await own.leaseOne(pool, { lease_s: 5 });
  const urgent = await own.route(pool, { priority: 100 });
  assert.deepEqual(await own.lease(pool), []);
  const next = await own.leaseOne(pool, { wait_s: 20 });
  assert.equal(next.queue_item_id, urgent.queue_item_id);
  assert.deepEqual(await own.lease(pool), []);
  await own.complete(next);
  assert.equal((await own.leaseOne(pool)).queue_item_id, lost.queue_item_id);
});

test("a throttle with rejection applies on arrival, and workers can lease what it admitted", async () => {
  const throttle = { key: "item.key", limit: 1, period_s: 3600, burst: 2, on_limit: "reject" };
  const pool = await own.pool({ config: { admission: { throttle } } });
  const results = await own.routeAll(many(4, pool));
  assert.deepEqual(
    results.map(({ decision }) => decision.outcome),
    ["queued", "queued", "queued", "rejected"],
  );
  assert.equal((await own.lease(pool, { max_items: 9 })).length, 3);
});

const rotating = (fields: object = {}) => ({
  config: { admission: { concurrency: { key: "item.key", rotate: true, ...fields } } },
});
const keysOf = (items: readonly ResponseData[]) => items.map(({ key }) => key);

test("a key with 1,000 waiting items does not delay the items of another key beyond a rotation", async () => {
  const pool = await own.pool(rotating());
  await own.routeAll(
    Array.from({ length: 1000 }, (_, n) => ({ pool_id: pool, type: "t", key: "big", payload: { n } })),
  );
  await own.routeAll(["small", "small", "small", "small", "small", "tiny"].flatMap((key) => many(1, pool, { key })));
  const turns: ResponseData[] = [];
  for (let n = 0; n < 12; n++) turns.push(...(await own.lease(pool)));
  for (const rotation of [
    turns.slice(0, 3),
    turns.slice(3, 5),
    turns.slice(5, 7),
    turns.slice(7, 9),
    turns.slice(9, 11),
  ]) {
    assert.equal(new Set(keysOf(rotation)).size, rotation.length, keysOf(turns).join(" "));
  }
  const count = (key: string) => keysOf(turns).filter((each) => each === key).length;
  assert.deepEqual([count("small"), count("tiny")], [5, 1]);
  // Alone, a key fills a large request, in the order of the queue.
  const rest = await own.lease(pool, { max_items: 100 });
  const first = count("big");
  assert.deepEqual(
    [...turns, ...rest].filter(({ key }) => key === "big").map(({ payload }) => payload.n),
    Array.from({ length: first + 100 }, (_, n) => n),
  );
});

test("a rotation skips keys without room, shares a large request among keys, and goes by priority within a key", async () => {
  const pool = await own.pool(rotating({ limit: 2 }));
  await own.routeAll([...many(3, pool, { key: "a" }), ...many(3, pool, { key: "b" }), ...many(1, pool, { key: "c" })]);
  const { queue_item_id: urgent } = await own.route(pool, { key: "b", priority: 10 });
  const leased = await own.lease(pool, { max_items: 10 });
  assert.deepEqual(keysOf(leased).sort(), ["a", "a", "b", "b", "c"]);
  assert.ok(leased.some(({ queue_item_id }) => queue_item_id === urgent));
  assert.deepEqual(await own.lease(pool), []);
  await own.complete(leased.find(({ key }) => key === "b"));
  assert.deepEqual(keysOf(await own.lease(pool, { max_items: 10 })), ["b"]);
});

test("workers on two nodes that rotate between keys lose no item and complete each one once", async (t) => {
  const other = await startService({ "auth.bootstrap_api_key": service.adminKey }, service.databaseUrl);
  t.after(() => other.stop());
  const retry = { initial_ms: 1, max_ms: 1, max_attempts: 100 };
  const pool = await own.pool({ config: { ...rotating({ limit: 40 }).config, retry } });
  const sent = Array.from({ length: 30 }, (_, n) => many(1 + n * 2, pool, { key: `k${n}` })).flat();
  const routed = await own.routeAll(sent);
  const completed: string[] = [];
  const isDone = async () => {
    const { depth, in_flight } = await own.status(pool);
    return depth === 0 && in_flight === 0;
  };
  const worker = async (tenant: TenantFixture, max: number) => {
    for (;;) {
      const items = await tenant.lease(pool, { max_items: max });
      if (items.length === 0 && (await isDone())) return;
      for (const [n, item] of items.entries()) {
        if (item.attempt === 1 && n % 5 === 0) await tenant.fail(item);
        else if ((await tenant.complete(item)).state === "completed") completed.push(item.queue_item_id);
      }
    }
  };
  await Promise.all([own, tenantAt(other, own)].flatMap((tenant) => [1, 3, 8, 20].map((max) => worker(tenant, max))));
  assert.deepEqual(completed.sort(), routed.map(({ decision }) => decision.queue_item_id).sort());
});
