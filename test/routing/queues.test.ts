import assert from "node:assert/strict";
import { before, test } from "node:test";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { inEachProtocol, newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

async function fill(pool: string, count: number, fields: object = {}): Promise<string[]> {
  const items = Array.from({ length: count }, () => ({ pool_id: pool, type: "task", ...fields }));
  return (await own.routeAll(items)).map(({ decision }) => decision.queue_item_id);
}

const pause = (pool: string, reason = "") => own.ok("POST", `/api/queues/${pool}/pause`, { reason });
const resume = (pool: string) => own.ok("POST", `/api/queues/${pool}/resume`, {});

test("queues are listed with their state, optionally only the paused ones, in pages", async () => {
  const other = await newTenant(service);
  const pools = [await other.pool({ name: "a" }), await other.pool({ name: "b" }), await other.pool({ name: "c" })];
  await other.route(pools[1]!);
  await other.ok("POST", `/api/queues/${pools[2]}/pause`, { reason: "holiday" });
  const list = async (query: string) => (await other.ok("GET", `/api/queues${query}`)).data;
  const shown = (queues: ResponseData[]) =>
    queues.map(({ pool_id, pool_name, depth, paused }) => [pool_id, pool_name, depth, paused]);
  const all = [
    [pools[0], "a", 0, false],
    [pools[1], "b", 1, false],
    [pools[2], "c", 0, true],
  ];
  assert.deepEqual(shown(await list("")), all);
  assert.deepEqual(shown(await list("?paused_only=true")), [all[2]]);
  assert.deepEqual(shown(await list(`?tenant_id=${other.id}`)), all);
  await other.refused("INVALID_ARGUMENT", "GET", `/api/queues?tenant_id=${own.id}`);
  const platform = restClient(service.baseUrl, service.adminKey);
  const page = await platform.call("GET", `/api/queues?tenant_id=${other.id}&limit=2`);
  assert.deepEqual(shown(page.body.data), all.slice(0, 2), "the platform's operator sees the queues of any tenant");
  const foreignCursor = `/api/queues?limit=2&cursor=${encodeURIComponent(page.body.next_cursor)}`;
  assert.equal((await platform.call("GET", foreignCursor)).status, 400, "a cursor belongs to its tenant");
  const first = await other.ok("GET", "/api/queues?limit=2");
  assert.deepEqual([shown(first.data), first.total, first.has_more], [all.slice(0, 2), 3, true]);
  assert.deepEqual(shown(await list(`?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`)), all.slice(2));
  await other.ok("POST", `/api/queues/${pools[2]}/resume`, {});
  assert.deepEqual(await list("?paused_only=true"), []);
  await other.ok("DELETE", `/api/pools/${pools[0]}`);
  assert.deepEqual(shown(await list("")), [all[1], [pools[2], "c", 0, false]]);
});

test("a queue's status reports its depth, leased items, oldest age, waiting times and completed items", async () => {
  const pool = await own.pool({ config: { retry: { initial_ms: 3_600_000, max_ms: 3_600_000 } } });
  const zeros = { depth: 0, ready_count: 0, in_flight: 0, oldest_age_s: 0, average_wait_s: 0, throughput_today: 0 };
  const part = (status: ResponseData, names: object) =>
    Object.fromEntries(Object.keys(names).map((name) => [name, status[name]]));
  assert.deepEqual(part(await own.status(pool), zeros), zeros);
  const items = await fill(pool, 8);
  await own.route(pool, { not_before: new Date(Date.now() + 3_600_000).toISOString() });
  const leased = await own.lease(pool, { max_items: 5 });
  const [done, alsoDone, failed] = leased;
  await own.complete(done);
  await own.complete(alsoDone);
  await own.fail(failed);
  const enqueuedAtMs = Date.parse((await own.item(pool, items[2]!)).enqueued_at);
  const earliestMs = Date.now();
  const [status] = await inEachProtocol(service, own, "QueueService/GetQueueStatus", { pool_id: pool });
  const latestMs = Date.now();
  const expected = {
    depth: 5,
    ready_count: 3,
    in_flight: 2,
    throughput_today: 2,
    accepted_today: 9,
    failed_today: 1,
    paused: false,
  };
  assert.deepEqual(part(status!.data, expected), expected);
  // The item whose attempt failed waits again, and is the oldest.
  const { oldest_age_s, average_wait_s } = status!.data;
  assert.ok(oldest_age_s >= (earliestMs - enqueuedAtMs) / 1000 && oldest_age_s <= (latestMs - enqueuedAtMs) / 1000);
  const waits = [];
  for (const { queue_item_id } of leased) {
    const { enqueued_at, leased_at } = await own.item(pool, queue_item_id);
    waits.push(Date.parse(leased_at) - Date.parse(enqueued_at));
  }
  const meanS = waits.reduce((sum, wait) => sum + wait, 0) / waits.length / 1000;
  assert.ok(Math.abs(average_wait_s - meanS) < 0.003, `${average_wait_s} is not ${meanS}`);
});

test("totals are the sums of all queues that the caller may see, whatever their number, and so are the counts of dead letters", async () => {
  const other = await newTenant(service);
  const config = { retry: { max_attempts: 1 } };
  const { data: environments } = await other.ok("GET", "/api/v2/environments");
  const staging = environments.find(({ key }: ResponseData) => key === "staging").id;
  const [full, busy, paused] = [await other.pool({ config }), await other.pool({ config }), await other.pool()];
  const hidden = await other.pool({ config, environment_id: staging });
  await other.routeAll([full, full, full, busy, busy, busy, hidden].map((pool_id) => ({ pool_id, type: "task" })));
  for (const pool of [busy, hidden]) await other.fail(await other.leaseOne(pool));
  await other.complete(await other.leaseOne(busy));
  await other.leaseOne(full);
  await other.ok("POST", `/api/queues/${paused}/pause`, {});
  await other.ok("DELETE", `/api/pools/${await other.pool()}`);

  const expected = {
    ...{ queue_count: 4, paused_count: 1, depth: 3, in_flight: 1 },
    ...{ accepted_today: 7, completed_today: 1, failed_today: 2 },
  };
  const part = (totals: ResponseData) => Object.fromEntries(Object.keys(expected).map((name) => [name, totals[name]]));
  const { data } = await other.ok("GET", "/api/queues:totals");
  assert.deepEqual(part(data), expected);
  assert.ok(data.oldest_age_s > 0);
  const fullest = data.fullest.map(({ pool_id, depth }: ResponseData) => [pool_id, depth]);
  assert.deepEqual(fullest, [
    [full, 2],
    [busy, 1],
  ]);
  assert.equal((await other.ok("GET", "/api/dlq/-/stats")).data.depth, 2);
  const live = await other.caller({ scopes: ["queue:read", "dlq:read"], environment_mode: "production_only" });
  const seen = (await live.call("GET", "/api/queues:totals")).body.data;
  assert.deepEqual(part(seen), { ...expected, queue_count: 3, accepted_today: 6, failed_today: 1 });
  assert.equal((await live.call("GET", "/api/dlq/-/stats")).body.data.depth, 1);

  // Each of them can be narrowed to an environment, by its id or its key, and not beyond what the caller may see.
  const letterPools = async (query: string, caller = other.rest) =>
    (await caller.call("GET", `/api/dlq/-?${query}`)).body.data.map(({ pool_id }: ResponseData) => pool_id);
  const eventPools = async (query: string, caller = other.rest) =>
    (await caller.call("GET", `/api/events?types=pool.created&${query}`)).body.data.map(
      ({ subject }: ResponseData) => subject,
    );
  for (const chosen of [staging, "staging"]) {
    const query = `environment_id=${chosen}`;
    const own = (await other.ok("GET", `/api/queues:totals?${query}`)).data;
    assert.deepEqual([own.queue_count, own.accepted_today, own.failed_today], [1, 1, 1], chosen);
    assert.equal((await other.ok("GET", `/api/dlq/-/stats?${query}`)).data.depth, 1);
    assert.equal((await other.ok("GET", `/api/dlq/${busy}/stats?${query}`)).data.depth, 0);
    assert.deepEqual(await letterPools(query), [hidden]);
    assert.deepEqual(await eventPools(query), [hidden]);
    assert.equal((await live.call("GET", `/api/queues:totals?${query}`)).body.errorCode, "PERMISSION_DENIED");
    assert.deepEqual(await letterPools(query, live), []);
  }
  assert.deepEqual(await letterPools("environment_id=production"), [busy]);
  assert.deepEqual(await eventPools("environment_id=none"), []);
  const audit = await other.caller({ scopes: ["event:read"], environment_mode: "production_only" });
  assert.deepEqual(await eventPools("environment_id=staging", audit), []);

  const stranger = await newTenant(service);
  assert.deepEqual(await eventPools(`environment_id=${staging}`, stranger.rest), []);
  assert.equal((await stranger.ok("GET", "/api/queues:totals")).data.queue_count, 0);
  assert.equal((await stranger.ok("GET", "/api/dlq/-/stats")).data.depth, 0);
});

test("a paused queue accepts items and leases none; a resumed one leases immediately", async () => {
  const pool = await own.pool();
  const [first] = await fill(pool, 1);
  const [begun] = await own.lease(pool);
  const { data } = await pause(pool, "deploying");
  assert.deepEqual([data.paused, data.pause_reason], [true, "deploying"]);
  assert.match(data.paused_by, /\S/);
  const again = await pause(pool, "still");
  assert.deepEqual([again.data.paused_at, again.data.pause_reason], [data.paused_at, "still"]);
  const [second] = await fill(pool, 1);
  assert.equal((await own.status(pool)).depth, 1);
  assert.deepEqual(await own.lease(pool), []);
  assert.deepEqual(await own.lease(pool, { wait_s: 1 }), []);
  // Leased items continue.
  assert.equal((await own.complete(begun)).queue_item_id, first);
  const waiting = own.lease(pool, { wait_s: 20 });
  const resumed = await resume(pool);
  assert.deepEqual([resumed.data.paused, resumed.data.paused_by, resumed.data.paused_at], [false, "", undefined]);
  assert.equal((await waiting)[0].queue_item_id, second);
  const { data: events } = await own.ok("GET", `/api/events?types=queue.paused&types=queue.resumed&subject=${pool}`);
  assert.deepEqual(
    new Set(events.map(({ type, data: told }: ResponseData) => `${type} ${told.reason}`)),
    new Set(["queue.paused deploying", "queue.paused still", "queue.resumed "]),
  );
});

test("a queue that is paused for a time resumes by itself, with an event; a pause without an end replaces one with an end", async () => {
  const [pool, kept] = [await own.pool(), await own.pool()];
  const { queue_item_id } = await own.route(pool);
  const pause = async (id: string, body: object) => (await own.ok("POST", `/api/queues/${id}/pause`, body)).data;
  await pause(kept, { for_s: 1 });
  assert.equal((await pause(kept, { reason: "longer" })).paused_until, undefined);
  const paused = await pause(pool, { reason: "deploying", for_s: 1 });
  assert.equal(Date.parse(paused.paused_until), Date.parse(paused.paused_at) + 1000);
  assert.equal((await own.leaseOne(pool)).queue_item_id, queue_item_id);
  const leasedAt = Date.parse((await own.item(pool, queue_item_id)).leased_at);
  assert.ok(leasedAt >= Date.parse(paused.paused_until), "nothing is leased before");
  const status = await own.status(pool);
  assert.deepEqual([status.paused, status.pause_reason, status.paused_until], [false, "", undefined]);
  const { data: events } = await own.ok("GET", `/api/events?types=queue.paused&types=queue.resumed&subject=${pool}`);
  assert.deepEqual(
    new Set(events.map(({ type, data }: ResponseData) => `${type} ${data.reason} ${data.until ?? ""}`)),
    new Set([`queue.paused deploying ${new Date(paused.paused_until).toISOString()}`, "queue.resumed pause_ended "]),
  );
  assert.equal((await own.status(kept)).paused, true);
  await own.refused("INVALID_ARGUMENT", "POST", `/api/queues/${pool}/pause`, { for_s: -1 });
});

test("only admins pause, resume and drain; an operator works with items, a viewer reads", async () => {
  const pool = await own.pool();
  const [id] = await fill(pool, 1);
  const operator = await own.caller({ roles: ["operator"] });
  const viewer = await own.caller({ roles: ["viewer"] });
  // All scopes together do not replace the admin role.
  const scoped = await own.caller({ scopes: ["*:*"] });
  for (const [verb, body] of [
    ["pause", {}],
    ["resume", {}],
    ["drain", { max_items: 1 }],
  ] as const) {
    for (const caller of [operator, viewer, scoped]) {
      const response = await caller.call("POST", `/api/queues/${pool}/${verb}`, body);
      assert.deepEqual([response.status, response.body.errorCode], [403, "PERMISSION_DENIED"], verb);
    }
  }
  const status = await own.status(pool);
  assert.deepEqual([status.paused, status.depth], [false, 1]);
  assert.equal((await viewer.call("GET", `/api/queues/${pool}/status`)).status, 200);
  assert.equal((await viewer.call("POST", `/api/queues/${pool}/lease`, {})).status, 403);
  assert.equal((await viewer.call("POST", "/api/route", { pool_id: pool, type: "t" })).status, 403);
  assert.equal((await operator.call("POST", `/api/queues/${pool}/items/${id}/cancel`, {})).status, 200);
  const service = await own.caller({ roles: ["service"] });
  assert.equal((await service.call("POST", "/api/route", { pool_id: pool, type: "t" })).status, 200);
  assert.equal((await service.call("POST", `/api/queues/${pool}/lease`, {})).body.data.items.length, 1);
  assert.equal((await service.call("POST", `/api/queues/${pool}/items/${id}/cancel`, {})).status, 403);
});

test("draining removes a number of the oldest waiting items without processing them, and reports how many remain", async () => {
  const pool = await own.pool();
  const items = await fill(pool, 12);
  const later = (await own.route(pool, { not_before: new Date(Date.now() + 3_600_000).toISOString() })).queue_item_id;
  const [begun] = await own.lease(pool);
  const drain = async (max_items: number) =>
    (await own.ok("POST", `/api/queues/${pool}/drain`, { max_items, reason: "old" })).data;
  assert.deepEqual(await drain(5), { drained_count: 5, remaining_depth: 7 });
  for (const id of items.slice(1, 6)) {
    const { state, ended_at } = await own.item(pool, id);
    assert.deepEqual([state, ended_at !== undefined], ["drained", true]);
  }
  assert.equal((await own.item(pool, items[6]!)).state, "ready");
  assert.deepEqual(await drain(100_000), { drained_count: 7, remaining_depth: 0 });
  assert.equal((await own.item(pool, later)).state, "drained");
  assert.deepEqual(await drain(1), { drained_count: 0, remaining_depth: 0 });
  assert.equal((await own.complete(begun)).state, "completed");
  assert.equal((await own.status(pool)).depth, 0);
  for (const max_items of [0, 100_001]) {
    await own.refused("INVALID_ARGUMENT", "POST", `/api/queues/${pool}/drain`, { max_items });
  }
  const { data: events } = await own.ok("GET", `/api/events?types=queue.drained&subject=${pool}`);
  assert.deepEqual(events.map(({ data }: ResponseData) => data.count).toSorted(), [5, 7]);
});

test("draining thousands of items takes as many batches as needed, and releases their slots", async () => {
  const admission = { concurrency: { key: "'all'", limit: 2 } };
  const pool = await own.pool({ config: { admission } });
  for (let n = 0; n < 3; n++) await fill(pool, 1000);
  const { data } = await own.ok("POST", `/api/queues/${pool}/drain`, { max_items: 2500 });
  assert.deepEqual(data, { drained_count: 2500, remaining_depth: 500 });
  assert.equal((await own.lease(pool, { max_items: 9 })).length, 2);
  assert.equal((await own.status(pool)).depth, 498);
});

test("a queue's items are listed by state and recipient, newest first, in pages", async () => {
  const pool = await own.pool();
  const [one, two] = [await own.recipient(pool), await own.recipient(pool)];
  const forOne = await fill(pool, 3, { requirements: { recipient_id: one } });
  const forTwo = await fill(pool, 2, { requirements: { recipient_id: two } });
  await own.lease(pool, { recipient_id: two, max_items: 1 });
  const list = (query: string) => own.ok("GET", `/api/queues/${pool}/items${query}`);
  const ids = ({ data }: ResponseData) => data.map(({ id }: ResponseData) => id);
  const newestFirst = [...forOne, ...forTwo].reverse();
  assert.deepEqual(ids(await list("")), newestFirst);
  assert.deepEqual(ids(await list(`?recipient_id=${one}`)), forOne.toReversed());
  assert.deepEqual(ids(await list("?state=leased")), [forTwo[0]]);
  assert.deepEqual(ids(await list(`?state=ready&recipient_id=${two}`)), [forTwo[1]]);
  const first = await list("?limit=2");
  assert.deepEqual([ids(first), first.total], [newestFirst.slice(0, 2), 5]);
  await fill(pool, 1);
  assert.deepEqual(ids(await list(`?limit=9&cursor=${encodeURIComponent(first.next_cursor)}`)), newestFirst.slice(2));
  await own.refused("INVALID_ARGUMENT", "GET", `/api/queues/${pool}/items?state=lost`);
  await own.refused("NOT_FOUND", "GET", `/api/queues/${pool}/items/01ARZ3NDEKTSV4RRFFQ69G5FAV`);
});

test("concurrent drains each remove their number while items remain", async () => {
  const pool = await own.pool();
  await fill(pool, 1000);
  const drains = await Promise.all(
    Array.from({ length: 6 }, () => own.ok("POST", `/api/queues/${pool}/drain`, { max_items: 150 })),
  );
  assert.deepEqual(
    drains.map(({ data }) => data.drained_count),
    Array(6).fill(150),
  );
  const rest = await Promise.all([1, 2].map(() => own.ok("POST", `/api/queues/${pool}/drain`, { max_items: 150 })));
  assert.deepEqual(new Set(rest.map(({ data }) => data.drained_count)), new Set([100, 0]));
  assert.equal((await own.status(pool)).depth, 0);
});
