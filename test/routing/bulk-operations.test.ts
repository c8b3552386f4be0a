import assert from "node:assert/strict";
import { before, test } from "node:test";
import { connect } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

/** Routes items; returns their ids. */
async function fill(pool: string, count: number, fields: object = {}): Promise<string[]> {
  const items = Array.from({ length: count }, () => ({ pool_id: pool, type: "task", ...fields }));
  return (await own.routeAll(items)).map(({ decision }) => decision.queue_item_id);
}

/** Leases fail once and are retried in an hour. */
const slowRetries = { config: { retry: { initial_ms: 3_600_000, max_ms: 3_600_000 } } };

async function preview(pool: string, body: object): Promise<ResponseData> {
  return (await own.ok("POST", `/api/queues/${pool}/bulk-operations:preview`, body)).data;
}

/** Starts an operation and waits for its end. */
async function run(path: string, body: object, tenant = own): Promise<ResponseData> {
  const { id } = (await tenant.ok("POST", path, body)).data;
  return until(
    async () => (await tenant.ok("GET", `/api/bulk-operations/${id}`)).data,
    ({ state }) => state !== "queued" && state !== "running",
  );
}

const statesOf = (pool: string, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await own.item(pool, id)).state));

test("a preview counts exactly the items that the operation then changes, by every filter", async () => {
  const pool = await own.pool();
  const mails = await fill(pool, 3, { type: "mail", key: "a", attributes: { country: "de", test: true } });
  const urgent = await fill(pool, 2, { priority: 9 });
  const before = new Date(Date.now() + 1).toISOString();
  const filters = [
    [{}, 5],
    [{ type: "mail" }, 3],
    [{ key: "a" }, 3],
    [{ key: "b" }, 0],
    [{ min_priority: 9 }, 2],
    [{ max_priority: 8 }, 3],
    [{ states: ["leased", "held"] }, 0],
    [{ states: ["ready"], type: "task" }, 2],
    [{ attributes: { country: "de", test: "true" } }, 3],
    [{ attributes: { country: "fr" } }, 0],
    [{ attributes: { city: "" } }, 0],
    [{ enqueued_before: "2020-01-01T00:00:00Z" }, 0],
    [{ enqueued_after: "2020-01-01T00:00:00Z", enqueued_before: before }, 5],
  ] as const;
  for (const [filter, count] of filters) {
    const seen = await preview(pool, { action: "cancel", filter });
    assert.deepEqual([seen.count, seen.capped], [count, false], JSON.stringify(filter));
  }
  assert.deepEqual((await preview(pool, { action: "cancel" })).count_by_state, { ready: 5 });
  const path = `/api/queues/${pool}/bulk-operations`;
  const filter = { attributes: { country: "de" } };
  const done = await run(path, { action: "cancel", filter, reason: "wrong country" });
  assert.deepEqual([done.state, done.matched_count, done.changed_count, done.skipped_count], ["completed", 3, 3, 0]);
  assert.deepEqual(done.item_filter.attributes, filter.attributes);
  assert.deepEqual(await statesOf(pool, mails), ["cancelled", "cancelled", "cancelled"]);
  assert.deepEqual(await statesOf(pool, urgent), ["ready", "ready"]);
  assert.equal((await own.status(pool)).depth, 2);
  const [event] = (await own.ok("GET", `/api/events?subject=${mails[0]}&types=queue.item.cancelled`)).data;
  assert.deepEqual(event.data, { pool_id: pool, reason: "wrong country" });
});

test("more items than one batch has are cancelled, up to the maximum, oldest first, and freed places are used", async () => {
  const pool = await own.pool({ config: { admission: { singleton: { key: "item.key" } } } });
  const ids: string[] = [];
  for (let part = 0; part < 3; part++) {
    const items = Array.from({ length: 500 }, (_, n) => ({ pool_id: pool, type: "task", key: `${part}-${n}` }));
    ids.push(...(await own.routeAll(items)).map(({ decision }) => decision.queue_item_id));
  }
  const path = `/api/queues/${pool}/bulk-operations`;
  const some = await run(path, { action: "cancel", max_items: 1200 });
  assert.deepEqual([some.state, some.matched_count, some.changed_count], ["completed", 1500, 1200]);
  assert.deepEqual(await statesOf(pool, [ids[1199]!, ids[1200]!]), ["cancelled", "ready"]);
  const rest = await run(path, { action: "cancel" });
  assert.equal(rest.changed_count, 300);
  assert.equal((await own.status(pool)).depth, 0);
  assert.equal((await own.route(pool, { key: "0-0" })).outcome, "queued", "the singleton's place is free");
});

