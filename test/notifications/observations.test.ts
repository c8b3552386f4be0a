import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { startReceiver } from "../routing/receiver.ts";
import { freshName, newSender, type ResponseData, type Sender, serveChannel } from "./sender-fixture.ts";

let node: TestService;
before(async () => {
  node = await startService();
});

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** A tenant that has sent a text message through a gateway with delivery callbacks. */
async function sentMessage(
  atOnce: (told: { tenantId: string; integrationId: string; messageId: string }) => unknown = () => {},
) {
  const sender = await newSender(node);
  const receiver = await startReceiver(async ({ body }) => {
    await atOnce({ tenantId: sender.id, integrationId: integration.id, messageId: JSON.parse(body).id });
    return { status: 200 };
  });
  const connection = {
    settings: { url: receiver.url, from: "S" },
    credentials: { token: "t", callback_secret: secret },
  };
  const integration: ResponseData = await serveChannel(sender, "sms", "http_sms", connection);
  const { id } = await sender.subscriber();
  const endpoint = await sender.endpoint(id, { channel: "sms", identity: "+4930901820" });
  const workflow_key = await sender.workflow({ channels: { sms: { body: "B" } } });
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: id });
  const delivery = await sender.delivery(outcomes[0].delivery_id);
  return { sender, integration, endpoint, workflow_key, subscriberId: id, delivery };
}

interface Told {
  readonly tenantId: string;
  readonly integrationId: string;
  readonly events: readonly object[];
  readonly signedWith?: string;
  readonly at?: Date;
}

