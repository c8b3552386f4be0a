import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { inEachProtocol, newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let service: TestService;
let own: TenantFixture;
before(async () => {
  service = await startService();
  own = await newTenant(service);
});

const itemPath = (pool: string, id: string) => `/api/queues/${pool}/items/${id}`;
const ref = ({ queue_item_id, lease_token }: ResponseData) => ({ queue_item_id, lease_token });

/** A pool with leased items. */
async function leasedItems(count: number, fields: object = {}): Promise<{ pool: string; items: ResponseData[] }> {
  const pool = await own.pool(fields);
  await own.routeAll(Array.from({ length: count }, () => ({ pool_id: pool, type: "task" })));
  return { pool, items: await own.leaseMany(pool, count) };
}

const resultOf = async (pool: string, id: string) => (await own.item(pool, id)).result;

test("every way to complete an item takes its result, and the ended item has it", async () => {
  const { pool, items } = await leasedItems(8);
  const values = [{ a: [1, "ü\n", null] }, "text", 0, false, null, [], { nested: { n: 1e3 } }];
  const [single, first, second, third, fourth, fifth, keyed, none] = items;
  await own.ok("POST", `${itemPath(pool, single.queue_item_id)}/complete`, { ...ref(single), result: values[0] });
  const batch = [first, second, third].map((item, at) => ({ ...ref(item), result: values[at + 1] }));
  await own.ok("POST", `/api/queues/${pool}/items:complete`, { items: batch });
  const completed = [fourth, fifth].map((item, at) => ({ ...ref(item), result: values[at + 4] }));
  await own.ok("POST", `/api/queues/${pool}/lease`, { completed, report_only: true });
  const headers = { "idempotency-key": "once" };
  const path = `${itemPath(pool, keyed.queue_item_id)}/complete`;
  for (let times = 0; times < 2; times++)
    await own.ok("POST", path, { lease_token: keyed.lease_token, result: values[6] }, headers);
  await own.complete(none);
  for (const [at, item] of [single, first, second, third, fourth, fifth, keyed].entries())
    assert.deepEqual(await resultOf(pool, item.queue_item_id), values[at], `item ${at}`);
  assert.equal(Object.hasOwn(await own.item(pool, none.queue_item_id), "result"), false);
  // A repeated report keeps the first result.
  await own.ok("POST", `${itemPath(pool, single.queue_item_id)}/complete`, { ...ref(single), result: "late" });
  assert.deepEqual(await resultOf(pool, single.queue_item_id), values[0]);
});

test("an item in admission groups has its result too, and lists and other protocols show it", async () => {
  const { pool, items } = await leasedItems(1, { config: { admission: { concurrency: { key: '"all"', limit: 5 } } } });
  const [item] = items;
  await own.ok("POST", `${itemPath(pool, item.queue_item_id)}/complete`, { ...ref(item), result: { ok: true } });
  const [listed] = (await own.ok("GET", `/api/queues/${pool}/items`)).data;
  assert.deepEqual(listed.result, { ok: true });
  const message = { pool_id: pool, queue_item_id: item.queue_item_id };
  for (const { data, protocol } of await inEachProtocol(service, own, "QueueService/GetQueueItem", message))
    assert.deepEqual(data.result, { ok: true }, protocol);
});

test("a result that is too large, or of a failed item, is refused and changes nothing", async () => {
  const { pool, items } = await leasedItems(2);
  const [item, other] = items;
  const large = "x".repeat(65_536);
  const single = `${itemPath(pool, item.queue_item_id)}/complete`;
  await own.refused("INVALID_ARGUMENT", "POST", single, { ...ref(item), result: large });
  const body = { completed: [{ ...ref(item), result: large }, ref(other)], report_only: true };
  const { results } = (await own.ok("POST", `/api/queues/${pool}/lease`, body)).data;
  assert.deepEqual(
    results.map((each: ResponseData) => [each.error_code, each.violations[0]?.field]),
    [
      ["INVALID_ARGUMENT", "result"],
      ["", undefined],
    ],
  );
  const failed = { items: [{ ...ref(item), result: 1 }] };
  const [refused] = (await own.ok("POST", `/api/queues/${pool}/items:fail`, failed)).data.results;
  assert.equal(refused.error_code, "INVALID_ARGUMENT");
  assert.equal((await own.item(pool, item.queue_item_id)).state, "leased");
});

test("progress is shown with the item, extends its lease and needs the lease", async () => {
  const { pool, items } = await leasedItems(1, { config: { lease: { duration_s: 60 } } });
  const [item] = items;
  const path = `${itemPath(pool, item.queue_item_id)}/progress`;
  const report = { lease_token: item.lease_token, percent: 12.5, note: "reading", lease_s: 600 };
  const { data } = await own.ok("POST", path, report);
  assert.ok(Date.parse(data.lease_expires_at) > Date.parse(item.lease_expires_at));
  const { progress, lease_expires_at } = await own.item(pool, item.queue_item_id);
  assert.deepEqual([progress.percent, progress.note, progress.attempt], [12.5, "reading", 1]);
  assert.equal(lease_expires_at, data.lease_expires_at);
  await own.refused("INVALID_ARGUMENT", "POST", path, { ...report, percent: 101 });
  await own.refused("LEASE_LOST", "POST", path, { ...report, lease_token: "0123456789abcdef01234567p1" });
  const stranger = await newTenant(service);
  await stranger.refused("NOT_FOUND", "POST", path, report);
  assert.equal((await own.item(pool, item.queue_item_id)).progress.percent, 12.5);
});

test("progress and results are sent in the events of pools that record them", async () => {
  const { pool, items } = await leasedItems(1, { config: { item_events: true } });
  const [item] = items;
  const path = itemPath(pool, item.queue_item_id);
  await own.ok("POST", `${path}/progress`, { lease_token: item.lease_token, percent: 50, note: "half" });
  await own.ok("POST", `${path}/complete`, { lease_token: item.lease_token, result: { total: 3 } });
  const events = await until(
    async () => (await own.ok("GET", "/api/events?limit=100")).data as ResponseData[],
    (seen) => seen.some(({ type }) => type === "queue.item.completed"),
  );
  const dataOf = (type: string) =>
    events.find((event) => event.type === type && event.subject === item.queue_item_id).data;
  assert.deepEqual(dataOf("queue.item.completed").result, { total: 3 });
  assert.equal(dataOf("queue.item.progress").percent, 50);
});

test("a call that waits for an item returns when it ends, whatever ends it", async () => {
  const { pool, items } = await leasedItems(3);
  const [done, cancelled, unfinished] = items;
  const waited = (id: string) => own.ok("GET", `${itemPath(pool, id)}?wait_s=20`);
  // Begun before the others, so it would be over first if the end of an item woke nobody.
  const longest = waited(unfinished.queue_item_id);
  const waits = [waited(done.queue_item_id), waited(done.queue_item_id), waited(cancelled.queue_item_id)];
  await own.ok("POST", `${itemPath(pool, done.queue_item_id)}/complete`, { ...ref(done), result: 7 });
  await own.ok("POST", `${itemPath(pool, cancelled.queue_item_id)}/cancel`, { reason: "not needed" });
  const first = await Promise.race([longest, Promise.all(waits).then(() => "woken")]);
  assert.equal(first, "woken");
  await own.complete(unfinished);
  assert.equal((await longest).data.state, "completed");
  const answers = (await Promise.all(waits)).map(({ data }) => [data.state, data.result]);
  assert.deepEqual(answers, [
    ["completed", 7],
    ["completed", 7],
    ["cancelled", undefined],
  ]);
  assert.equal((await waited(done.queue_item_id)).data.state, "completed");
});

test("a wait that is over returns the current state, and a wait needs access like a read", async () => {
  const { pool, items } = await leasedItems(1);
  const path = `${itemPath(pool, items[0].queue_item_id)}?wait_s=1`;
  assert.equal((await own.ok("GET", path)).data.state, "leased");
  await own.refused("INVALID_ARGUMENT", "GET", path.replace("=1", "=21"));
  const stranger = await newTenant(service);
  await stranger.refused("NOT_FOUND", "GET", path);
  await own.refused("NOT_FOUND", "GET", `${itemPath(pool, "01ARZ3NDEKTSV4RRFFQ69G5FAV")}?wait_s=1`);
});
