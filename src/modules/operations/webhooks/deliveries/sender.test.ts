import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  WebhookEndpoint_Status as EndpointStatus,
  WebhookDelivery_Failure as Failure,
  GetWebhookEndpointRequestSchema,
  WebhookEndpoint_DisabledReason as Reason,
  WebhookDelivery_Status as Status,
  UpdateWebhookEndpointRequestSchema,
  type WebhookEndpoint,
} from "../../../../../gen/service/api/webhook_pb.ts";
import { until } from "../../../../../test/harness/until.ts";
import { startReceiver } from "../../../../../test/webhooks/receiver.ts";
import { startWebhookFixture } from "../../../../../test/webhooks/webhook-fixture.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { limits } from "../domain/allowance.ts";
import { deliveryStore } from "./delivery-store.ts";

const fixture = await startWebhookFixture();
const receiver = await startReceiver();
await fixture.webhooks.start();

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

async function endpointOf(tenantId: TenantId, endpointId: string): Promise<WebhookEndpoint> {
  const { getWebhookEndpoint } = fixture.webhooks.handlers;
  const read = await fixture.call(tenantId, getWebhookEndpoint, GetWebhookEndpointRequestSchema, { endpointId });
  return (read as { endpoint: WebhookEndpoint }).endpoint;
}

async function eventsOf(tenantId: TenantId, type: string) {
  return fixture.sql`select subject, data from events where tenant_id = ${tenantId} and type = ${type}`;
}

const due = async () => [...(await deliveryStore(fixture.db.sql).dueEndpoints(undefined, 100))];
const nowMs = () => fixture.clock.now();
const after = (ms: number) => fixture.moveTo(new Date(nowMs() + ms));

test("a failing receiver is retried exactly on schedule, then never again; after five days it is disabled", async () => {
  const tenantId = await fixture.tenant();
  receiver.answer("/dead", 500);
  const { id } = await fixture.endpoint(tenantId, receiver.url("/dead"), { eventTypes: ["order.*"] });
  const beganMs = nowMs();
  const eventId = await fixture.publish(tenantId);
  const waits = [
    0,
    5 * secondMs,
    5 * minuteMs,
    30 * minuteMs,
    2 * hourMs,
    5 * hourMs,
    10 * hourMs,
    14 * hourMs,
    20 * hourMs,
    24 * hourMs,
  ];
  for (const [i, waitMs] of waits.entries()) {
    if (waitMs > 0) {
      await after(waitMs - 1);
      assert.deepEqual(await due(), [], `nothing is due a moment before attempt ${i + 1}`);
      await after(1);
    }
    await fixture.attempted(id, eventId, i + 1);
  }
  const times = receiver.received("/dead").map(({ headers }) => Number(headers["webhook-timestamp"]) * 1000 - beganMs);
  let elapsed = 0;
  assert.deepEqual(
    times,
    waits.map((waitMs) => (elapsed += waitMs)),
  );
  const ids = new Set(receiver.received("/dead").map(({ headers }) => headers["webhook-id"]));
  assert.equal(ids.size, 1, "the id is the same at every attempt");

  const delivery = await fixture.delivery(tenantId, id, eventId);
  assert.equal(delivery.status, Status.FAILED);
  assert.equal(delivery.attemptCount, 10);
  assert.deepEqual(
    delivery.attempts.map(({ responseStatus, failure }) => [responseStatus, failure]),
    waits.map(() => [500, Failure.STATUS]),
  );
  assert.equal(delivery.nextAttemptAt, undefined);
  await after(30 * minuteMs);
  assert.deepEqual(await due(), []);

  // After less than five days of failures it is still retried.
  assert.equal((await endpointOf(tenantId, id)).status, EndpointStatus.ACTIVE);
  await fixture.moveTo(new Date(beganMs + 5 * dayMs - 1));
  await fixture.attempted(id, await fixture.publish(tenantId), 1);
  assert.equal((await endpointOf(tenantId, id)).status, EndpointStatus.ACTIVE);
  assert.equal(timestampDate((await endpointOf(tenantId, id)).failingSince!).getTime(), beganMs);

  await after(5 * secondMs);
  await until(async () => (await endpointOf(tenantId, id)).status === EndpointStatus.DISABLED);
  const disabled = await endpointOf(tenantId, id);
  assert.equal(disabled.disabledReason, Reason.FAILING);
  assert.deepEqual(
    (await eventsOf(tenantId, "webhook.endpoint.disabled")).map(({ subject, data }) => [subject, data]),
    [[id, { reason: "failing" }]],
  );
});

