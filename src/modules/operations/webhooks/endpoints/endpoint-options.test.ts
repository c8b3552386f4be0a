import assert from "node:assert/strict";
import { before, test } from "node:test";
import { fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, ValueSchema } from "@bufbuild/protobuf/wkt";
import {
  type CreateWebhookEndpointRequestSchema,
  WebhookDelivery_Failure as Failure,
  ListEventDeliveriesRequestSchema,
  type ListEventDeliveriesResponse,
  ListWebhookDeliveriesRequestSchema,
  type ListWebhookDeliveriesResponse,
  WebhookDelivery_Status as Status,
  TestWebhookEndpointRequestSchema,
  type TestWebhookEndpointResponse,
  UpdateWebhookEndpointRequestSchema,
  type UpdateWebhookEndpointResponse,
} from "../../../../../gen/service/api/webhook_pb.ts";
import { failsWith } from "../../../../../test/harness/context.ts";
import { type Receiver, startReceiver } from "../../../../../test/webhooks/receiver.ts";
import { startWebhookFixture, type WebhookFixture } from "../../../../../test/webhooks/webhook-fixture.ts";
import type { TenantId } from "../../../../platform/access/index.ts";

type Options = MessageInitShape<typeof CreateWebhookEndpointRequestSchema>;

let fixture: WebhookFixture;
let receiver: Receiver;
before(async () => {
  [fixture, receiver] = [await startWebhookFixture(), await startReceiver()];
  await fixture.webhooks.start();
});

async function change(
  tenantId: TenantId,
  endpointId: string,
  fields: MessageInitShape<typeof UpdateWebhookEndpointRequestSchema>,
) {
  const { updateWebhookEndpoint } = fixture.webhooks.handlers;
  const request = { endpointId, ...fields };
  const updated = await fixture.call(tenantId, updateWebhookEndpoint, UpdateWebhookEndpointRequestSchema, request);
  return (updated as UpdateWebhookEndpointResponse).endpoint!;
}

async function list(
  tenantId: TenantId,
  endpointId: string,
  filter: MessageInitShape<typeof ListWebhookDeliveriesRequestSchema>,
): Promise<string[]> {
  const { listWebhookDeliveries } = fixture.webhooks.handlers;
  const request = { endpointId, ...filter };
  const page = await fixture.call(tenantId, listWebhookDeliveries, ListWebhookDeliveriesRequestSchema, request);
  return (page as ListWebhookDeliveriesResponse).deliveries.map(({ id }) => id);
}

const json = (value: JsonValue) => fromJson(ValueSchema, value);
const idsOf = (path: string): string[] => receiver.received(path).map(({ body }) => JSON.parse(body).id);

test("additional headers are sent with every message, stored sealed, never returned, and replaced as a whole", async () => {
  const tenantId = await fixture.tenant();
  const headers = { Authorization: "Bearer planted-token", "X-Shop": "berlin" };
  const { id } = await fixture.endpoint(tenantId, receiver.url("/headers"), { headers });
  await fixture.attempted(id, await fixture.publish(tenantId), 1);
  const [message] = receiver.received("/headers");
  assert.deepEqual([message!.headers.authorization, message!.headers["x-shop"]], ["Bearer planted-token", "berlin"]);
  const stored = await fixture.sql`select * from webhook_headers where id = ${id}`;
  assert.deepEqual(stored[0]!.names, ["authorization", "x-shop"]);
  assert.ok(!JSON.stringify(stored).includes("planted"));

  const replaced = await change(tenantId, id, { headers: { "x-shop": "hamburg" } });
  assert.deepEqual(replaced.headerNames, ["x-shop"]);
  await fixture.attempted(id, await fixture.publish(tenantId), 1);
  const second = receiver.received("/headers")[1]!;
  assert.deepEqual([second.headers.authorization, second.headers["x-shop"]], [undefined, "hamburg"]);
  assert.deepEqual((await change(tenantId, id, { headers: {} })).headerNames, ["x-shop"]);
  assert.deepEqual((await change(tenantId, id, { headerSet: {} })).headerNames, []);
  assert.equal((await fixture.sql`select from webhook_headers where id = ${id}`).length, 0);
});

