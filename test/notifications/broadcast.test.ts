import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newSender, type ResponseData, type Sender } from "./sender-fixture.ts";

let node: TestService;
let sender: Sender;
let sql: TestSql;
before(async () => {
  node = await startService({ "notification.outbox.enabled": "true" });
  sender = await newSender(node);
  sql = connect(node.databaseUrl, 1);
});
after(() => sql.end());

const completed = (transactionId: string) =>
  until(
    async () => (await sender.ok("GET", `/api/v2/notifications/broadcasts/${transactionId}`)).data as ResponseData,
    ({ status }) => status === "completed",
  );

async function subscribers(count: number, fields: object = {}): Promise<string[]> {
  const created = await Promise.all(Array.from({ length: count }, () => sender.subscriber(fields)));
  return created.map(({ id }) => id);
}

test("a topic is notified asynchronously: the response has no outcomes, and every member gets its message", async () => {
  const members = await subscribers(25);
  const topic = await sender.topic(members);
  const workflow_key = await sender.workflow();
  const { transaction_id, outcomes, broadcast } = await sender.trigger({ workflow_key, topic, payload: { order: 7 } });
  assert.deepEqual(outcomes, []);
  assert.deepEqual([broadcast.status, broadcast.topic_key], ["accepted", topic]);
  const done = await completed(transaction_id);
  assert.deepEqual([Number(done.expanded), Number(done.total)], [25, 25]);
  const deliveries = await sender.deliveries(`transaction_id=${transaction_id}`);
  assert.deepEqual(deliveries.map(({ subscriber_id }) => subscriber_id).sort(), [...members].sort());
  for (const each of deliveries) {
    assert.deepEqual([each.status, each.broadcast_id, each.topic_key], ["sent", transaction_id, topic]);
  }
  assert.equal((await sender.inbox(members[3]!))[0].body, "Order 7 is on its way.");
});

test("joining or leaving after a broadcast was accepted does not affect it", async () => {
  const [stays, leaves, comes] = await subscribers(3);
  const topic = await sender.topic([stays!, leaves!]);
  const workflow_key = await sender.workflow();
  const { transaction_id } = await sender.trigger({ workflow_key, topic });
  const members = `/api/v2/notification/topics/${topic}/subscribers`;
  await sender.ok("POST", `${members}:remove`, { subscriber_ids: [leaves] });
  await sender.ok("POST", members, { subscriber_ids: [comes] });
  await completed(transaction_id);
  const reached = (await sender.deliveries(`transaction_id=${transaction_id}`)).map((each) => each.subscriber_id);
  assert.deepEqual(reached.sort(), [stays, leaves].sort());
});

test("each member's own preferences apply, including those for the topic", async () => {
  const [wants, muted, elsewhere] = await subscribers(3);
  const topic = await sender.topic([wants!, muted!, elsewhere!]);
  const workflow_key = await sender.workflow();
  const off = { workflow_key, channels: { in_app: { enabled: false } } };
  await sender.prefer(muted!, { ...off, topic_key: topic });
  await sender.prefer(elsewhere!, { ...off, topic_key: "another_topic" });
  const { transaction_id } = await sender.trigger({ workflow_key, topic });
  await completed(transaction_id);
  const told = (await sender.deliveries(`transaction_id=${transaction_id}`)).map((each) => [
    each.subscriber_id,
    each.status,
    each.preference_reason_code,
  ]);
  assert.deepEqual(
    told.sort(),
    [
      [wants, "sent", "allowed_default"],
      [muted, "skipped", "denied_by_layer"],
      [elsewhere, "sent", "allowed_default"],
    ].sort(),
  );
});

test("provider messages wait in the broadcast lane and are sent from there", async () => {
  const members = await subscribers(30, { email: "one-of-many@example.com" });
  const topic = await sender.topic(members);
  const workflow_key = await sender.workflow({ channels: { email: { subject: "News", body: "<p>News</p>" } } });
  const { transaction_id } = await sender.trigger({ workflow_key, topic });
  const deliveries = await until(
    () => sender.deliveries(`transaction_id=${transaction_id}`),
    (found) => found.length === 30 && found.every(({ status }) => status === "sent"),
  );
  assert.deepEqual(new Set(deliveries.map(({ provider_key }) => provider_key)), new Set(["development"]));
});

test("a topic without members is done immediately, and an unknown topic is not found", async () => {
  const workflow_key = await sender.workflow();
  const { transaction_id } = await sender.trigger({ workflow_key, topic: await sender.topic() });
  assert.equal(Number((await completed(transaction_id)).total), 0);
  await sender.refused("NOT_FOUND", "POST", "/api/v2/notifications/trigger", {
    workflow_key,
    topic: `t${freshName()}`,
  });
  const stranger = await newSender(node);
  await stranger.refused("NOT_FOUND", "GET", `/api/v2/notifications/broadcasts/${transaction_id}`);
});

