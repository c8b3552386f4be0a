import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

/** The period leaves a busy machine enough time for the calls of a burst. */
const debounced = (take: string, more: object = {}) =>
  own.pool({ config: { admission: { debounce: { key: "item.key", period_s: 5, max_delay_s: 20, take, ...more } } } });

/** Routes items with numbered payloads; returns the decisions. */
async function burst(pool: string, numbers: readonly number[], key = "k"): Promise<ResponseData[]> {
  const decisions: ResponseData[] = [];
  for (const n of numbers) decisions.push(await own.route(pool, { key, payload: { n } }));
  return decisions;
}

const preview = async (pool: string, key = "k") =>
  (await own.ok("POST", `/api/queues/${pool}:preview-admission`, { item: { type: "task", key, payload: { n: 0 } } }))
    .data;

test("with take first, the first item of a burst proceeds after the window, and the others are dropped", async () => {
  const pool = await debounced("first");
  const [first, ...others] = await burst(pool, [1]);
  const due = (await own.item(pool, first.queue_item_id)).due_at;
  const told = await preview(pool);
  others.push(...(await burst(pool, [2, 3])));
  assert.equal(first.outcome, "debounced");
  for (const { outcome, reason, queue_item_id, existing_item_id } of others) {
    assert.deepEqual([outcome, reason, queue_item_id], ["deduplicated", "debounce_deduplicated", ""]);
    assert.equal(existing_item_id, first.queue_item_id);
  }
  assert.deepEqual([told.status, told.existing_queue_item_id], ["deduplicated", first.queue_item_id]);
  assert.ok(Date.parse((await own.item(pool, first.queue_item_id)).due_at) > Date.parse(due), "the window is longer");
  assert.equal((await own.status(pool)).depth, 1);
  const leased = await own.leaseOne(pool);
  assert.deepEqual([leased.queue_item_id, leased.payload], [first.queue_item_id, { n: 1 }]);
  assert.deepEqual(await own.lease(pool), []);
});

test("with take all, the worker gets the payloads of the whole burst in their order, as they were written", async () => {
  const pool = await debounced("all");
  const [first] = await burst(pool, [1]);
  const told = await preview(pool);
  const others = await burst(pool, [2]);
  const batch = [3, 4].map((n) => ({ pool_id: pool, type: "task", key: "k", payload: { n, text: `"quoted"]}\n,{` } }));
  others.push(...(await own.routeAll(batch)).map(({ decision }) => decision));
  const another = await own.route(pool, { key: "other", payload: { n: 9 } });
  assert.deepEqual([told.status, told.existing_queue_item_id], ["debounced", first.queue_item_id]);
  for (const { outcome, reason, queue_item_id, existing_item_id } of others) {
    assert.deepEqual([outcome, reason, queue_item_id], ["debounced", "debounce_collected", ""]);
    assert.equal(existing_item_id, first.queue_item_id);
  }
  const leased = [await own.leaseOne(pool), await own.leaseOne(pool)];
  const payloads = new Map(leased.map(({ queue_item_id, payload }) => [queue_item_id, payload.payloads]));
  assert.deepEqual(payloads.get(first.queue_item_id), [{ n: 1 }, { n: 2 }, batch[0]!.payload, batch[1]!.payload]);
  assert.deepEqual(payloads.get(another.queue_item_id), [{ n: 9 }]);
});

test("with take all, many callers at once lose no payload, and a full batch is followed by the next one", async () => {
  const pool = await debounced("all", { period_s: 1 });
  const count = 250;
  const numbers = Array.from({ length: count }, (_, n) => n);
  await Promise.all(numbers.map((n) => own.route(pool, { key: "k", payload: { n } })));
  const seen: number[] = [];
  while (seen.length < count) {
    const { payload, ...leased } = await own.leaseOne(pool);
    assert.ok(payload.payloads.length <= 100, `${payload.payloads.length} payloads`);
    seen.push(...payload.payloads.map(({ n }: { n: number }) => n));
    await own.complete(leased);
  }
  assert.deepEqual(
    seen.sort((a, b) => a - b),
    numbers,
  );
});

test("with take all, a retried dead letter keeps its payloads and takes none of the next burst", async () => {
  const pool = await debounced("all", { period_s: 1, max_delay_s: 1 });
  await own.routeAll([1, 2].map((n) => ({ pool_id: pool, type: "task", key: "k", payload: { n } })));
  const failed = await own.leaseOne(pool);
  await own.fail(failed, { retryable: false });
  const [waiting] = await burst(pool, [3]);
  await own.ok("POST", `/api/dlq/${pool}/retry`, { queue_item_ids: [failed.queue_item_id] });
  const leased = [await own.leaseOne(pool), await own.leaseOne(pool)];
  const payloads = new Map(leased.map(({ queue_item_id, payload }) => [queue_item_id, payload.payloads]));
  assert.deepEqual(payloads.get(failed.queue_item_id), [{ n: 1 }, { n: 2 }]);
  assert.deepEqual(payloads.get(waiting.queue_item_id), [{ n: 3 }]);
});

test("an unknown value of take is refused", async () => {
  const config = { admission: { debounce: { key: "item.key", take: "middle" } } };
  await own.refused("INVALID_ARGUMENT", "POST", "/api/pools", { name: "taken", config });
});
