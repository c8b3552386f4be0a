import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture, tenantAt } from "./tenant-fixture.ts";

let database: TestDatabase;
let service: TestService;
let own: TenantFixture;
/** The same tenant on another node. */
let elsewhere: TenantFixture;
before(async () => {
  database = await freshDatabase();
  const settings = { "auth.bootstrap_api_key": "sk_test_handing_0123456789abcdef" };
  service = await startService(settings, database.url);
  const other = await startService(settings, database.url);
  own = await newTenant(service);
  elsewhere = tenantAt(other, own);
  stops.push(service.stop, other.stop);
});
const stops: (() => Promise<void>)[] = [];
after(async () => {
  for (const stop of stops) await stop();
  await database.drop();
});

const ids = (items: readonly ResponseData[]) => items.map(({ queue_item_id }) => queue_item_id);

for (const at of ["the same node", "another node"]) {
  test(`a waiting worker is woken when an item arrives at ${at}`, async () => {
    const pool = await own.pool();
    const router = at === "the same node" ? own : elsewhere;
    const medianDelayMs = async () => {
      const delaysMs: number[] = [];
      for (let round = 0; round < 11; round++) {
        const waiting = own.lease(pool, { wait_s: 20 });
        const { queue_item_id } = await router.route(pool);
        const routedAtMs = performance.now();
        assert.deepEqual(ids(await waiting), [queue_item_id]);
        delaysMs.push(performance.now() - routedAtMs);
      }
      return delaysMs.sort((a, b) => a - b)[5]!;
    };
    // Workers also poll once a second, so without a wake-up most responses would be that late. On a busy machine, woken
    // workers may also be late for a while.
    await until(medianDelayMs, (median) => median < 600);
  });
}

test("a worker gets an empty response when its wait is over", async () => {
  const pool = await own.pool();
  const startedAtMs = performance.now();
  assert.deepEqual(await own.lease(pool, { wait_s: 1 }), []);
  assert.ok(performance.now() - startedAtMs >= 990);
});

test("a worker that names its recipient gets only that recipient's items", async () => {
  const pool = await own.pool();
  const [one, two] = [await own.recipient(pool), await own.recipient(pool)];
  const given = async (recipient_id: string) =>
    (await own.route(pool, { requirements: { recipient_id } })).queue_item_id;
  const [a, b, c] = [await given(one), await given(two), await given(one)];
  assert.deepEqual(ids(await own.lease(pool, { recipient_id: two, max_items: 9 })), [b]);
  assert.deepEqual(ids(await elsewhere.lease(pool, { recipient_id: one, max_items: 9 })), [a, c]);
});

test("a recipient never exceeds its capacity, with any number of workers and nodes", async () => {
  const pool = await own.pool({ strategy: "manual" });
  const recipient = await own.recipient(pool, { capacity: 5 });
  const results = await own.routeAll(Array.from({ length: 20 }, () => ({ pool_id: pool, type: "t" })));
  for (const { decision } of results) {
    await own.ok("POST", `/api/queues/${pool}/items/${decision.queue_item_id}/assign`, { recipient_id: recipient });
  }
  let open: ResponseData[] = [];
  let done = 0;
  while (done < 20) {
    const leased = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        (n % 2 === 0 ? own : elsewhere).lease(pool, { recipient_id: recipient, max_items: 1 + (n % 5) }),
      ),
    );
    open.push(...leased.flat());
    assert.equal(open.length, Math.min(5, 20 - done));
    assert.equal((await own.ok("GET", `/api/recipients/${recipient}`)).data.in_flight, open.length);
    const ended = open.slice(0, 2);
    for (const item of ended) await own.complete(item);
    open = open.slice(2);
    done += ended.length;
  }
});

test("first_accept: the first eligible worker gets an item, and an ineligible recipient gets none", async () => {
  const pool = await own.pool({ strategy: "first_accept" });
  const [able, unable] = [
    await own.recipient(pool, { skills: { law: 3 }, capacity: 2 }),
    await own.recipient(pool, { skills: { law: 1 } }),
  ];
  const items = [];
  for (let n = 0; n < 3; n++) {
    const { outcome, reason, queue_item_id } = await own.route(pool, { requirements: { skills: { law: 2 } } });
    assert.deepEqual([outcome, reason], ["queued", "awaiting_acceptance"]);
    items.push(queue_item_id);
  }
  assert.deepEqual(ids(await own.lease(pool, { recipient_id: unable, max_items: 9 })), []);
  // The other node has never seen the pool; its first response must be correct too.
  const taken = await elsewhere.lease(pool, { recipient_id: able, max_items: 9 });
  assert.deepEqual(ids(taken), items.slice(0, 2));
  assert.deepEqual([...new Set(taken.map(({ recipient_id }) => recipient_id))], [able]);
  assert.deepEqual(await own.lease(pool, { recipient_id: able, max_items: 9 }), []);
  for (const item of taken) await own.complete(item);
  const last = await own.leaseOne(pool, { recipient_id: able });
  assert.equal(last.queue_item_id, items[2]);
});

