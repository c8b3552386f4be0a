import assert from "node:assert/strict";
import { test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { startService } from "../harness/service.ts";
import { startsHolding } from "./holding.ts";
import { freshName, newSender, senderAt, serveChannel, shown } from "./stage.ts";

const settings = {
  "auth.bootstrap_api_key": "sk_test_sendcrash_0123456789abcdef",
  "connector.encryption_key": Buffer.from("0123456789abcdefghijklmnopqrstuv").toString("base64"),
};

test("of a message that was with its provider when the node died nobody knows, and it is not sent again by itself", async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const gateway = await startsHolding(t);
  const crashed = await startNodeProcess({ ...settings, "database.url": database.url });
  t.after(() => crashed.kill());
  const sender = await newSender(crashed);
  const connection = { settings: { url: gateway.url, from: "S" }, credentials: { token: "t" } };
  await serveChannel(sender, "sms", "http_sms", connection);
  const workflow_key = await sender.workflow({ channels: { sms: { body: "B" }, in_app: { body: "B" } } });
  const { id } = await sender.subscriber({ phone: "+4930901820" });
  const key = freshName();
  const call = { workflow_key, subscriber_id: id };
  const unanswered = sender.rest.call("POST", "/api/v2/notifications/trigger", call, { "idempotency-key": key });
  unanswered.catch(() => {});
  await gateway.reached;
  await crashed.kill();
  await assert.rejects(unanswered);
  // The node's time for it runs out.
  await database.sql`update notification_deliveries set lease_until = now() - interval '1 second' where status = 'running'`;

  const node = await startService({ ...settings, "notification.outbox.enabled": "true" }, database.url);
  const again = senderAt(node, sender);
  const failed = await shown(
    () => again.deliveries(`subscriber_id=${id}`),
    (deliveries) => deliveries.every(({ status }) => status === "sent" || status === "failed"),
  );
  const text = failed.find(({ channel }) => channel === "sms");
  assert.deepEqual(
    [text.status, text.failure_code, text.reconciliation_required, text.observation_state],
    ["failed", "outcome_unknown", true, "unknown"],
  );
  assert.deepEqual(
    (await again.letters("status=open")).map(({ delivery_id }) => delivery_id),
    [text.id],
  );
  // The inbox had its message with the acknowledgement of the whole.
  assert.equal((await again.inbox(id)).length, 1);
  // Asked again under its key the trigger is answered and not carried out once more.
  const repeated = await again.rest.call("POST", "/api/v2/notifications/trigger", call, { "idempotency-key": key });
  assert.equal(repeated.headers.get("idempotency-replayed"), "true", repeated.text);
  assert.equal(repeated.body.data.transaction_id, text.transaction_id);
  assert.equal(gateway.count(), 1);
});
