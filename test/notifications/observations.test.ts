import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { startService, type TestService } from "../harness/service.ts";
import { startReceiver } from "../routing/receiver.ts";
import { type Answered, freshName, newSender, type Sender, serveChannel } from "./stage.ts";

let node: TestService;
before(async () => {
  node = await startService();
});

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** A tenant that has sent a text message by a gateway that tells what becomes of it. */
async function sentMessage() {
  const sender = await newSender(node);
  const receiver = await startReceiver(() => ({ status: 200 }));
  const connection = {
    settings: { url: receiver.url, from: "S" },
    credentials: { token: "t", callback_secret: secret },
  };
  const integration = await serveChannel(sender, "sms", "http_sms", connection);
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

const seenOf = async (sender: Sender, id: string): Promise<Answered[]> =>
  (await sender.rest.call("GET", `/api/v2/notifications/deliveries/${id}/observations`)).body.data;

test("what a provider tells under its signature is kept, once, and the delivery's state only rises", async () => {
  const { sender, integration, delivery } = await sentMessage();
  assert.equal(delivery.observation_state, "awaiting");
  const event = (kind: string, event_id: string) => ({
    message_id: delivery.provider_message_id,
    event_id,
    kind,
    occurred_at: new Date().toISOString(),
  });
  const told = { tenantId: sender.id, integrationId: integration.id };
  assert.equal(await tell({ ...told, events: [event("delivered", "e1")] }), 204);
  assert.equal((await sender.delivery(delivery.id)).observation_state, "delivered");
  assert.equal(await tell({ ...told, events: [event("clicked", "e2"), event("delivered", "e1")] }), 204);
  assert.equal(await tell({ ...told, events: [event("bounced", "e3")] }), 204);
  assert.equal((await sender.delivery(delivery.id)).observation_state, "engaged");
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
    ],
  );
});

test("a callback that does not prove to be the provider's is refused and keeps nothing, whatever it names", async () => {
  const { sender, integration, delivery } = await sentMessage();
  const events = [
    {
      message_id: delivery.provider_message_id,
      event_id: "e",
      kind: "delivered",
      occurred_at: new Date().toISOString(),
    },
  ];
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
  // Another tenant's own integration may name the message, and says nothing about it.
  assert.equal(await tell({ ...told, tenantId: stranger.sender.id, integrationId: stranger.integration.id }), 204);
  assert.deepEqual(await seenOf(sender, delivery.id), []);
  assert.equal((await sender.delivery(delivery.id)).observation_state, "awaiting");
});

test("an address that is gone for good is not written to again", async () => {
  const { sender, integration, delivery, endpoint, workflow_key, subscriberId } = await sentMessage();
  const event = {
    message_id: delivery.provider_message_id,
    event_id: "e",
    kind: "bounced",
    severity: "hard",
    occurred_at: new Date().toISOString(),
  };
  assert.equal(await tell({ tenantId: sender.id, integrationId: integration.id, events: [event] }), 204);
  assert.equal((await sender.delivery(delivery.id)).observation_state, "undelivered");
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: subscriberId });
  assert.deepEqual(
    [outcomes[0].endpoint_id, outcomes[0].outcome, outcomes[0].failure_code],
    [endpoint.id, "skipped", "suppressed"],
  );
});