test("headers that the service sets, or that cannot be sent, are refused", async () => {
  const tenantId = await fixture.tenant();
  const refused = async (headers: Record<string, string>, reason: RegExp) =>
    assert.rejects(fixture.endpoint(tenantId, receiver.url(), { headers }), failsWith("INVALID_ARGUMENT", reason));
  await refused({ "Webhook-Id": "1" }, /set by the service/);
  await refused({ Host: "elsewhere.example" }, /set by the service/);
  await refused({ "x y": "1" }, /not a valid header name/);
  await refused({ "x-y": "a\r\nb: c" }, /line breaks/);
  await refused({ "X-Y": "1", "x-y": "2" }, /twice/);
  assert.equal((await fixture.sql`select from webhook_endpoints where tenant_id = ${tenantId}`).length, 0);
});

test("an ordered endpoint gets events one after the other, and a failing one blocks the next", async () => {
  const tenantId = await fixture.tenant();
  let open = 0;
  let concurrent = 0;
  receiver.answer("/ordered", (response) => {
    concurrent = Math.max(concurrent, ++open);
    setTimeout(() => {
      open--;
      response.writeHead(idsOf("/ordered").length === 2 ? 500 : 200).end();
    }, 5);
  });
  const { id } = await fixture.endpoint(tenantId, receiver.url("/ordered"), {
    ...{ ordered: true, retryDelaysS: [60], eventTypes: ["order.*"] },
  });
  const events: string[] = [];
  for (let nth = 0; nth < 6; nth++) events.push(await fixture.publish(tenantId));
  await fixture.attempted(id, events[1]!, 1);
  assert.deepEqual(idsOf("/ordered"), events.slice(0, 2), "the second one fails, so the third one waits");

  // A test is sent at once.
  const { testWebhookEndpoint } = fixture.webhooks.handlers;
  const request = { endpointId: id };
  const tested = await fixture.call(tenantId, testWebhookEndpoint, TestWebhookEndpointRequestSchema, request);
  await fixture.attempted(id, (tested as TestWebhookEndpointResponse).delivery!.id, 1);
  await fixture.moveTo(new Date(fixture.clock.now() + 61_000));
  await fixture.attempted(id, events[5]!, 1);
  const received = idsOf("/ordered");
  assert.deepEqual([...received.slice(0, 2), ...received.slice(3)], [...events.slice(0, 2), ...events.slice(1)]);
  assert.equal(concurrent, 1);
});

test("an endpoint that becomes ordered sends what waits in order", async () => {
  const tenantId = await fixture.tenant();
  receiver.answer("/late-order", 503);
  const { id } = await fixture.endpoint(tenantId, receiver.url("/late-order"), {
    ...{ retryDelaysS: [60, 60], eventTypes: ["order.*"] },
  });
  const events: string[] = [];
  for (let nth = 0; nth < 5; nth++) events.push(await fixture.publish(tenantId));
  for (const event of events) await fixture.attempted(id, event, 1);
  await change(tenantId, id, { ordered: true });
  receiver.answer("/late-order", 200);
  await fixture.moveTo(new Date(fixture.clock.now() + 3 * 61_000));
  await fixture.attempted(id, events[4]!, 2);
  assert.deepEqual(idsOf("/late-order").slice(5), events);
});

test("a retry schedule replaces the default one, and the delivery fails after its last delay", async () => {
  const tenantId = await fixture.tenant();
  receiver.answer("/schedule", 500);
  const { id } = await fixture.endpoint(tenantId, receiver.url("/schedule"), { retryDelaysS: [10, 100] });
  const event = await fixture.publish(tenantId);
  for (const [attempts, delayS] of [
    [1, 10],
    [2, 100],
  ] as const) {
    await fixture.attempted(id, event, attempts);
    const { nextAttemptAt } = await fixture.delivery(tenantId, id, event);
    assert.equal(Number(nextAttemptAt!.seconds) * 1000, fixture.clock.now() + delayS * 1000);
    await fixture.moveTo(new Date(fixture.clock.now() + delayS * 1000));
  }
  await fixture.attempted(id, event, 3);
  assert.equal((await fixture.delivery(tenantId, id, event)).status, Status.FAILED);
  assert.deepEqual((await change(tenantId, id, { retryDelaysS: [20] })).retryDelaysS, [20]);
  assert.deepEqual((await change(tenantId, id, { retryDelaysS: [] })).retryDelaysS, [20]);
  assert.deepEqual((await change(tenantId, id, { retryDelaySet: {} })).retryDelaysS, []);
});