async function tell({ tenantId, integrationId, events, signedWith = secret, at = new Date() }: Told) {
  const body = JSON.stringify({ events });
  const id = `msg_${freshName()}`;
  const response = await fetch(`${node.baseUrl}/callbacks/notifications/${tenantId}/${integrationId}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": new Webhook(signedWith).sign(id, at, body),
    },
    body,
  });
  return response.status;
}

/** An event in the gateway's format. */
function eventOf(messageId: string, eventId: string, more: object = {}) {
  const occurred_at = new Date().toISOString();
  return { message_id: messageId, event_id: eventId, kind: "delivered", occurred_at, ...more };
}

const seenOf = async (sender: Sender, id: string): Promise<ResponseData[]> =>
  (await sender.rest.call("GET", `/api/v2/notifications/deliveries/${id}/observations`)).body.data;

test("a signed provider event is stored once, and the delivery's state only advances", async () => {
  const { sender, integration, delivery } = await sentMessage();
  assert.equal(delivery.observation_state, "awaiting");
  const event = (kind: string, id: string) => eventOf(delivery.provider_message_id, id, { kind });
  const told = { tenantId: sender.id, integrationId: integration.id };
  assert.equal(await tell({ ...told, events: [event("delivered", "e1")] }), 204);
  assert.equal((await sender.delivery(delivery.id)).observation_state, "delivered");
  assert.equal(await tell({ ...told, events: [event("clicked", "e2"), event("delivered", "e1")] }), 204);
  assert.equal((await sender.delivery(delivery.id)).observation_state, "engaged");
  assert.equal(await tell({ ...told, events: [event("bounced", "e3"), event("opened", "e4")] }), 204);
  assert.equal((await sender.delivery(delivery.id)).observation_state, "undelivered");
  const seen = await seenOf(sender, delivery.id);
  assert.deepEqual(
    seen.map(({ sequence, kind, verification, provider_event_id }) => [
      sequence,
      kind,
      verification,
      provider_event_id,
    ]),
    [
      [1, "delivered", "signature", "e1"],
      [2, "clicked", "signature", "e2"],
      [3, "bounced", "signature", "e3"],
      [4, "opened", "signature", "e4"],
    ],
  );
});

test("a callback without a valid signature is rejected and stores nothing, whatever it names", async () => {
  const { sender, integration, delivery } = await sentMessage();
  const events = [eventOf(delivery.provider_message_id, "e")];
  const told = { tenantId: sender.id, integrationId: integration.id, events };
  const stranger = await sentMessage();
  const wrong = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
  for (const each of [
    { ...told, signedWith: wrong },
    { ...told, at: new Date(Date.now() - 3_600_000) },
    { ...told, integrationId: stranger.integration.id },
    { ...told, tenantId: stranger.sender.id },
    { ...told, integrationId: "01ARZ3NDEKTSV4RRFFQ69G5FAV" },
  ]) {
    assert.equal(await tell(each), 401);
  }
  // Another tenant's integration may name the message, without effect on it.
  assert.equal(await tell({ ...told, tenantId: stranger.sender.id, integrationId: stranger.integration.id }), 503);
  assert.deepEqual(await seenOf(sender, delivery.id), []);
  assert.equal((await sender.delivery(delivery.id)).observation_state, "awaiting");
});

test("a permanently invalid address is not used again", async () => {
  const { sender, integration, delivery, endpoint, workflow_key, subscriberId } = await sentMessage();
  const event = eventOf(delivery.provider_message_id, "e", { kind: "bounced", severity: "hard" });
  assert.equal(await tell({ tenantId: sender.id, integrationId: integration.id, events: [event] }), 204);
  assert.equal((await sender.delivery(delivery.id)).observation_state, "undelivered");
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: subscriberId });
  assert.deepEqual(
    [outcomes[0].endpoint_id, outcomes[0].outcome, outcomes[0].failure_code],
    [endpoint.id, "skipped", "suppressed"],
  );
});

for (const kind of ["unsubscribed", "complained"]) {
  test(`nothing more is sent to an endpoint whose owner has ${kind}, and others are unaffected`, async () => {
    const { sender, integration, delivery, endpoint, workflow_key, subscriberId } = await sentMessage();
    const other = await sender.endpoint(subscriberId, { channel: "sms", identity: "+4930901821" });
    const events = [eventOf(delivery.provider_message_id, "e", { kind })];
    assert.equal(await tell({ tenantId: sender.id, integrationId: integration.id, events }), 204);
    const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: subscriberId });
    assert.deepEqual(
      outcomes.map((each: ResponseData) => [each.endpoint_id, each.outcome, each.failure_phase, each.failure_code]),
      [
        [endpoint.id, "skipped", "endpoint", "suppressed"],
        [other.id, "sent", "", ""],
      ],
    );
  });

  test(`nothing more is sent to a profile's address whose owner has ${kind}, until it is set again`, async () => {
    const { sender, integration, workflow_key } = await sentMessage();
    const phone = "+4930901820";
    const { id, external_id } = await sender.subscriber({ phone });
    const send = async () => (await sender.trigger({ workflow_key, subscriber_id: id })).outcomes[0];
    const tellOf = async (deliveryId: string) => {
      const { provider_message_id } = await sender.delivery(deliveryId);
      const events = [eventOf(provider_message_id, freshName(), { kind })];
      assert.equal(await tell({ tenantId: sender.id, integrationId: integration.id, events }), 204);
    };
    const first = await send();
    await tellOf(first.delivery_id);
    const skipped = await send();
    assert.deepEqual(
      [skipped.outcome, skipped.failure_phase, skipped.failure_code],
      ["skipped", "endpoint", "suppressed"],
    );
    const path = `/api/v2/notification/subscribers/${id}`;
    const record = (await sender.rest.call("GET", path)).body.data;
    assert.ok(Date.parse(record.phone_suppressed_at) > 0);
    assert.equal(record.email_suppressed_at, undefined);
    // Setting the same address does not lift the suppression; a different address does.
    await sender.subscriber({ external_id, phone });
    assert.equal((await send()).outcome, "skipped");
    await sender.subscriber({ external_id, phone: "+4930901822" });
    assert.equal((await send()).outcome, "sent");
    // A late event about the former address does not affect the new one.
    await tellOf(first.delivery_id);
    assert.equal((await send()).outcome, "sent");
  });
}

for (const path of ["trigger", "trigger:batch"]) {
  test(`a rejection suppresses the address that was used, not one that replaces it meanwhile, after a ${path}`, async () => {
    const sender = await newSender(node);
    const [old, corrected] = ["+4930901830", "+4930901831"];
    const receiver = await startReceiver(async ({ body }) => {
      if (JSON.parse(body).to !== old) return { status: 200 };
      await sender.subscriber({ external_id, phone: corrected });
      return { status: 410 };
    });
    await serveChannel(sender, "sms", "http_sms", {
      settings: { url: receiver.url, from: "S" },
      credentials: { token: "t" },
    });
    const { id, external_id } = await sender.subscriber({ phone: old });
    const workflow_key = await sender.workflow({ channels: { sms: { body: "B" } } });
    const trigger = { workflow_key, subscriber_id: id };
    const body = path === "trigger" ? trigger : { triggers: [trigger] };
    await sender.ok("POST", `/api/v2/notifications/${path}`, body);
    await until(
      () => sender.deliveries(`subscriber_id=${id}`),
      ([delivery]) => delivery?.failure_code === "recipient_rejected",
    );
    const { data } = (await sender.rest.call("GET", "/api/v2/notification/suppressions")).body;
    assert.deepEqual(
      data.map(({ identity }: ResponseData) => identity),
      [old],
    );
    assert.equal((await sender.trigger(trigger)).outcomes[0].outcome, "sent");
  });
}

