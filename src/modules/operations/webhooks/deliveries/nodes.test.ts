import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { WebhookDelivery_Status as Status } from "../../../../../gen/service/api/webhook_pb.ts";
import { until } from "../../../../../test/harness/until.ts";
import { startReceiver } from "../../../../../test/webhooks/receiver.ts";
import { startWebhookFixture } from "../../../../../test/webhooks/webhook-fixture.ts";
import { deliveryStore } from "./delivery-store.ts";

const fixture = await startWebhookFixture();
const receiver = await startReceiver();

test("several nodes share the work, and each message is sent once", async () => {
  const nodes = [fixture.node(), fixture.node(), fixture.node()];
  for (const node of nodes) await node.start();
  const tenants = [await fixture.tenant(), await fixture.tenant()];
  const paths = ["/a", "/b", "/c", "/d"];
  for (const [i, path] of paths.entries())
    await fixture.endpoint(tenants[i % 2]!, receiver.url(path), { eventTypes: ["order.*"] });
  const published = new Map(tenants.map((tenantId) => [tenantId, [] as string[]]));
  await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const tenantId = tenants[i % 2]!;
      published.get(tenantId)!.push(await fixture.publish(tenantId));
    }),
  );
  await until(() => receiver.received().length >= 400);
  await until(async () => {
    const [row] = await fixture.sql`select count(*)::int as n from webhook_deliveries where status <> 'succeeded'`;
    return row!.n === 0;
  });
  for (const [i, path] of paths.entries()) {
    const got = receiver.received(path).map(({ body }) => JSON.parse(body).id);
    assert.deepEqual(got.sort(), published.get(tenants[i % 2]!)!.toSorted(), path);
  }
  for (const node of nodes) await node.stop();
});

test("another node sends the delivery of a crashed node after its lease expires, with the same id", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, receiver.url("/orphan"));
  const eventId = await fixture.publish(tenantId);
  // A node leases the delivery and crashes.
  const store = deliveryStore(fixture.db.sql);
  await store.insert(tenantId, [{ endpointId: id, eventId, eventType: "order.paid" }]);
  const endpoint = { tenantId, endpointId: id, count: 1 };
  const [leased] = await store.lease([endpoint], "dead", 60_000);
  assert.equal(leased!.eventId, eventId);
  assert.deepEqual([...(await store.lease([endpoint], "other", 60_000))], []);

  const node = fixture.node();
  await node.start();
  await fixture.moveTo(new Date(fixture.clock.now() + 60_000));
  await fixture.attempted(id, eventId, 1);
  assert.deepEqual(
    receiver.received("/orphan").map(({ headers }) => headers["webhook-id"]),
    [`${eventId}_${id}`],
  );
  // The crashed node comes back and reports a failure, which is ignored.
  const attempt = { at: new Date().toISOString(), duration_ms: 1, response_status: 500, failure: "status" } as const;
  await store.settle([{ delivery: leased!, status: "failed", waitMs: 0, attempt }]);
  const delivery = await fixture.delivery(tenantId, id, eventId);
  assert.deepEqual([delivery.status, delivery.attemptCount], [Status.SUCCEEDED, 1]);
  await node.stop();
});

test("a stopping node releases its deliveries, and they are sent again with the same id", async () => {
  const tenantId = await fixture.tenant();
  const open: ServerResponse[] = [];
  receiver.answer("/stop", (response) => open.push(response));
  const { id } = await fixture.endpoint(tenantId, receiver.url("/stop"));
  const stopping = fixture.node();
  await stopping.start();
  const eventId = await fixture.publish(tenantId);
  await until(() => open.length === 1);
  await stopping.stop();
  const delivery = await fixture.delivery(tenantId, id, eventId);
  assert.deepEqual(
    [delivery.status, delivery.attemptCount],
    [Status.PENDING, 0],
    "an interrupted attempt does not count",
  );
  receiver.answer("/stop", 200);
  const next = fixture.node();
  await next.start();
  await fixture.attempted(id, eventId, 1);
  assert.equal(new Set(receiver.received("/stop").map(({ headers }) => headers["webhook-id"])).size, 1);
  await next.stop();
});

test("a response that arrives while the node stops is stored", async () => {
  const tenantId = await fixture.tenant();
  const open: ServerResponse[] = [];
  receiver.answer("/last", (response) => open.push(response));
  const { id } = await fixture.endpoint(tenantId, receiver.url("/last"));
  const node = fixture.node();
  await node.start();
  const eventId = await fixture.publish(tenantId);
  await until(() => open.length === 1);
  const stopped = node.stop();
  open[0]!.end();
  await stopped;
  assert.equal((await fixture.delivery(tenantId, id, eventId)).status, Status.SUCCEEDED);
});

test("a node continues to send after temporary database errors", async () => {
  const tenantId = await fixture.tenant();
  const orders = { eventTypes: ["order.*"] };
  const quick = await fixture.endpoint(tenantId, receiver.url("/db-a"), orders);
  let isFailing = false;
  let failed = 0;
  const sql = new Proxy(fixture.db.sql, {
    apply(target, self, args) {
      const [text] = args as [unknown];
      if (!isFailing || !Array.isArray(text) || !text.join("").includes("set lease_token")) {
        return Reflect.apply(target as never, self, args);
      }
      failed++;
      return Promise.reject(new Error("the database is away"));
    },
  });
  const node = fixture.node({ db: { ...fixture.db, sql } });
  await node.start();
  await fixture.attempted(quick.id, await fixture.publish(tenantId), 1);
  // An endpoint that the node does not know yet: the two are leased separately.
  const unknown = await fixture.endpoint(tenantId, receiver.url("/db-b"), orders);
  isFailing = true;
  const eventId = await fixture.publish(tenantId);
  await until(() => failed > 10);
  isFailing = false;
  await fixture.attempted(quick.id, eventId, 1);
  await fixture.attempted(unknown.id, eventId, 1);
  await node.stop();
});
