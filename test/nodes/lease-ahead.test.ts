import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newTenant, type ResponseData, type TenantFixture, tenantAt } from "../routing/tenant-fixture.ts";

const settings = { "auth.bootstrap_api_key": "sk_test_ahead_0123456789abcdef" };

let database: TestDatabase;
let nodes: TestService[];
let own: TenantFixture;
/** The same tenant on each node. */
let tenants: TenantFixture[];

before(async () => {
  database = await freshDatabase();
  nodes = await Promise.all([1, 2, 3].map(() => startService(settings, database.url)));
  own = await newTenant(nodes[0]!);
  tenants = nodes.map((node) => tenantAt(node, own));
});
after(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  await database.drop();
});

async function fill(pool: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1000) {
    await own.routeAll(Array.from({ length: Math.min(left, 1000) }, () => ({ pool_id: pool, type: "task" })));
  }
}

/** An item that a worker received, and when it sent the request. */
interface Received {
  readonly item: ResponseData;
  readonly requestedAtMs: number;
}

/** Starts workers that lease a few items at a time as fast as they can, some on each node. */
function startWorkers(at: readonly TenantFixture[], pool: string, perNode: number) {
  const received: Received[] = [];
  let isOver = false;
  const work = async (tenant: TenantFixture) => {
    while (!isOver) {
      const requestedAtMs = performance.now();
      const items = await tenant.lease(pool, { max_items: 5, wait_s: 1 });
      for (const item of items) received.push({ item, requestedAtMs });
    }
  };
  const working = Promise.all(at.flatMap((tenant) => Array.from({ length: perNode }, () => work(tenant))));
  return {
    received,
    untilReceived: (count: number) =>
      until(
        () => received.length,
        (seen) => seen >= count,
      ),
    async stop() {
      isOver = true;
      await working;
    },
  };
}

/** The ids of the leased items of a pool. */
async function leasedIn(pool: string): Promise<string[]> {
  const rows = await database.sql<{ id: string }[]>`
    select id from queue_items where pool_id = ${pool} and state = 'leased'`;
  return rows.map(({ id }) => id);
}

test("three nodes drain one pool, and each item is handed out once", async () => {
  const pool = await own.pool({ config: { lease: { duration_s: 3600 } } });
  const total = 3000;
  await fill(pool, total);
  const workers = startWorkers(tenants, pool, 4);
  await workers.untilReceived(total);
  await workers.stop();
  const ids = workers.received.map(({ item }) => item.queue_item_id);
  assert.deepEqual([ids.length, new Set(ids).size], [total, total]);
  assert.ok(workers.received.every(({ item }) => item.attempt === 1));
  const { depth, in_flight, failed_today } = await own.status(pool);
  assert.deepEqual([depth, in_flight, failed_today], [0, total, 0]);
});

/** Closes the connections on which nodes listen, again and again until it is stopped. */
function cutListeners() {
  let isOver = false;
  const cutting = (async () => {
    while (!isOver) {
      await database.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query like 'listen %' and pid <> pg_backend_pid()`;
      await delay(2);
    }
  })();
  return async () => {
    isOver = true;
    await cutting;
  };
}

for (const cut of [false, true]) {
  const how = cut ? "even if signals are lost" : "and the unserved items wait again";
  test(`100 ms after a pause is acknowledged no node hands out an item, ${how}`, async () => {
    const pool = await own.pool();
    const total = 5000;
    await fill(pool, total);
    const workers = startWorkers(tenants, pool, 4);
    await workers.untilReceived(1500);
    const restore = cut ? cutListeners() : async () => {};
    const { data } = await tenants[0]!.ok("POST", `/api/queues/${pool}/pause`, {});
    const acknowledgedAtMs = performance.now();
    assert.equal(data.paused, true);
    await delay(100);
    const late = await Promise.all(tenants.map((tenant) => tenant.lease(pool, { max_items: 100 })));
    assert.deepEqual(late, [[], [], []]);
    await workers.stop();
    await restore();
    const after = workers.received.filter(({ requestedAtMs }) => requestedAtMs > acknowledgedAtMs + 100);
    assert.deepEqual(after, []);
    const status = await until(
      () => own.status(pool),
      ({ in_flight }) => in_flight === workers.received.length,
    );
    assert.equal(status.depth, total - workers.received.length);
    const [kept] = await database.sql`
      select count(*)::int as count from queue_items where pool_id = ${pool} and state = 'ready' and attempt = 0`;
    assert.equal(kept!.count, status.depth);
  });
}

test("a node that stops leaves no item leased that no worker received", async () => {
  const pool = await own.pool();
  const total = 1000;
  await fill(pool, total);
  const stopping = await startService(settings, database.url);
  const there = tenantAt(stopping, own);
  const received = new Set<string>();
  const work = async () => {
    for (;;) {
      const items = await there.lease(pool, { max_items: 1 }).catch(() => undefined);
      if (items === undefined) return;
      for (const { queue_item_id } of items) received.add(queue_item_id);
    }
  };
  const working = Promise.all(Array.from({ length: 12 }, work));
  await until(
    () => received.size,
    (size) => size >= 300,
  );
  await stopping.stop();
  await working;
  assert.deepEqual(new Set(await leasedIn(pool)), received);
  const { depth, in_flight, ready_count } = await own.status(pool);
  assert.deepEqual([depth, ready_count, in_flight], [total - received.size, total - received.size, received.size]);
});
