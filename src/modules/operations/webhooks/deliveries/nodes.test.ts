import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { WebhookDelivery_Status as Status } from "../../../../../gen/service/api/webhook_pb.ts";
import { until } from "../../../../../test/harness/until.ts";
import { startReceiver } from "../../../../../test/webhooks/receiver.ts";
import { startRig } from "../../../../../test/webhooks/rig.ts";
import { deliveryStore } from "./delivery-store.ts";

const rig = await startRig();
const receiver = await startReceiver();

test("several nodes share the work, and each message is sent once", async () => {
  const nodes = [rig.node(), rig.node(), rig.node()];
  for (const node of nodes) await node.start();
  const tenants = [await rig.tenant(), await rig.tenant()];
  const paths = ["/a", "/b", "/c", "/d"];
  for (const [i, path] of paths.entries())
    await rig.endpoint(tenants[i % 2]!, receiver.url(path), { eventTypes: ["order.*"] });
  const published = new Map(tenants.map((tenantId) => [tenantId, [] as string[]]));
  await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const tenantId = tenants[i % 2]!;
      published.get(tenantId)!.push(await rig.publish(tenantId));
    }),
  );
  await until(() => receiver.received().length >= 400);
  await until(async () => {
    const [row] = await rig.sql`select count(*)::int as n from webhook_deliveries where status <> 'succeeded'`;
    return row!.n === 0;
  });
  for (const [i, path] of paths.entries()) {
    const got = receiver.received(path).map(({ body }) => JSON.parse(body).id);
    assert.deepEqual(got.sort(), published.get(tenants[i % 2]!)!.toSorted(), path);
  }
  for (const node of nodes) await node.stop();
});

test("another node sends the delivery of a crashed node after its lease expires, with the same id", async () => {
  const tenantId = await rig.tenant();
  const { id } = await rig.endpoint(tenantId, receiver.url("/orphan"));
  const eventId = await rig.publish(tenantId);
  // A node leases the delivery and crashes.
  const store = deliveryStore(rig.db.sql);
  await store.insert(tenantId, [{ endpointId: id, eventId, eventType: "order.paid" }]);
  const endpoint = { tenantId, endpointId: id, count: 1 };
  const [leased] = await store.lease([endpoint], "dead", 60_000);
  assert.equal(leased!.eventId, eventId);
  assert.deepEqual([...(await store.lease([endpoint], "other", 60_000))], []);

  const node = rig.node();
  await node.start();
  await rig.moveTo(new Date(rig.clock.now() + 60_000));
  await rig.attempted(id, eventId, 1);
  assert.deepEqual(
    receiver.received("/orphan").map(({ headers }) => headers["webhook-id"]),
    [`${eventId}_${id}`],
  );
  // The crashed node comes back and reports a failure, which is ignored.
  const attempt = { at: new Date().toISOString(), duration_ms: 1, response_status: 500, failure: "status" } as const;
  await store.settle([{ delivery: leased!, status: "failed", waitMs: 0, attempt }]);
  const delivery = await rig.delivery(tenantId, id, eventId);
  assert.deepEqual([delivery.status, delivery.attemptCount], [Status.SUCCEEDED, 1]);
  await node.stop();
});

test("a stopping node releases its deliveries, and they are sent again with the same id", async () => {
  const tenantId = await rig.tenant();
  const open: ServerResponse[] = [];
  receiver.answer("/stop", (response) => open.push(response));
  const { id } = await rig.endpoint(tenantId, receiver.url("/stop"));
  const stopping = rig.node();
  await stopping.start();
  const eventId = await rig.publish(tenantId);
  await until(() => open.length === 1);
  await stopping.stop();
  const delivery = await rig.delivery(tenantId, id, eventId);
  assert.deepEqual(
    [delivery.status, delivery.attemptCount],
    [Status.PENDING, 0],
    "an interrupted attempt does not count",
  );
  receiver.answer("/stop", 200);
  const next = rig.node();
  await next.start();
  await rig.attempted(id, eventId, 1);
  assert.equal(new Set(receiver.received("/stop").map(({ headers }) => headers["webhook-id"])).size, 1);
  await next.stop();
});

test("a response that arrives while the node stops is stored", async () => {
  const tenantId = await rig.tenant();
  const open: ServerResponse[] = [];
  receiver.answer("/last", (response) => open.push(response));
  const { id } = await rig.endpoint(tenantId, receiver.url("/last"));
  const node = rig.node();
  await node.start();
  const eventId = await rig.publish(tenantId);
  await until(() => open.length === 1);
  const stopped = node.stop();
  open[0]!.end();
  await stopped;
  assert.equal((await rig.delivery(tenantId, id, eventId)).status, Status.SUCCEEDED);
});

test("a node continues to send after temporary database errors", async () => {
  const tenantId = await rig.tenant();
  const orders = { eventTypes: ["order.*"] };
  const quick = await rig.endpoint(tenantId, receiver.url("/db-a"), orders);
  let isFailing = false;
  let failed = 0;
  const sql = new Proxy(rig.db.sql, {
    apply(target, self, args) {
      const [text] = args as [unknown];
      if (!isFailing || !Array.isArray(text) || !text.join("").includes("set lease_token")) {
        return Reflect.apply(target as never, self, args);
      }
      failed++;
      return Promise.reject(new Error("the database is away"));
    },
  });
  const node = rig.node({ db: { ...rig.db, sql } });
  await node.start();
  await rig.attempted(quick.id, await rig.publish(tenantId), 1);
  // An endpoint that the node does not know yet: the two are leased separately.
  const unknown = await rig.endpoint(tenantId, receiver.url("/db-b"), orders);
  isFailing = true;
  const eventId = await rig.publish(tenantId);
  await until(() => failed > 10);
  isFailing = false;
  await rig.attempted(quick.id, eventId, 1);
  await rig.attempted(unknown.id, eventId, 1);
  await node.stop();
});
