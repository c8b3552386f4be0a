import assert from "node:assert/strict";
import { before, test } from "node:test";
import { connect } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { checkWindows } from "./lease-checks.ts";
import { newTenant, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

const many = (count: number, pool: string, fields: object = {}) =>
  Array.from({ length: count }, () => ({ pool_id: pool, type: "t", ...fields }));

/** Creates a dead letter from an item; returns its id. */
async function deadLetter(pool: string, fields: object = {}): Promise<string> {
  const { queue_item_id: id } = await own.route(pool, fields);
  await own.fail(await own.leaseOne(pool), { retryable: false });
  await own.itemIn(pool, id, "dead_lettered");
  return id;
}

const retry = async (pool: string, ...ids: string[]) =>
  (await own.ok("POST", `/api/dlq/${pool}/retry`, { queue_item_ids: ids })).data;
const retryAll = async (pool: string) => (await own.ok("POST", `/api/dlq/${pool}/retry-all`, {})).data;

test("a dead letter is not retried while its singleton slot is taken, and stays a dead letter", async () => {
  const pool = await own.pool({ config: { admission: { singleton: { key: "item.key" } } } });
  const id = await deadLetter(pool, { key: "k" });
  const holder = await own.route(pool, { key: "k" });
  assert.equal(holder.outcome, "queued");
  const { retried_count, skipped } = await retry(pool, id);
  assert.equal(retried_count, 0);
  assert.deepEqual(skipped, [{ queue_item_id: id, reason: "deduplicated" }]);
  const all = await retryAll(pool);
  assert.deepEqual([all.retried_count, all.remaining_count], [0, 1]);
  assert.equal((await own.item(pool, id)).state, "dead_lettered");
  assert.equal((await own.lease(pool, { max_items: 9 })).length, 1);
});

test("the dead letters of one singleton group are retried one at a time", async () => {
  const pool = await own.pool({ config: { admission: { singleton: { key: "item.key" } } } });
  const ids = [await deadLetter(pool, { key: "k" }), await deadLetter(pool, { key: "k" })];
  assert.deepEqual((await retry(pool, ...ids)).skipped, [{ queue_item_id: ids[1], reason: "deduplicated" }]);
  const leased = await own.leaseMany(pool, 1, { max_items: 9 });
  assert.deepEqual(
    leased.map(({ queue_item_id }) => queue_item_id),
    [ids[0]],
  );
  // It holds the slot, so a new item of the group is rejected.
  assert.equal((await own.route(pool, { key: "k" })).outcome, "deduplicated");
  await own.complete(leased[0]);
  assert.equal((await retryAll(pool)).retried_count, 1);
  assert.equal((await own.leaseOne(pool)).queue_item_id, ids[1]);
});

test("a retried dead letter supersedes the item in its singleton slot", async () => {
  const admission = { singleton: { key: "item.key", mode: "replace_pending" } };
  const pool = await own.pool({ config: { admission } });
  const id = await deadLetter(pool, { key: "k" });
  const waiting = await own.route(pool, { key: "k" });
  assert.equal((await retry(pool, id)).retried_count, 1);
  const { state, survivor_id } = await own.item(pool, waiting.queue_item_id);
  assert.deepEqual([state, survivor_id], ["superseded", id]);
  assert.equal((await own.status(pool)).depth, 1);
  assert.equal((await own.leaseOne(pool)).queue_item_id, id);
});

test("retried dead letters are leased at the throttle's rate", async () => {
  const pool = await own.pool({ config: { dlq: { max_retries: 5 } } });
  for (const { queue_item_id } of await (async () => {
    await own.routeAll(many(30, pool));
    const leased = await own.lease(pool, { max_items: 30 });
    for (const item of leased) await own.fail(item, { retryable: false });
    return leased;
  })())
    await own.itemIn(pool, queue_item_id, "dead_lettered");
  const throttle = { key: "item.type", limit: 20, period_s: 1, burst: 4 };
  await own.ok("PATCH", `/api/pools/${pool}`, { config: { admission: { throttle } } });
  assert.equal((await retryAll(pool)).retried_count, 30);
  // The search for recipients may have locked some items at this moment, so the first lease may return fewer than five.
  const leased = await own.lease(pool, { max_items: 30, wait_s: 5 });
  assert.ok(leased.length > 0 && leased.length <= 5, `${leased.length} items were leased at once`);
  leased.push(...(await own.leaseMany(pool, 30 - leased.length)));
  const times = await Promise.all(
    leased.map(async ({ queue_item_id }) => Date.parse((await own.item(pool, queue_item_id)).leased_at)),
  );
  checkWindows(times, 24, 1000);
});

test("a throttle that rejects new items leaves dead letters unchanged, with the reason", async () => {
  const throttle = { key: "item.type", limit: 1, period_s: 3600, on_limit: "reject" };
  const pool = await own.pool({ config: { admission: { throttle } } });
  const id = await deadLetter(pool);
  assert.deepEqual((await retry(pool, id)).skipped, [{ queue_item_id: id, reason: "rejected" }]);
  assert.equal((await own.item(pool, id)).state, "dead_lettered");
});

test("a retried dead letter waits in its debounce window, and the last item of the window proceeds", async () => {
  const pool = await own.pool({});
  const id = await deadLetter(pool, { key: "doc" });
  const debounce = { key: "item.key", period_s: 600, max_delay_s: 600 };
  await own.ok("PATCH", `/api/pools/${pool}`, { config: { admission: { debounce } } });
  assert.equal((await retry(pool, id)).retried_count, 1);
  const { state, hold_reason } = await own.item(pool, id);
  assert.deepEqual([state, hold_reason], ["held", "debounce"]);
  const next = await own.route(pool, { key: "doc" });
  assert.deepEqual((await own.item(pool, id)).survivor_id, next.queue_item_id);
});

test("retried dead letters never exceed their concurrency limit", async () => {
  const pool = await own.pool({ config: { admission: { concurrency: { key: "item.type", limit: 2 } } } });
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) ids.push(await deadLetter(pool));
  assert.equal((await retry(pool, ...ids)).retried_count, 4);
  for (let round = 0; round < 2; round++) {
    // A lease call skips an item that the search for recipients has locked.
    const leased = await own.leaseMany(pool, 2, { max_items: 9 });
    assert.equal(leased.length, 2);
    assert.deepEqual(await own.lease(pool, { max_items: 9 }), []);
    for (const item of leased) await own.complete(item);
  }
});