test("one success restarts the five days", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, receiver.url("/flaky"));
  receiver.answer("/flaky", 503);
  await fixture.attempted(id, await fixture.publish(tenantId), 1);
  assert.notEqual((await endpointOf(tenantId, id)).failingSince, undefined);
  await after(4 * dayMs);
  receiver.answer("/flaky", 204);
  await fixture.attempted(id, await fixture.publish(tenantId), 1);
  await until(async () => (await endpointOf(tenantId, id)).failingSince === undefined);
  receiver.answer("/flaky", 503);
  await after(2 * dayMs);
  await fixture.attempted(id, await fixture.publish(tenantId), 1);
  assert.equal((await endpointOf(tenantId, id)).status, EndpointStatus.ACTIVE);
});

test("410 disables an endpoint immediately and records an event", async () => {
  const tenantId = await fixture.tenant();
  receiver.answer("/gone", 410);
  const { id } = await fixture.endpoint(tenantId, receiver.url("/gone"), { eventTypes: ["order.*"] });
  const eventId = await fixture.publish(tenantId);
  await until(async () => (await endpointOf(tenantId, id)).status === EndpointStatus.DISABLED);
  assert.equal((await endpointOf(tenantId, id)).disabledReason, Reason.GONE);
  assert.equal((await fixture.delivery(tenantId, id, eventId)).status, Status.FAILED);
  assert.deepEqual((await eventsOf(tenantId, "webhook.endpoint.disabled"))[0]!.data, { reason: "gone" });
});

test("the message is the event in CloudEvents format, and a redirect is a failure and not followed", async () => {
  const tenantId = await fixture.tenant();
  receiver.answer("/moved", (response) => response.writeHead(307, { location: receiver.url("/target") }).end());
  const { id } = await fixture.endpoint(tenantId, receiver.url("/moved"));
  const eventId = await fixture.publish(tenantId, { subject: "order-1", data: { amount: 42 } });
  await fixture.attempted(id, eventId, 1);
  const [message] = receiver.received("/moved");
  assert.equal(message!.headers["content-type"], "application/cloudevents+json");
  assert.equal(message!.headers["webhook-id"], `${eventId}_${id}`);
  assert.deepEqual(JSON.parse(message!.body), {
    specversion: "1.0",
    id: eventId,
    type: "order.paid",
    source: "/custom",
    subject: "order-1",
    time: new Date(nowMs()).toISOString(),
    datacontenttype: "application/json",
    tenantid: tenantId,
    data: { amount: 42 },
  });
  const { attempts, status } = await fixture.delivery(tenantId, id, eventId);
  assert.deepEqual([attempts[0]!.responseStatus, attempts[0]!.failure, status], [307, Failure.STATUS, Status.PENDING]);
  assert.deepEqual(receiver.received("/target"), []);
});

test("only the status of a receiver's response is stored", async () => {
  const tenantId = await fixture.tenant();
  receiver.answer("/talks", (response) => response.writeHead(500, { "x-leak": "leak-1" }).end("leak-2"));
  const { id } = await fixture.endpoint(tenantId, receiver.url("/talks"));
  const eventId = await fixture.publish(tenantId);
  await fixture.attempted(id, eventId, 1);
  const [row] =
    await fixture.sql`select to_jsonb(d)::text as text from webhook_deliveries d where event_id = ${eventId}`;
  assert.ok(!row!.text.includes("leak"));
});