test("a requeue ends leases and back-offs without using up an attempt; the worker loses its lease", async () => {
  const pool = await own.pool(slowRetries);
  await fill(pool, 3);
  const [failed, held, last] = await own.lease(pool, { max_items: 3 });
  await own.fail(failed);
  await own.complete(last);
  const later = await own.route(pool, { not_before: "2100-01-01T00:00:00Z" });
  const seen = await preview(pool, { action: "requeue" });
  assert.deepEqual([seen.count, seen.count_by_state], [2, { leased: 1, pending: 1 }]);
  const done = await run(`/api/queues/${pool}/bulk-operations`, { action: "requeue" });
  assert.deepEqual([done.changed_count, done.skipped_count], [2, 0]);
  assert.deepEqual(await statesOf(pool, [failed.queue_item_id, held.queue_item_id]), ["ready", "ready"]);
  assert.equal((await own.item(pool, later.queue_item_id)).state, "pending", "a scheduled item stays scheduled");
  const { lease_token, queue_item_id } = held;
  const path = `/api/queues/${pool}/items/${queue_item_id}`;
  await own.refused("LEASE_LOST", "POST", `${path}/complete`, { lease_token });
  const events = (await own.ok("GET", `/api/events?subject=${queue_item_id}&types=queue.item.released`)).data;
  assert.deepEqual(events[0].data, { pool_id: pool, recipient_id: held.recipient_id, reason: "" });
  // A lease call skips an item that the search for recipients has locked.
  const again = await own.leaseMany(pool, 2);
  const attempts = new Map(again.map((item) => [item.queue_item_id, item.attempt]));
  assert.deepEqual([attempts.get(failed.queue_item_id), attempts.get(queue_item_id)], [2, 1]);
  await own.refused("INVALID_ARGUMENT", "POST", `/api/queues/${pool}/bulk-operations`, {
    action: "requeue",
    filter: { states: ["ready"] },
  });
});

test("an operator releases a leased item, which another worker gets with the same attempt", async () => {
  const pool = await own.pool({ config: { admission: { concurrency: { key: "'all'", limit: 1 } } } });
  await fill(pool, 1);
  const first = await own.leaseOne(pool);
  const path = `/api/queues/${pool}/items/${first.queue_item_id}`;
  const released = (await own.ok("POST", `${path}/release`, { reason: "the worker hangs" })).data;
  assert.deepEqual([released.state, released.recipient_id], ["ready", ""]);
  assert.equal((await own.status(pool)).depth, 1);
  await own.refused("LEASE_LOST", "POST", `${path}/complete`, { lease_token: first.lease_token });
  const second = await own.leaseOne(pool);
  assert.deepEqual([second.queue_item_id, second.attempt], [first.queue_item_id, 1]);
  await own.complete(second);
  await own.refused("FAILED_PRECONDITION", "POST", `${path}/release`, {});
  const [event] = (await own.ok("GET", `/api/events?subject=${first.queue_item_id}&types=queue.item.released`)).data;
  assert.equal(event.data.reason, "the worker hangs");
});

test("dead letters are retried by a filter, and never beyond their maximum", async () => {
  const pool = await own.pool({ config: { dlq: { max_retries: 1 } } });
  await fill(pool, 2, { type: "mail" });
  await fill(pool, 2, { type: "call" });
  const failAll = async (count: number) => {
    for (const item of await own.leaseMany(pool, count)) {
      await own.fail(item, { retryable: false, reason_code: item.type === "mail" ? "bounced" : "busy" });
    }
  };
  await failAll(4);
  const path = `/api/dlq/${pool}/bulk-operations`;
  const count = async (filter: object) => (await own.ok("POST", `${path}:preview`, { filter })).data.count;
  assert.equal(await count({}), 4);
  assert.equal(await count({ reason_code: "bounced" }), 2);
  assert.equal(await count({ type: "call", phase: "work" }), 2);
  assert.equal(await count({ failed_before: "2020-01-01T00:00:00Z" }), 0);
  const done = await run(path, { filter: { reason_code: "bounced" }, reason: "the mail server is back" });
  assert.deepEqual([done.action, done.state, done.changed_count], ["retry", "completed", 2]);
  assert.deepEqual(done.dead_letter_filter.reason_code, "bounced");
  assert.equal((await own.status(pool)).depth, 2);
  await failAll(2);
  assert.equal(await count({}), 2, "the retried ones have reached their maximum");
  assert.equal((await run(path, {})).changed_count, 2);
});

