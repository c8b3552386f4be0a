import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { startHoldingGateway } from "./holding-gateway.ts";
import { freshName, newSender, type Sender, senderAt, serveChannel } from "./sender-fixture.ts";

const settings = {
  "auth.bootstrap_api_key": "sk_test_sendcrash_0123456789abcdef",
  "connector.encryption_key": Buffer.from("0123456789abcdefghijklmnopqrstuv").toString("base64"),
};

/** A node that is killed while its provider holds a message, and the means to continue without it. */
async function crashed(t: TestContext, provider: "http_sms" | "slack", toTopic = false) {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const gateway = await startHoldingGateway(t);
  const node = await startNodeProcess({ ...settings, "database.url": database.url });
  t.after(() => node.kill());
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
  const answered = sender.rest.call("POST", "/api/v2/notifications/trigger", trigger, headers).catch(() => undefined);
  await gateway.reached;
  await node.kill();
  const answer = await answered;
  assert.equal(answer?.status, toTopic ? 200 : undefined);
  gateway.answer();
  return {
    gateway,
    subscriberId: id,
    channel,
    /** Starts a second node, and expires the first node's leases. */
    async recover() {
      const next = await startService({ ...settings, "notification.outbox.enabled": "true" }, database.url);
      return senderAt(next, sender);
    },
    async endLeases() {
      const { sql } = database;
      await sql`update notification_deliveries set lease_until = now() - interval '1 second' where status = 'running'`;
    },
    sql: database.sql,
    repeat: (at: Sender) => at.rest.call("POST", "/api/v2/notifications/trigger", trigger, headers),
  };
}

const isDone = ({ status }: { status: string }) => status === "sent" || status === "failed";

test("a message that a killed node was sending is resent with the same key when the provider deduplicates", async (t) => {
  const { gateway, subscriberId, recover, endLeases, repeat } = await crashed(t, "http_sms");
  const sender = await recover();
  // Until the lease expires, the node may still be sending.
  const early = await repeat(sender);
  assert.deepEqual([early.status, early.body.errorCode], [409, "IDEMPOTENCY_IN_PROGRESS"]);

  await endLeases();
  const deliveries = await until(
    () => sender.deliveries(`subscriber_id=${subscriberId}`),
    (found) => found.every(isDone),
  );
  const text = deliveries.find(({ channel }) => channel === "sms");
  assert.deepEqual([text.status, text.reconciliation_required, text.execution_attempt], ["sent", false, 2]);
  assert.deepEqual(gateway.keys(), [text.id, text.id]);
  assert.deepEqual(await sender.letters(), []);
  // The inbox message was committed with the acknowledgement.
  assert.equal((await sender.inbox(subscriberId)).length, 1);
  // The repeat has no effect and returns the result of the first call.
  const later = await repeat(sender);
  assert.equal(later.headers.get("idempotency-replayed"), "true", later.text);
  const { transaction_id, outcomes } = later.body.data;
  assert.equal(transaction_id, text.transaction_id);
  assert.deepEqual(
    outcomes.map(({ channel, outcome }: Record<string, string>) => [channel, outcome]),
    [
      ["in_app", "sent"],
      ["sms", "sent"],
    ],
  );
  assert.equal(gateway.count(), 2);
});

test("a broadcast message that a killed node was sending is resent with the same key", async (t) => {
  const { gateway, subscriberId, recover, endLeases } = await crashed(t, "http_sms", true);
  await endLeases();
  const sender = await recover();
  const [text] = await until(
    async () => (await sender.deliveries(`subscriber_id=${subscriberId}`)).filter(({ channel }) => channel === "sms"),
    (found) => found.every(isDone),
  );
  assert.deepEqual([text.status, text.reconciliation_required], ["sent", false]);
  assert.deepEqual(gateway.keys(), [text.id, text.id]);
});

test("a message that a killed node was sending is not resent automatically when the provider does not deduplicate", async (t) => {
  const { gateway, subscriberId, recover, endLeases, repeat } = await crashed(t, "slack");
  await endLeases();
  const sender = await recover();
  const deliveries = await until(
    () => sender.deliveries(`subscriber_id=${subscriberId}`),
    (found) => found.every(isDone),
  );
  const chat = deliveries.find(({ channel }) => channel === "chat");
  assert.deepEqual(
    [chat.status, chat.failure_code, chat.reconciliation_required, chat.observation_state],
    ["failed", "outcome_unknown", true, "unknown"],
  );
  assert.deepEqual(
    (await sender.letters("status=open")).map(({ delivery_id }) => delivery_id),
    [chat.id],
  );
  const { outcomes } = (await repeat(sender)).body.data;
  const told = outcomes.find(({ channel }: { channel: string }) => channel === "chat");
  assert.deepEqual(
    [told.outcome, told.failure_code, told.retryable, told.reconciliation_required],
    ["failed", "outcome_unknown", false, true],
  );
  assert.equal(gateway.count(), 1);
});

test("a message that a killed node had leased but not sent is sent by another node, whatever its provider", async (t) => {
  const { gateway, subscriberId, recover, endLeases, sql } = await crashed(t, "slack");
  // The state after a crash between leasing a message and calling its provider.
  await sql`update notification_deliveries set handed_over = false, integration_id = '', provider_key = ''
    where status = 'running'`;
  await endLeases();
  const sender = await recover();
  const [chat] = await until(
    async () => (await sender.deliveries(`subscriber_id=${subscriberId}`)).filter(({ channel }) => channel === "chat"),
    (found) => found.every(isDone),
  );
  assert.deepEqual([chat.status, chat.reconciliation_required], ["sent", false]);
  assert.equal(gateway.count(), 2);
});