test("a message that bounced temporarily and arrived later is delivered, and a later permanent bounce overrides it", async () => {
  const { sender, integration, delivery } = await sentMessage();
  const after = async (kind: string, more: object = {}) => {
    const events = [eventOf(delivery.provider_message_id, freshName(), { kind, ...more })];
    assert.equal(await tell({ tenantId: sender.id, integrationId: integration.id, events }), 204);
    return (await sender.delivery(delivery.id)).observation_state;
  };
  assert.equal(await after("bounced", { severity: "soft" }), "undelivered");
  assert.equal(await after("delivered"), "delivered");
  assert.equal(await after("bounced", { severity: "soft" }), "delivered");
  assert.equal(await after("bounced", { severity: "hard" }), "undelivered");
  assert.equal(await after("delivered"), "undelivered");
});

test("an event that arrives before the send is recorded is requested again, and stored then", async () => {
  const early: number[] = [];
  const { sender, delivery, integration } = await sentMessage(async ({ messageId, ...told }) => {
    early.push(await tell({ ...told, events: [eventOf(messageId, "e1")] }));
  });
  assert.deepEqual(early, [503]);
  assert.deepEqual(await seenOf(sender, delivery.id), []);
  const told = { tenantId: sender.id, integrationId: integration.id };
  assert.equal(await tell({ ...told, events: [eventOf(delivery.provider_message_id, "e1")] }), 204);
  assert.equal((await sender.delivery(delivery.id)).observation_state, "delivered");
});

test("in a list of events, known ones are stored immediately and once; events of unknown messages are dropped after a while", async () => {
  const { sender, delivery, integration } = await sentMessage();
  const told = { tenantId: sender.id, integrationId: integration.id };
  const known = eventOf(delivery.provider_message_id, "e1");
  const minutesAway = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
  for (let time = 0; time < 2; time++) {
    assert.equal(await tell({ ...told, events: [known, eventOf("never-sent", "e2")] }), 503);
    assert.equal((await seenOf(sender, delivery.id)).length, 1);
  }
  for (const minutes of [-3, 3]) {
    const unknown = eventOf("never-sent", "e2", { occurred_at: minutesAway(minutes) });
    assert.equal(await tell({ ...told, events: [known, unknown] }), 204);
  }
  assert.equal((await seenOf(sender, delivery.id)).length, 1);
});

test("a valid callback that cannot be stored is rejected completely as malformed", async () => {
  const { sender, delivery, integration } = await sentMessage();
  const told = { tenantId: sender.id, integrationId: integration.id };
  const event = (more: object) => eventOf(delivery.provider_message_id, freshName(), more);
  for (const malformed of [
    { attributes: { reason: "a\u0000b" } },
    { attributes: { "\ud800": "half of a pair" } },
    { occurred_at: "+275760-09-13T00:00:00Z" },
    { occurred_at: "-200000-01-01T00:00:00Z" },
    { event_id: "e".repeat(300) },
    { kind: "constructor" },
  ]) {
    assert.equal(await tell({ ...told, events: [event({}), event(malformed)] }), 400, JSON.stringify(malformed));
  }
  assert.deepEqual(await seenOf(sender, delivery.id), []);
});

test("no events are accepted for a suspended or deleted tenant", async () => {
  const { sender, delivery, integration } = await sentMessage();
  const platform = restClient(node.baseUrl, node.adminKey);
  const about = (status: string) => platform.call("PATCH", `/api/tenants/${sender.id}`, { status });
  const told = { tenantId: sender.id, integrationId: integration.id };
  const events = [eventOf(delivery.provider_message_id, "e1")];
  assert.equal((await about("STATUS_SUSPENDED")).status, 200);
  assert.equal(await tell({ ...told, events }), 401);
  assert.equal((await about("STATUS_ACTIVE")).status, 200);
  assert.deepEqual(await seenOf(sender, delivery.id), []);
  assert.equal(await tell({ ...told, events }), 204);
  assert.equal((await platform.call("DELETE", `/api/tenants/${sender.id}`)).status, 200);
  assert.equal(await tell({ ...told, events }), 401);
});