test("endpoints that never respond do not delay others, regardless of their number of messages", async () => {
  const slow = await fixture.tenant();
  const open = new Set<ServerResponse>();
  let mostAtOnce = 0;
  receiver.answer("/hangs", (response) => {
    open.add(response);
    mostAtOnce = Math.max(mostAtOnce, open.size);
    response.on("close", () => open.delete(response));
  });
  for (let i = 0; i < 9; i++) await fixture.endpoint(slow, receiver.url("/hangs"));
  for (let i = 0; i < 20; i++) await fixture.publish(slow);
  await until(() => mostAtOnce === limits.tenant);

  const quick = await fixture.tenant();
  const { id } = await fixture.endpoint(quick, receiver.url("/quick"));
  const ids = [];
  for (let i = 0; i < 30; i++) ids.push(await fixture.publish(quick));
  for (const eventId of ids) await fixture.attempted(id, eventId, 1);
  assert.equal(receiver.received("/quick").length, 30);
  assert.equal(mostAtOnce, limits.tenant, "and the slow tenant never has more than its share under way");
  receiver.answer("/hangs", 200);
  for (const response of open) response.end();
});

test("deliveries that become due while an endpoint or its tenant is disabled are cancelled, not sent", async () => {
  const tenantId = await fixture.tenant();
  receiver.answer("/paused", 500);
  const { id } = await fixture.endpoint(tenantId, receiver.url("/paused"));
  const eventId = await fixture.publish(tenantId);
  await fixture.attempted(id, eventId, 1);
  const { updateWebhookEndpoint } = fixture.webhooks.handlers;
  const request = { endpointId: id, status: EndpointStatus.DISABLED };
  await fixture.call(tenantId, updateWebhookEndpoint, UpdateWebhookEndpointRequestSchema, request);
  await after(5 * secondMs);
  await until(async () => (await fixture.delivery(tenantId, id, eventId)).status === Status.CANCELLED);
  assert.equal(receiver.received("/paused").length, 1);

  const suspended = await fixture.tenant("suspended");
  const other = await fixture.endpoint(suspended, receiver.url("/suspended"));
  const waiting = await fixture.publish(suspended);
  await until(async () => {
    const [row] = await fixture.sql`select status from webhook_deliveries where event_id = ${waiting}`;
    return row?.status === "cancelled";
  });
  assert.deepEqual(receiver.received("/suspended"), []);
  assert.ok(other.id);
});

test("a delivery whose event has been deleted fails with that reason", async () => {
  const tenantId = await fixture.tenant();
  receiver.answer("/forgotten", 500);
  const { id } = await fixture.endpoint(tenantId, receiver.url("/forgotten"));
  const eventId = await fixture.publish(tenantId);
  await fixture.attempted(id, eventId, 1);
  await fixture.sql`delete from events where id = ${eventId}`;
  await after(5 * secondMs);
  await fixture.attempted(id, eventId, 2);
  const { status, attempts } = await fixture.delivery(tenantId, id, eventId);
  assert.deepEqual([status, attempts.at(-1)!.failure], [Status.FAILED, Failure.EVENT_FORGOTTEN]);
});

test("an attempt's failure is reported: connection refused, unknown host, denied address, broken response", async () => {
  const tenantId = await fixture.tenant();
  receiver.answer("/breaks", (response) => response.destroy());
  const cases: [string, Failure][] = [
    ["http://127.0.0.1:1/", Failure.CONNECT],
    ["http://nobody.invalid/", Failure.DNS],
    [receiver.url("/breaks"), Failure.CONNECTION_LOST],
    [receiver.url("/breaks").replace("http:", "https:"), Failure.TLS],
  ];
  const ids = [];
  for (const [url] of cases) ids.push((await fixture.endpoint(tenantId, url)).id);
  // Stored before the policy denied it.
  const forbidden = await fixture.endpoint(tenantId, receiver.url());
  await fixture.sql`update webhook_endpoints set url = 'http://10.0.0.1/' where id = ${forbidden.id}`;
  cases.push(["", Failure.DENIED]);
  ids.push(forbidden.id);
  const eventId = await fixture.publish(tenantId);
  for (const [i, id] of ids.entries()) {
    await fixture.attempted(id, eventId, 1);
    const { attempts } = await fixture.delivery(tenantId, id, eventId);
    assert.equal(attempts[0]!.failure, cases[i]![1], cases[i]![0]);
  }
});