test("first_accept: with concurrent workers each item has one recipient", async () => {
  const pool = await own.pool({ strategy: "first_accept" });
  const recipients: string[] = [];
  for (let n = 0; n < 6; n++) recipients.push(await own.recipient(pool));
  const results = await own.routeAll(Array.from({ length: 30 }, () => ({ pool_id: pool, type: "t" })));
  const taken: string[] = [];
  await until(async () => {
    const leased = await Promise.all(
      recipients.map((id, n) =>
        (n % 2 === 0 ? own : elsewhere).lease(pool, { recipient_id: id, max_items: 3, wait_s: 1 }),
      ),
    );
    return taken.push(...ids(leased.flat())) >= 30;
  });
  assert.deepEqual(taken.toSorted(), results.map(({ decision }) => decision.queue_item_id).toSorted());
});

test("manual: an item has no recipient until it is assigned, and then goes only to that recipient", async () => {
  const pool = await own.pool({ strategy: "manual" });
  const [chosen, other] = [await own.recipient(pool), await own.recipient(pool)];
  const { outcome, reason, queue_item_id: id } = await own.route(pool);
  assert.deepEqual([outcome, reason], ["queued", "awaiting_assignment"]);
  for (const recipient_id of ["", chosen, other]) assert.deepEqual(await own.lease(pool, { recipient_id }), []);
  const assign = `/api/queues/${pool}/items/${id}/assign`;
  await own.refused("NOT_FOUND", "POST", assign, { recipient_id: "nobody" });
  await own.ok("POST", `/api/recipients/${chosen}/pause`, {});
  await own.refused("FAILED_PRECONDITION", "POST", assign, { recipient_id: chosen });
  await own.ok("POST", `/api/recipients/${chosen}/resume`, {});
  const { data } = await own.ok("POST", assign, { recipient_id: chosen });
  assert.deepEqual([data.state, data.recipient_id], ["ready", chosen]);
  assert.deepEqual(await own.lease(pool, { recipient_id: other }), []);
  const [leased] = await own.lease(pool, { recipient_id: chosen });
  assert.equal(leased.queue_item_id, id);
  await own.refused("FAILED_PRECONDITION", "POST", assign, { recipient_id: other });
  await own.complete(leased);
});

test("an assigned item waits for a concurrency slot like any other", async () => {
  const pool = await own.pool({
    strategy: "manual",
    config: { admission: { concurrency: { key: "item.key", limit: 1 } } },
  });
  const recipient = await own.recipient(pool);
  const [first, second] = [await own.route(pool, { key: "k" }), await own.route(pool, { key: "k" })];
  const assign = async ({ queue_item_id }: ResponseData) =>
    (await own.ok("POST", `/api/queues/${pool}/items/${queue_item_id}/assign`, { recipient_id: recipient })).data;
  for (const item of [second, first]) assert.equal((await assign(item)).state, "ready");
  const leased = await own.lease(pool, { max_items: 9, recipient_id: recipient });
  assert.deepEqual(ids(leased), [first.queue_item_id]);
  await own.complete(leased[0]);
  assert.equal((await own.leaseOne(pool, { recipient_id: recipient })).queue_item_id, second.queue_item_id);
});

test("higher priority goes first, but items that have waited long enough go before it", async () => {
  const pool = await own.pool({ config: { queue: { ageing_s: 1 } } });
  const old = await own.route(pool);
  await until(() => Date.now() > Date.parse(old.decided_at) + 1050);
  const results = await own.routeAll([-3, 1, 0, 900].map((priority) => ({ pool_id: pool, type: "t", priority })));
  const [low, high, plain, highest] = results.map(({ decision }) => decision.queue_item_id);
  const leased = await own.lease(pool, { max_items: 9 });
  assert.deepEqual(ids(leased), [highest, old.queue_item_id, high, plain, low]);
});