test("a broadcast repeated with its key is one broadcast", async () => {
  const members = await subscribers(5);
  const topic = await sender.topic(members);
  const workflow_key = await sender.workflow();
  const headers = { "idempotency-key": freshName() };
  const first = await sender.trigger({ workflow_key, topic }, headers);
  const second = await sender.trigger({ workflow_key, topic }, headers);
  assert.equal(second.transaction_id, first.transaction_id);
  await completed(first.transaction_id);
  assert.equal((await sender.inbox(members[0]!)).length, 1);
});

test("a failed part of a broadcast can be redriven by itself", async () => {
  const members = await subscribers(3);
  const topic = await sender.topic(members);
  const workflow_key = await sender.workflow({ channels: { sms: { body: "Elsewhere" } } });
  const { transaction_id } = await sender.trigger({ workflow_key, topic, channels: ["in_app"] });
  await completed(transaction_id);
  const letters = (await sender.letters("status=open")).filter((each) => each.transaction_id === transaction_id);
  assert.equal(letters.length, 3);
  await sender.ok("PUT", `/api/v2/notification/workflows/${workflow_key}`, { channels: { in_app: { body: "Late" } } });
  await sender.ok("POST", `/api/v2/notifications/dead-letters/${letters[0].id}:redrive`, {});
  await until(
    () => sender.inbox(letters[0].subscriber_id),
    (messages) => messages.length === 1,
  );
});

test("a broadcast whose page cannot be expanded finally fails, and resumes from there when redriven", async () => {
  const members = await subscribers(3);
  const topic = await sender.topic(members);
  const workflow_key = await sender.workflow();
  const { transaction_id } = await sender.trigger({ workflow_key, topic });
  await completed(transaction_id);
  // Simulates a running broadcast with unreadable content on its last attempt.
  const kept = await sql`select * from notification_payloads where transaction_id = ${transaction_id}`;
  await sql`delete from notification_payloads where transaction_id = ${transaction_id}`;
  await sql`delete from notification_deliveries where transaction_id = ${transaction_id}`;
  await sql`delete from notification_inbox where subscriber_id = any(${members})`;
  await sql`
    update notification_broadcasts set status = 'expanding', position = '', expanded = 0, failures = 7
    where transaction_id = ${transaction_id}`;
  const [letter] = await until(
    async () => (await sender.letters("status=open")).filter((each) => each.transaction_id === transaction_id),
    (letters) => letters.length === 1,
  );
  assert.deepEqual([letter.kind, letter.broadcast_id], ["fanout_page", transaction_id]);
  const failed = (await sender.ok("GET", `/api/v2/notifications/broadcasts/${transaction_id}`)).data;
  assert.deepEqual([failed.status, failed.failure_code], ["failed", "internal"]);
  await sql`insert into notification_payloads ${sql(kept)}`;
  await sql`
    update notification_dead_letters set payload_expires_at = now() + interval '1 day'
    where transaction_id = ${transaction_id}`;
  await sender.ok("POST", `/api/v2/notifications/dead-letters/${letter.id}:redrive`, {});
  await completed(transaction_id);
  assert.equal((await sender.deliveries(`transaction_id=${transaction_id}`)).length, 3);
});

test("a failed broadcast that was cancelled is not continued, and the refusal says why", async () => {
  const topic = await sender.topic(await subscribers(1));
  const { transaction_id } = await sender.trigger({ workflow_key: await sender.workflow(), topic });
  await completed(transaction_id);
  await sql`update notification_payloads set expires_at = now() where transaction_id = ${transaction_id}`;
  await sql`update notification_broadcasts set status = 'expanding', failures = 7 where transaction_id = ${transaction_id}`;
  const [letter] = await until(
    async () => (await sender.letters("status=open")).filter((each) => each.transaction_id === transaction_id),
    (letters) => letters.length === 1,
  );
  await sql`update notification_dead_letters set payload_expires_at = now() + interval '1 day' where id = ${letter.id}`;
  await sender.ok("POST", `/api/v2/notifications/broadcasts/${transaction_id}:cancel`, {});
  const path = `/api/v2/notifications/dead-letters/${letter.id}:redrive`;
  const { body } = await sender.refused("FAILED_PRECONDITION", "POST", path, {});
  assert.match(body.detail, /broadcast of this dead letter is cancell(ing|ed)/);
});
