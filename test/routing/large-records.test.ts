import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { create, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { ListQueueItemsRequestSchema } from "../../gen/service/api/queue_pb.ts";
import { RouteBatchRequestSchema } from "../../gen/service/api/routing_pb.ts";
import { startWatchedNode, type WatchedNode } from "../harness/loop-lateness.ts";
import { freshDatabase, type TestDatabase } from "../harness/postgres.ts";
import { startService } from "../harness/service.ts";
import { newTenant, type ResponseData, type TenantFixture } from "./tenant-fixture.ts";

let node: WatchedNode;
let tenant: TenantFixture;
let poolId: string;

/** Runs an attack and checks that other callers of the node hardly notice it. */
function withoutStall(name: string, attack: () => Promise<unknown>): Promise<void> {
  return node.assertServesDuring(attack, (measured) => console.log(`${name}: ${measured}`));
}

/** Calls an operation in the binary format of Connect; returns the size of the response. */
async function callBinary(procedure: string, body: Uint8Array): Promise<number> {
  const response = await fetch(`${node.baseUrl}/service.api.${procedure}`, {
    method: "POST",
    headers: { "x-api-key": tenant.key, "content-type": "application/proto" },
    body,
  });
  const bytes = await response.bytes();
  assert.equal(response.status, 200, Buffer.from(bytes).toString());
  return bytes.length;
}

const times = (count: number, call: () => Promise<unknown>) => Promise.all(Array.from({ length: count }, call));

describe("large records", { timeout: 600_000 }, () => {
  let database: TestDatabase;

  /** Copies each row of a table, so that the watched node need not create them all. */
  async function copyRows(table: "queue_items" | "events", copies: number): Promise<void> {
    const { sql } = database;
    await sql`
      insert into ${sql(table)}
      select (jsonb_populate_record(r, jsonb_build_object('id', left((r).id, 21) || lpad(nth::text, 5, '0')))).* from (
        select r, row_number() over () as nth from ${sql(table)} r, generate_series(1, ${copies}::int)
        where r.tenant_id = ${tenant.id}
      ) copied`;
  }

  before(async () => {
    database = await freshDatabase();
  });
  // Each attack meets a node of its own, because a process keeps memory that it had once.
  beforeEach(async () => {
    node = await startWatchedNode({
      "database.url": database.url,
      "auth.bootstrap_api_key": "sk_test_large_0123456789abcdef",
    });
    tenant = await newTenant(node);
    poolId = await tenant.pool({ strategy: "first_accept" });
  });
  afterEach(() => node.kill());
  after(() => database.drop());

  async function addLargeItems(): Promise<void> {
    const payloads = [{ text: "x".repeat(250_000) }, { list: Array.from({ length: 15_000 }, () => "x".repeat(12)) }];
    await tenant.routeAll(payloads.map((payload) => ({ pool_id: poolId, type: "task", payload })));
    await copyRows("queue_items", 500);
  }

  test("lists of large items stall nobody", async () => {
    await addLargeItems();
    const path = `/api/queues/${poolId}/items?limit=1000&state=ready`;
    await withoutStall("items", () => times(6, () => tenant.ok("GET", path)));
    const { data, has_more, total } = await tenant.ok("GET", path);
    assert.ok(data.length >= 7 && data.length < 10, `${data.length} items`);
    assert.deepEqual([has_more, total], [true, 1002]);
  });

  test("leases of large items stall nobody, and leave the rest ready", async () => {
    await addLargeItems();
    await withoutStall("lease", () => times(6, () => tenant.lease(poolId, { max_items: 1000, lease_s: 600 })));
    const leased = await tenant.lease(poolId, { max_items: 1000 });
    assert.ok(leased.length > 1 && leased.length < 12, `${leased.length} items`);
  });

  const list = Array.from({ length: 230 }, (_, n) => `value-${n}`);

  test("batches of 1,000 items of 3 KB, and lists of them, stall nobody", async () => {
    const batch = (payload: JsonObject) =>
      Array.from({ length: 1000 }, () => ({ pool_id: poolId, type: "task", payload }));
    const dryRun = { items: batch({ list }), dry_run: true };
    await withoutStall("batch", () => tenant.routeAll(batch({ text: "x".repeat(3000) })));
    await withoutStall("batch of small values", () => tenant.routeAll(batch({ list })));
    await withoutStall("dry run", () => tenant.ok("POST", "/api/route:batch", dryRun));
    await withoutStall("items of 3 KB", () => tenant.ok("GET", `/api/queues/${poolId}/items?limit=1000`));
    await withoutStall("decisions", () => tenant.ok("GET", "/api/decisions?limit=1000"));
  });

  test("the same calls in the binary format stall nobody", async () => {
    const batch = (dryRun: boolean) => {
      const items = Array.from({ length: 1000 }, () => ({ poolId, type: "task", payload: { list } }));
      return toBinary(RouteBatchRequestSchema, create(RouteBatchRequestSchema, { items, dryRun }));
    };
    const page = create(ListQueueItemsRequestSchema, { poolId, pageSize: 1000 });
    await withoutStall("batch", () => callBinary("RoutingService/RouteBatch", batch(false)));
    await withoutStall("dry run", () => callBinary("RoutingService/RouteBatch", batch(true)));
    await withoutStall("items of 3 KB", () =>
      callBinary("QueueService/ListQueueItems", toBinary(ListQueueItemsRequestSchema, page)),
    );
  });

  test("a string of 4 MB stalls nobody", async () => {
    const call = (text: string) =>
      fetch(`${node.baseUrl}/api/route`, {
        method: "POST",
        headers: { "x-api-key": tenant.key, "content-type": "application/json" },
        body: `{"pool_id":"${poolId}","type":"${text}"}`,
      });
    await withoutStall("string", () => call("x".repeat(4_100_000)));
    await withoutStall("escaped string", () => call("\\u00e9".repeat(680_000)));
  });

  test("events of 60 KB stall nobody", async () => {
    await tenant.ok("POST", "/api/events", { type: "order.paid", source: "shop", data: { text: "x".repeat(60_000) } });
    await database.sql`delete from events where type <> 'order.paid'`;
    await copyRows("events", 1000);
    await withoutStall("events", () => times(4, () => tenant.ok("GET", "/api/events?limit=1000")));
  });
});

test("a list of items with large results ends early, and its cursor continues", async () => {
  const tenant = await newTenant(await startService());
  const poolId = await tenant.pool({ strategy: "first_accept" });
  await tenant.routeAll(Array.from({ length: 50 }, () => ({ pool_id: poolId, type: "task" })));
  const result = "x".repeat(60_000);
  const completed = (await tenant.lease(poolId, { max_items: 50 })).map(({ queue_item_id, lease_token }) => ({
    queue_item_id,
    lease_token,
    result,
  }));
  for (const half of [completed.slice(0, 25), completed.slice(25)]) {
    await tenant.ok("POST", `/api/queues/${poolId}/items:complete`, { items: half });
  }
  const seen: string[] = [];
  for (let cursor = "", pages = 0; pages === 0 || cursor !== ""; pages++) {
    const page = await tenant.ok("GET", `/api/queues/${poolId}/items?limit=1000&cursor=${cursor}`);
    assert.ok(page.data.length < 40, `${page.data.length} items`);
    for (const item of page.data) assert.equal(item.result, result);
    seen.push(...page.data.map((item: ResponseData) => item.id));
    cursor = page.next_cursor;
  }
  assert.deepEqual(new Set(seen), new Set(completed.map(({ queue_item_id }) => queue_item_id)));
  assert.equal(seen.length, 50);
});