test("a template makes the body; a template that fails ends the delivery and does not count against the endpoint", async () => {
  const tenantId = await fixture.tenant();
  const transform = json({ text: "='Order ' + event.subject + ': ' + string(event.data.amount)", kind: "=event.type" });
  const { id } = await fixture.endpoint(tenantId, receiver.url("/transformed"), { transform, eventTypes: ["order.*"] });
  await fixture.attempted(id, await fixture.publish(tenantId, { subject: "4711", data: { amount: 42 } }), 1);
  const [message] = receiver.received("/transformed");
  assert.deepEqual(JSON.parse(message!.body), { text: "Order 4711: 42", kind: "order.paid" });
  assert.equal(message!.headers["content-type"], "application/json");

  const failing = await fixture.publish(tenantId, { subject: "4712" });
  await fixture.attempted(id, failing, 1);
  const delivery = await fixture.delivery(tenantId, id, failing);
  assert.deepEqual([delivery.status, delivery.attempts[0]!.failure], [Status.FAILED, Failure.TRANSFORM]);
  assert.equal((await fixture.sql`select from webhook_failures where endpoint_id = ${id}`).length, 0);

  assert.equal((await change(tenantId, id, { transform: json(null) })).transform, undefined);
  const plain = await fixture.publish(tenantId);
  await fixture.attempted(id, plain, 1);
  assert.equal(JSON.parse(receiver.received("/transformed")[1]!.body).id, plain);
});

test("a template that cannot work is refused with the position of the fault", async () => {
  const tenantId = await fixture.tenant();
  const refused = (transform: JsonValue, reason: RegExp) =>
    assert.rejects(
      fixture.endpoint(tenantId, receiver.url(), { transform: json(transform) } as Options),
      failsWith("INVALID_ARGUMENT", reason),
    );
  await refused({ text: "=event.data +" }, /transform: line 1, column/);
  await refused("=envent.data", /envent/);
  await refused("x".repeat(17_000), /16 KiB/);
});

test("the pattern * selects all events, in a creation and in a change", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, receiver.url("/any"), { eventTypes: ["*"] });
  await fixture.attempted(id, await fixture.publish(tenantId, { type: "invoice.sent" }), 1);
  assert.deepEqual((await change(tenantId, id, { eventTypes: ["order.*"] })).eventTypes, ["order.*"]);
  assert.deepEqual((await change(tenantId, id, { description: "kept" })).eventTypes, ["order.*"]);
  assert.deepEqual((await change(tenantId, id, { eventTypes: ["*"] })).eventTypes, ["*"]);
});

test("deliveries are found by type, time, status and event", async () => {
  const tenantId = await fixture.tenant();
  const { id } = await fixture.endpoint(tenantId, receiver.url("/found"), { eventTypes: ["order.*", "invoice_x.*"] });
  const other = await fixture.endpoint(tenantId, receiver.url("/found-too"), { eventTypes: ["order.paid"] });
  const paid = await fixture.publish(tenantId, { type: "order.paid" });
  await fixture.moveTo(new Date(fixture.clock.now() + 60_000));
  const border = new Date(fixture.clock.now());
  const shipped = await fixture.publish(tenantId, { type: "order.shipped" });
  const sent = await fixture.publish(tenantId, { type: "invoice_x.sent" });
  for (const event of [paid, shipped, sent]) await fixture.attempted(id, event, 1);
  assert.deepEqual(await list(tenantId, id, { eventTypes: ["order.*"] }), [shipped, paid]);
  assert.deepEqual(await list(tenantId, id, { eventTypes: ["order.shipped", "invoice_x.*"] }), [sent, shipped]);
  assert.deepEqual(await list(tenantId, id, { eventTypes: ["invoice.x*"] as string[] }), []);
  assert.deepEqual(await list(tenantId, id, { since: timestampFromDate(border) }), [sent, shipped]);
  assert.deepEqual(await list(tenantId, id, { until: timestampFromDate(border) }), [paid]);
  assert.deepEqual(await list(tenantId, id, { status: Status.SUCCEEDED }), [sent, shipped, paid]);
  assert.deepEqual(await list(tenantId, id, { status: Status.PENDING }), []);

  const { listEventDeliveries } = fixture.webhooks.handlers;
  const of = async (tenant: TenantId) => {
    const page = await fixture.call(tenant, listEventDeliveries, ListEventDeliveriesRequestSchema, { eventId: paid });
    return (page as ListEventDeliveriesResponse).deliveries.map(({ endpointId }) => endpointId);
  };
  await fixture.attempted(other.id, paid, 1);
  assert.deepEqual(await of(tenantId), [id, other.id]);
  await assert.rejects(of(await fixture.tenant()), failsWith("NOT_FOUND", /event/), "another tenant learns nothing");
});