test("retry-all of a pool with constraints requeues 500 letters per call, and reports how many remain", async () => {
  const pool = await own.pool();
  await own.routeAll(many(620, pool));
  const leased = await own.lease(pool, { max_items: 620 });
  const refs = leased.map(({ queue_item_id, lease_token }) => ({ queue_item_id, lease_token }));
  await own.ok("POST", `/api/queues/${pool}/items:fail`, { items: refs, retryable: false });
  const concurrency = { key: "item.type", limit: 10 };
  await own.ok("PATCH", `/api/pools/${pool}`, { config: { admission: { concurrency } } });
  const counts: number[][] = [];
  for (let nth = 0; nth < 3; nth++) {
    const { retried_count, remaining_count } = await retryAll(pool);
    counts.push([retried_count, remaining_count]);
  }
  assert.deepEqual(counts, [
    [500, 120],
    [120, 0],
    [0, 0],
  ]);
  assert.equal((await own.status(pool)).depth, 620);
});

test("retry-all gets past any number of older letters that the constraints block", async () => {
  const pool = await own.pool();
  const item = (key: string) => ({ pool_id: pool, type: "task", key, payload: {} });
  await own.routeAll(Array.from({ length: 510 }, (_, nth) => item(nth < 505 ? "busy" : `free ${nth}`)));
  const leased = await own.lease(pool, { max_items: 510 });
  const refs = leased.map(({ queue_item_id, lease_token }) => ({ queue_item_id, lease_token }));
  await own.ok("POST", `/api/queues/${pool}/items:fail`, { items: refs, retryable: false });
  await own.ok("PATCH", `/api/pools/${pool}`, { config: { admission: { singleton: { key: "item.key" } } } });
  await own.routeAll([item("busy")]);
  const { retried_count, remaining_count } = await retryAll(pool);
  assert.deepEqual([retried_count, remaining_count], [5, 505]);
});

test("a retry that ends work which has just taken the singleton slot also releases that work's concurrency slot", async (t) => {
  const pool = await own.pool({
    config: {
      admission: {
        singleton: { key: "item.key", mode: "cancel_running" },
        concurrency: { key: "item.attributes.c", limit: 1 },
      },
    },
  });
  const id = await deadLetter(pool, { key: "k", attributes: { c: "letter" } });
  const first = await own.route(pool, { key: "k", attributes: { c: "first" } });
  const second = await own.route(pool, { key: "other", attributes: { c: "second" } });
  const leased = await own.lease(pool, { max_items: 2 });
  assert.equal(leased.length, 2);

  const sql = connect(service.databaseUrl, 2);
  t.after(() => sql.end());
  // The slot moves from the first to the second item after the retry has read its owner, and before it can lock the
  // slot.
  let retried: ReturnType<typeof retry> | undefined;
  await sql.begin(async (tx) => {
    const [group] = await tx<{ group_id: string }[]>`
      select group_id from admission_groups where kind = 'singleton' and item_id = ${first.queue_item_id} for update`;
    const { group_id } = group!;
    retried = retry(pool, id);
    await until(
      () => sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      (waiting) => waiting.length > 0,
    );
    await tx`update queue_items set singleton_group = ${group_id} where id = ${second.queue_item_id}`;
    await tx`update admission_groups set item_id = ${second.queue_item_id} where kind = 'singleton' and group_id = ${group_id}`;
  });
  assert.equal((await retried!).retried_count, 1);
  assert.equal((await own.item(pool, second.queue_item_id)).state, "cancelled");
  const next = await own.route(pool, { key: "third", attributes: { c: "second" } });
  await until(
    () => own.lease(pool, { max_items: 9 }),
    (items) => items.some(({ queue_item_id }) => queue_item_id === next.queue_item_id),
    10_000,
  );
});