test("an item with precedence goes first even when it arrives while others are leased one by one", async () => {
  const pool = await own.pool({ config: { retry: { initial_ms: 1, max_ms: 1, jitter: 0 } } });
  await own.routeAll(Array.from({ length: 100 }, () => ({ pool_id: pool, type: "t" })));
  const first = await own.leaseOne(pool);
  const isUrgentNext = async () => {
    await own.leaseOne(pool);
    const urgent = await own.route(pool, { priority: 100 });
    return (await own.leaseOne(pool)).queue_item_id === urgent.queue_item_id;
  };
  // A busy node passes the entries of ended items less often, so leases may begin behind the head of the queue for a second.
  for (let round = 0; round < 3; round++) await until(isUrgentNext, Boolean);
  // A retried item keeps its age.
  await own.fail(first);
  // The search for recipients, which locks the waiting items, is over.
  await until(
    () => own.item(pool, first.queue_item_id),
    ({ state, assignment }) => state === "ready" && assignment !== undefined,
  );
  assert.deepEqual(ids(await own.lease(pool)), [first.queue_item_id]);
});

test("an item is not leased before its scheduled time", async () => {
  const pool = await own.pool();
  // Long enough to check the item before that time, even on a busy machine.
  const not_before = new Date(Date.now() + 4000).toISOString();
  const { queue_item_id, due_at } = await own.route(pool, { not_before });
  const waiting = await own.item(pool, queue_item_id);
  assert.deepEqual([waiting.state, waiting.hold_reason, due_at], ["pending", "not_before", not_before]);
  assert.deepEqual(await own.lease(pool), []);
  assert.equal((await own.leaseOne(pool)).queue_item_id, queue_item_id);
  const { leased_at } = await own.item(pool, queue_item_id);
  assert.ok(Date.parse(leased_at) >= Date.parse(not_before), `${leased_at} is before ${not_before}`);
});

test("an item past its maximum wait expires and is not leased any more", async () => {
  const pool = await own.pool();
  const { queue_item_id: id, decided_at } = await own.route(pool, { ttl_s: 1 });
  const { queue_item_id: lasting } = await own.route(pool, { ttl_s: 3600 });
  const { expires_at } = await own.item(pool, id);
  assert.equal(Date.parse(expires_at), Date.parse(decided_at) + 1000);
  await until(() => Date.now() > Date.parse(expires_at) + 5);
  assert.deepEqual(ids(await own.lease(pool, { max_items: 9 })), [lasting]);
  assert.equal((await own.itemIn(pool, id, "expired")).survivor_id, "");
  assert.equal((await own.status(pool)).depth, 0);
  const { data: events } = await own.ok("GET", `/api/events?types=queue.item.expired&subject=${id}`);
  assert.deepEqual(
    events.map(({ data }: ResponseData) => data),
    [{ pool_id: pool }],
  );
});

test("an item is retried by another recipient when its own is paused meanwhile", async () => {
  const pool = await own.pool({ config: { retry: { initial_ms: 1, max_ms: 1 } } });
  const [first, second] = [await own.recipient(pool), await own.recipient(pool)];
  const { queue_item_id } = await own.route(pool, { attributes: { to: 1 } });
  const leased = await own.leaseOne(pool);
  const [had, other] = leased.recipient_id === first ? [first, second] : [second, first];
  await own.ok("POST", `/api/recipients/${had}/pause`, {});
  await own.fail(leased);
  const again = await own.leaseOne(pool, { recipient_id: other });
  assert.deepEqual([again.queue_item_id, again.recipient_id], [queue_item_id, other]);
});

test("waiting items of a recipient that is paused, removed or offline go to others; leased items stay", async () => {
  const away: ((id: string) => Promise<unknown>)[] = [
    (id) => own.ok("POST", `/api/recipients/${id}/pause`, {}),
    (id) => own.ok("DELETE", `/api/recipients/${id}`),
    (id) => own.ok("PATCH", `/api/recipients/${id}`, { status: "STATUS_OFFLINE" }),
  ];
  for (const leave of away) {
    const pool = await own.pool();
    const leaver = await own.recipient(pool);
    await own.route(pool);
    const [begun] = await own.lease(pool, { recipient_id: leaver });
    const { queue_item_id, recipient_id } = await own.route(pool);
    assert.equal(recipient_id, leaver);
    const stayer = await own.recipient(pool);
    await leave(leaver);
    if (leave !== away[1]) assert.deepEqual(await own.lease(pool, { recipient_id: leaver }), []);
    assert.equal((await own.leaseOne(pool, { recipient_id: stayer })).queue_item_id, queue_item_id);
    assert.equal((await own.complete(begun)).state, "completed");
  }
});
