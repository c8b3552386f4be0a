import assert from "node:assert/strict";
import { test } from "node:test";
import { afterFile } from "../harness/after-file.ts";
import { type NodeProcess, startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import type { RestResponse } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { startHoldingGateway } from "./holding-gateway.ts";
import { freshName, newSender, type Sender, senderAt, serveChannel } from "./sender-fixture.ts";

const settings = {
  "auth.bootstrap_api_key": "sk_test_sendcrash_0123456789abcdef",
  "connector.encryption_key": Buffer.from("0123456789abcdefghijklmnopqrstuv").toString("base64"),
};

const database = await freshDatabase();
const { sql } = database;
afterFile(database.drop);

/** A message of a new tenant to a provider that holds it. */
async function prepare(node: NodeProcess, provider: "http_sms" | "slack", toTopic = false) {
  const gateway = await startHoldingGateway();
  const sender = await newSender(node);
  const isText = provider === "http_sms";
  const connection = isText
    ? { settings: { url: gateway.url, from: "S" }, credentials: { token: "t" } }
    : { settings: {}, credentials: { webhook_url: gateway.url } };
  const channel = isText ? "sms" : "chat";
  await serveChannel(sender, channel, provider, connection);
  const workflow_key = await sender.workflow({ channels: { [channel]: { body: "B" }, in_app: { body: "B" } } });
  const { id } = await sender.subscriber({ phone: "+4930901820" });
  if (!isText) await sender.endpoint(id, { channel, identity: freshName() });
  const trigger = { workflow_key, ...(toTopic ? { topic: await sender.topic([id]) } : { subscriber_id: id }) };
  const headers = { "idempotency-key": freshName() };
  const path = "/api/v2/notifications/trigger";
  let answered: Promise<RestResponse | undefined>;
  return {
    gateway,
    subscriberId: id,
    tenantId: sender.id,
    /** Sends the message until the provider has it. */
    async send() {
      answered = sender.rest.call("POST", path, trigger, headers).catch(() => undefined);
      await gateway.reached;
    },
    /** Asserts what the caller knows after the crash, and lets the provider respond from now on. */
    async checkCall() {
      const answer = await answered;
      assert.equal(answer?.status, toTopic ? 200 : undefined);
      gateway.answer();
    },
    /** The tenant at another node. */
    at: (next: TestService) => senderAt(next, sender),
    async endLeases() {
      await sql`
        update notification_deliveries set lease_until = now() - interval '1 second'
        where status = 'running' and tenant_id = ${sender.id}`;
    },
    repeat: (at: Sender) => at.rest.call("POST", path, trigger, headers),
  };
}

// One node is killed while providers hold a message of each test.
const doomed = await startNodeProcess({ ...settings, "database.url": database.url });
afterFile(() => doomed.kill());
const [text, broadcast, chat, unsent] = await Promise.all([
  prepare(doomed, "http_sms"),
  prepare(doomed, "http_sms", true),
  prepare(doomed, "slack"),
  prepare(doomed, "slack"),
]);
const messages = [text, broadcast, chat, unsent];
await Promise.all(messages.map(({ send }) => send()));
await doomed.kill();
for (const { checkCall } of messages) await checkCall();
// Leases end when a test ends them.
await sql`update notification_deliveries set lease_until = now() + interval '1 hour' where status = 'running'`;
const next = await startService({ ...settings, "notification.outbox.enabled": "true" }, database.url);

const isDone = ({ status }: { status: string }) => status === "sent" || status === "failed";

test("a message that a killed node was sending is resent with the same key when the provider deduplicates", async () => {
  const { gateway, subscriberId, endLeases, repeat } = text;
  const sender = text.at(next);
  // Until the lease expires, the node may still be sending.
  const early = await repeat(sender);
  assert.deepEqual([early.status, early.body.errorCode], [409, "IDEMPOTENCY_IN_PROGRESS"]);

  await endLeases();
  const deliveries = await until(
    () => sender.deliveries(`subscriber_id=${subscriberId}`),
    (found) => found.every(isDone),
  );
  const sent = deliveries.find(({ channel }) => channel === "sms");
  assert.deepEqual([sent.status, sent.reconciliation_required, sent.execution_attempt], ["sent", false, 2]);
  assert.deepEqual(gateway.keys(), [sent.id, sent.id]);
  assert.deepEqual(await sender.letters(), []);
  // The inbox message was committed with the acknowledgement.
  assert.equal((await sender.inbox(subscriberId)).length, 1);
  // The repeat has no effect and returns the result of the first call.
  const later = await repeat(sender);
  assert.equal(later.headers.get("idempotency-replayed"), "true", later.text);
  const { transaction_id, outcomes } = later.body.data;
  assert.equal(transaction_id, sent.transaction_id);
  assert.deepEqual(
    outcomes.map(({ channel, outcome }: Record<string, string>) => [channel, outcome]),
    [
      ["in_app", "sent"],
      ["sms", "sent"],
    ],
  );
  assert.equal(gateway.count(), 2);
});

test("a broadcast message that a killed node was sending is resent with the same key", async () => {
  const { gateway, subscriberId, endLeases } = broadcast;
  await endLeases();
  const sender = broadcast.at(next);
  const [sent] = await until(
    async () => (await sender.deliveries(`subscriber_id=${subscriberId}`)).filter(({ channel }) => channel === "sms"),
    (found) => found.every(isDone),
  );
  assert.deepEqual([sent.status, sent.reconciliation_required], ["sent", false]);
  assert.deepEqual(gateway.keys(), [sent.id, sent.id]);
});

test("a message that a killed node was sending is not resent automatically when the provider does not deduplicate", async () => {
  const { gateway, subscriberId, endLeases, repeat } = chat;
  await endLeases();
  const sender = chat.at(next);
  const deliveries = await until(
    () => sender.deliveries(`subscriber_id=${subscriberId}`),
    (found) => found.every(isDone),
  );
  const failed = deliveries.find(({ channel }) => channel === "chat");
  assert.deepEqual(
    [failed.status, failed.failure_code, failed.reconciliation_required, failed.observation_state],
    ["failed", "outcome_unknown", true, "unknown"],
  );
  assert.deepEqual(
    (await sender.letters("status=open")).map(({ delivery_id }) => delivery_id),
    [failed.id],
  );
  const { outcomes } = (await repeat(sender)).body.data;
  const told = outcomes.find(({ channel }: { channel: string }) => channel === "chat");
  assert.deepEqual(
    [told.outcome, told.failure_code, told.retryable, told.reconciliation_required],
    ["failed", "outcome_unknown", false, true],
  );
  assert.equal(gateway.count(), 1);
});

test("a message that a killed node had leased but not sent is sent by another node, whatever its provider", async () => {
  const { gateway, subscriberId, tenantId, endLeases } = unsent;
  // The state after a crash between leasing a message and calling its provider.
  await sql`update notification_deliveries set handed_over = false, integration_id = '', provider_key = ''
    where status = 'running' and tenant_id = ${tenantId}`;
  await endLeases();
  const sender = unsent.at(next);
  const [sent] = await until(
    async () => (await sender.deliveries(`subscriber_id=${subscriberId}`)).filter(({ channel }) => channel === "chat"),
    (found) => found.every(isDone),
  );
  assert.deepEqual([sent.status, sent.reconciliation_required], ["sent", false]);
  assert.equal(gateway.count(), 2);
});
