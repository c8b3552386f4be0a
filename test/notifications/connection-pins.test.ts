import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { startReceiver } from "../routing/receiver.ts";
import { freshName, newSender, type ResponseData, type Sender, serveChannel } from "./sender-fixture.ts";

let node: TestService;
before(async () => {
  node = await startService();
});

const textGateway = (url: string) => ({ settings: { url, from: "S" }, credentials: { token: "t" } });
const slackAt = (url: string) => ({ settings: {}, credentials: { webhook_url: url } });
const chatAt = (url: string) => ({ settings: { url }, credentials: { secret: "whsec_c2VjcmV0" } });

/** The outcomes of a trigger on one channel, by endpoint. */
async function outcomesOf(sender: Sender, subscriberId: string, channel: string): Promise<Map<string, ResponseData>> {
  const workflow_key = await sender.workflow({ channels: { [channel]: { title: "T", body: "B" } } });
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: subscriberId });
  return new Map(outcomes.map((each: ResponseData) => [each.endpoint_id, each]));
}

async function connection(sender: Sender, provider_key: string, fields: object): Promise<string> {
  const path = "/api/v2/connector/connections";
  return (await sender.ok("POST", path, { name: freshName(), provider_key, ...fields })).data.id;
}

test("the integration with the highest precedence serves a phone number or mail address, whatever its provider_key", async () => {
  const sender = await newSender(node);
  const gateway = await startReceiver(() => ({ status: 200 }));
  await serveChannel(sender, "sms", "http_sms", textGateway(gateway.url));
  const development = { channel: "email", name: "Dev", provider_key: "development" };
  await sender.ok("POST", "/api/v2/notification/integrations", development);
  const { id } = await sender.subscriber();
  const text = await sender.endpoint(id, { channel: "sms", provider_key: "twilio", identity: "+4930901820" });
  const mail = await sender.endpoint(id, { channel: "email", provider_key: "ses", identity: "ada@example.org" });
  assert.equal((await outcomesOf(sender, id, "sms")).get(text.id).outcome, "sent");
  assert.equal((await outcomesOf(sender, id, "email")).get(mail.id).outcome, "sent");
  assert.equal(gateway.received.length, 1);
});

test("a chat address goes only to its own provider, and one without a provider to the first", async () => {
  const sender = await newSender(node);
  const slack = await startReceiver(() => ({ status: 200 }));
  const chat = await startReceiver(() => ({ status: 200 }));
  await serveChannel(sender, "chat", "chat_webhook", chatAt(chat.url), { priority: 1 });
  await serveChannel(sender, "chat", "slack", slackAt(slack.url), { priority: 2 });
  const { id } = await sender.subscriber();
  const endpoint = (provider_key: string, identity: string) =>
    sender.endpoint(id, { channel: "chat", identity, ...(provider_key !== "" && { provider_key }) });
  const inSlack = await endpoint("slack", "U1");
  const anywhere = await endpoint("", "room-1");
  const unknown = await endpoint("pigeon", "P1");
  const outcomes = await outcomesOf(sender, id, "chat");
  assert.equal(outcomes.get(inSlack.id).outcome, "sent");
  assert.equal(outcomes.get(anywhere.id).outcome, "sent");
  const { outcome, failure_code, failure_detail } = outcomes.get(unknown.id);
  assert.deepEqual([outcome, failure_code], ["failed", "none_active"]);
  assert.match(failure_detail, /provider_key pigeon/);
  assert.deepEqual(
    chat.received.map(({ body }) => JSON.parse(body).to),
    ["room-1"],
  );
  assert.equal(slack.received.length, 1);
});

test("an endpoint's connection_id is a pin: the message uses that connection and no other provider", async () => {
  const sender = await newSender(node);
  const [chat, ours, theirs] = await Promise.all([1, 2, 3].map(() => startReceiver(() => ({ status: 200 }))));
  await serveChannel(sender, "chat", "chat_webhook", chatAt(chat!.url), { priority: 1 });
  await serveChannel(sender, "chat", "slack", slackAt(ours!.url), { priority: 2 });
  const { id } = await sender.subscriber();
  const connection_id = await connection(sender, "slack", slackAt(theirs!.url));
  const pinned = await sender.endpoint(id, { channel: "chat", identity: "U1", connection_id });
  const outcome = (await outcomesOf(sender, id, "chat")).get(pinned.id);
  assert.equal(outcome.outcome, "sent", outcome.failure_detail);
  assert.deepEqual([chat!.received.length, ours!.received.length, theirs!.received.length], [0, 0, 1]);
  const delivery = await sender.delivery(outcome.delivery_id);
  assert.deepEqual([delivery.provider_key, delivery.connection_id], ["slack", connection_id]);
  // A pin is never ignored silently.
  await sender.ok("POST", `/api/v2/connector/connections/${connection_id}/revoke`, {});
  const refused = (await outcomesOf(sender, id, "chat")).get(pinned.id);
  assert.deepEqual([refused.outcome, refused.failure_phase, refused.failure_code], ["failed", "credential", "revoked"]);
  assert.equal(chat!.received.length + ours!.received.length, 0);
});

test("a connection whose provider does not serve the endpoint's channel or address is rejected by name", async () => {
  const sender = await newSender(node);
  const connection_id = await connection(sender, "slack", slackAt("http://127.0.0.1:9"));
  const { id } = await sender.subscriber();
  const path = `/api/v2/notification/subscribers/${id}/endpoints`;
  for (const fields of [
    { channel: "email", identity: "ada@example.org" },
    { channel: "push", identity: "token" },
    { channel: "chat", identity: "room", provider_key: "chat_webhook" },
  ]) {
    const { body } = await sender.refused("INVALID_ARGUMENT", "POST", path, { ...fields, connection_id });
    assert.equal(body.violations[0].field, "connection_id", fields.channel);
  }
  const { body } = await sender.rest.call("GET", path);
  assert.deepEqual(body.data, []);
});