test("a preview counts and an operation changes only what is in its own pool, of items and of dead letters", async () => {
  const [pool, other] = [await own.pool(), await own.pool()];
  const failAll = async (from: string) => {
    for (const item of await own.lease(from, { max_items: 10 })) await own.fail(item, { retryable: false });
  };
  await fill(pool, 1);
  await fill(other, 2);
  await failAll(pool);
  await failAll(other);
  await fill(pool, 1);
  const untouched = await fill(other, 2);
  const stranger = await newTenant(service);
  const foreign = await stranger.pool();
  await stranger.route(foreign);

  assert.equal((await preview(pool, { action: "cancel" })).count, 1);
  assert.equal((await run(`/api/queues/${pool}/bulk-operations`, { action: "cancel" })).changed_count, 1);
  assert.deepEqual(await statesOf(other, untouched), ["ready", "ready"]);
  assert.equal((await stranger.status(foreign)).depth, 1);

  const letters = `/api/dlq/${pool}/bulk-operations`;
  assert.equal((await own.ok("POST", `${letters}:preview`, {})).data.count, 1);
  assert.equal((await run(letters, {})).changed_count, 1);
  assert.equal((await own.deadLetters(other)).length, 2);
});

test("a cancelled operation changes nothing more, and an ended one cannot be cancelled", async () => {
  const pool = await own.pool();
  await fill(pool, 1);
  const path = `/api/queues/${pool}/bulk-operations`;
  const done = await run(path, { action: "cancel" });
  await own.refused("FAILED_PRECONDITION", "POST", `/api/bulk-operations/${done.id}/cancel`, {});
  // Started and cancelled at once: it has either ended before, or changes nothing after.
  await fill(pool, 3);
  const { id } = (await own.ok("POST", path, { action: "cancel" })).data;
  const { status, body } = await own.rest.call("POST", `/api/bulk-operations/${id}/cancel`, {});
  if (status === 200) {
    assert.equal(body.data.state, "cancelled");
    const { depth } = await own.status(pool);
    assert.equal(depth, 3 - body.data.changed_count);
  } else assert.equal(body.errorCode, "FAILED_PRECONDITION");
  const listed = (await own.ok("GET", `/api/bulk-operations?pool_id=${pool}`)).data;
  assert.deepEqual(
    listed.map((each: ResponseData) => each.id),
    [id, done.id],
  );
});

test("an operation whose node dies in its last attempt has failed, and says so", async (t) => {
  const pool = await own.pool();
  await fill(pool, 2);
  const { id } = await run(`/api/queues/${pool}/bulk-operations`, { action: "cancel", max_items: 1 });
  const sql = connect(service.databaseUrl, 1);
  t.after(() => sql.end());
  // What a node leaves behind that is killed in its last attempt.
  await sql`update bulk_operations set state = 'running', max_items = 0, ended_at = null where id = ${id}`;
  await sql`
    insert into jobs (tenant_id, id, kind, payload, run_at, state, attempts, max_attempts, lease_token, lease_until, created_at)
    values (${own.id}, ${id}, 'queues.bulk_operation', ${sql.json({ operationId: id })}, now(), 'leased', 20, 20, 'dead',
      now() - interval '1 second', now())`;
  const ended = await until(
    async () => (await own.ok("GET", `/api/bulk-operations/${id}`)).data,
    ({ state }) => state !== "running",
  );
  assert.deepEqual([ended.state, ended.changed_count], ["failed", 1]);
  assert.match(ended.error, /ended in its last attempt.*Start it again/);
  assert.ok(ended.ended_at);
  assert.equal((await own.status(pool)).depth, 1, "the exhausted job changes nothing more");
  const [event] = (await own.ok("GET", `/api/events?subject=${id}&types=queue.operation.failed`)).data;
  assert.deepEqual(event.data, {
    pool_id: pool,
    action: "cancel",
    changed_count: 1,
    skipped_count: 0,
    error: ended.error,
  });
});

test("bulk operations need write access to the queue, and those of another tenant do not exist", async () => {
  const pool = await own.pool();
  await fill(pool, 1);
  const reader = await own.caller({ scopes: ["queue:read", "dlq:read"] });
  const path = `/api/queues/${pool}/bulk-operations`;
  assert.equal((await reader.call("POST", path, { action: "cancel" })).status, 403);
  assert.equal((await reader.call("POST", `/api/dlq/${pool}/bulk-operations`, {})).status, 403);
  assert.equal((await reader.call("POST", `${path}:preview`, { action: "cancel" })).status, 200);
  const { id } = await run(path, { action: "cancel" });
  const stranger = await newTenant(service);
  await stranger.refused("NOT_FOUND", "GET", `/api/bulk-operations/${id}`);
  await stranger.refused("NOT_FOUND", "POST", path, { action: "cancel" });
  assert.deepEqual((await stranger.ok("GET", "/api/bulk-operations")).data, []);
});
