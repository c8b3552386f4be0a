import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newSender, type ResponseData, type Sender } from "./sender-fixture.ts";
import { steppedFixture } from "./step-fixture.ts";

let sender: Sender;
let sql: TestSql;
let steps: ReturnType<typeof steppedFixture>;
before(async () => {
  const node = await startService({ "notification.outbox.enabled": "true" });
  sender = await newSender(node);
  sql = connect(node.databaseUrl, 1);
  steps = steppedFixture(sender, sql);
});
after(() => sql.end());

const hourMs = 3_600_000;

/** A subscriber with quiet hours in UTC that began an hour ago and end at a full minute, in an hour unless said otherwise. */
async function quietSubscriber(mode?: string, endMs = Date.now() + hourMs): Promise<string> {
  const { id } = await sender.subscriber({ email: "q@example.com" });
  const time = (atMs: number) => new Date(atMs).toISOString().slice(11, 16);
  const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
  const range = { days, start: time(Date.now() - hourMs), end: time(endMs) };
  await sender.prefer(id, {
    schedule: { timezone: "UTC", ranges: [range], ...(mode !== undefined && { mode }) },
  });
  return id;
}

const mail = { email: { subject: "S", body: "B" }, in_app: { body: "B" } };

/** Makes the messages of a trigger due. */
async function makeDue(transactionId: string): Promise<void> {
  await sql`update notification_deliveries set next_attempt_at = now()
    where transaction_id = ${transactionId} and status = 'queued'`;
}

test("quiet hours skip messages unless they say otherwise", async () => {
  const subscriber_id = await quietSubscriber();
  const workflow_key = await sender.workflow({ channels: mail });
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id });
  assert.deepEqual(
    outcomes.map(({ outcome, preference_reason_code }: ResponseData) => [outcome, preference_reason_code]),
    [
      ["skipped", "denied_quiet_hours"],
      ["skipped", "denied_quiet_hours"],
    ],
  );
});

test("held messages are sent when quiet hours end, and the response says when", async () => {
  const endMs = new Date(Date.now() + hourMs).setUTCSeconds(0, 0);
  const subscriber_id = await quietSubscriber("hold", endMs);
  const workflow_key = await sender.workflow({ channels: mail });
  const preview = await sender.ok("POST", `/api/v2/notification/subscribers/${subscriber_id}/preferences:preview`, {
    workflow_key,
  });
  const shownMail = preview.data.channels.find(({ channel }: ResponseData) => channel === "email");
  assert.deepEqual([shownMail.allowed, shownMail.reason_code], [false, "held_quiet_hours"]);

  const { transaction_id, outcomes } = await sender.trigger({ workflow_key, subscriber_id });
  for (const { outcome, next_attempt_at, retryable, failure_code } of outcomes) {
    assert.deepEqual([outcome, next_attempt_at, retryable, failure_code], ["held", shownMail.held_until, false, ""]);
  }
  assert.equal(Date.parse(shownMail.held_until), endMs);
  const explained = (await sender.ok("GET", `/api/explain/${outcomes[0].delivery_id}`)).data;
  assert.equal(explained.waits[0].code, "waiting_for_quiet_hours");

  // Quiet hours that last longer than expected hold the message again, which is no attempt.
  await makeDue(transaction_id);
  const isHeldAgain = ({ status, next_attempt_at }: ResponseData) =>
    status === "queued" && Date.parse(next_attempt_at) > Date.now() + hourMs / 2;
  await until(
    () => sender.deliveries(`transaction_id=${transaction_id}`),
    (found) => found.every(isHeldAgain),
  );
  await sender.prefer(subscriber_id, { schedule: { ranges: [] } });
  await makeDue(transaction_id);
  const sent = await steps.settled(transaction_id);
  assert.deepEqual(
    sent.map(({ status, execution_attempt, preference_reason_code }) => [
      status,
      execution_attempt,
      preference_reason_code,
    ]),
    sent.map(() => ["sent", 1, "allowed_default"]),
  );
  assert.equal((await sender.inbox(subscriber_id)).length, 1);
});

test("quiet hours that never end skip instead of holding", async () => {
  const { id } = await sender.subscriber({ email: "e@example.com" });
  const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
  await sender.prefer(id, { schedule: { ranges: [{ days, start: "00:00", end: "00:00" }], mode: "hold" } });
  const workflow_key = await sender.workflow({ channels: mail });
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: id, channels: ["email"] });
  assert.deepEqual([outcomes[0].outcome, outcomes[0].preference_reason_code], ["skipped", "denied_quiet_hours"]);
});

test("a held message can be cancelled", async () => {
  const subscriber_id = await quietSubscriber("hold");
  const workflow_key = await sender.workflow({ channels: mail });
  const { transaction_id } = await sender.trigger({ workflow_key, subscriber_id });
  const cancelled = await steps.cancel(transaction_id);
  assert.deepEqual([cancelled.cancelled_runs, cancelled.cancelled_deliveries], [0, 2]);
  const deliveries = await steps.settled(transaction_id);
  assert.deepEqual(
    deliveries.map(({ status, failure_code }) => [status, failure_code]),
    deliveries.map(() => ["skipped", "cancelled"]),
  );
  const again = await steps.cancel(transaction_id);
  assert.equal(again.cancelled_deliveries, 0);
});

test("a waiting run can be cancelled, and then nothing is sent", async () => {
  const { id } = await sender.subscriber({ email: "r@example.com" });
  const key = await steps.workflow(
    [
      { key: "wait", delay: { for_s: 3600 } },
      { key: "mail", send: { channels: ["email"] } },
    ],
    mail,
  );
  const { run_id, transaction_id } = await sender.trigger({ workflow_key: key, subscriber_id: id });
  await steps.runIn(run_id, "waiting", "wait");
  assert.equal((await steps.cancel(transaction_id)).cancelled_runs, 1);
  const { status, reason, wake_at } = await steps.run(run_id);
  assert.deepEqual([status, reason, wake_at], ["cancelled", "cancelled", undefined]);
  assert.deepEqual(await sender.deliveries(`transaction_id=${transaction_id}`), []);
  await sender.refused("NOT_FOUND", "POST", "/api/v2/notifications/triggers/01ARZ3NDEKTSV4RRFFQ69G5FAV:cancel", {});
});
