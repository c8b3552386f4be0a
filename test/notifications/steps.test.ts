import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newSender, type ResponseData, type Sender } from "./sender-fixture.ts";
import { outcomesOf, steppedFixture } from "./step-fixture.ts";

let sender: Sender;
let foreign: Sender;
let sql: TestSql;
let steps: ReturnType<typeof steppedFixture>;
let ada: string;
before(async () => {
  const node = await startService({ "notification.outbox.enabled": "true" });
  [sender, foreign] = [await newSender(node), await newSender(node)];
  sql = connect(node.databaseUrl, 1);
  steps = steppedFixture(sender, sql);
  ada = (await sender.subscriber({ email: "ada@example.com", phone: "+4930901820" })).id;
});
after(() => sql.end());

const hour = { for_s: 3600 };
const send = (key: string, channel: string, fields: object = {}) => ({ key, send: { channels: [channel] }, ...fields });
const trigger = (workflow_key: string, fields: object = {}): Promise<ResponseData> =>
  sender.trigger({ workflow_key, subscriber_id: ada, ...fields });

test("a delay holds the following step, and the run shows the outcome of each step", async () => {
  const key = await steps.workflow([send("inbox", "in_app"), { key: "wait", delay: hour }, send("mail", "email")]);
  const { transaction_id, run_id, outcomes } = await trigger(key, { payload: { order: 7 } });
  assert.deepEqual(outcomes, []);
  const waiting = await steps.runIn(run_id, "waiting", "wait");
  const leftMs = Date.parse(waiting.wake_at) - Date.now();
  assert.ok(leftMs > 3_500_000 && leftMs <= 3_600_000, waiting.wake_at);
  assert.deepEqual(
    (await steps.settled(transaction_id)).map(({ channel, status, step_key }) => [channel, status, step_key]),
    [["in_app", "sent", "inbox"]],
  );
  const waits = (await sender.ok("GET", `/api/explain/${run_id}`)).data;
  assert.deepEqual([waits.kinds, waits.waits[0].code], [["notification_run"], "waiting_in_delay"]);

  await steps.wake(run_id);
  const done = await steps.runIn(run_id, "completed");
  assert.deepEqual(outcomesOf(done), ["inbox sent", "wait waited", "mail sent"]);
  await steps.settled(transaction_id);
  assert.deepEqual(
    (await steps.outbox(key)).map(({ subject, html }) => [subject, html]),
    [["Order 7", "<p>mail</p>"]],
  );
  const { data: listed } = await sender.ok("GET", `/api/v2/notifications/runs?transaction_id=${transaction_id}`);
  assert.deepEqual(listed, [done]);
});

test("each step that ends and the end of a run are events", async () => {
  const key = await steps.workflow([send("mail", "email", { condition: "payload.ok" }), send("inbox", "in_app")]);
  const { run_id, transaction_id } = await trigger(key, { payload: { ok: false } });
  await steps.runIn(run_id, "completed");
  const { data } = await sender.ok("GET", `/api/events?subject=${run_id}&limit=100`);
  const told = data
    .filter(({ subject }: ResponseData) => subject === run_id)
    .map(({ type, data: { step, outcome, reason, status, transaction_id: of } }: ResponseData) => {
      assert.equal(of, transaction_id);
      return [type, step ?? status, outcome ?? "", reason];
    });
  assert.deepEqual(told.toSorted(), [
    ["notification.run.completed", "completed", "", ""],
    ["notification.step.completed", "inbox", "sent", ""],
    ["notification.step.completed", "mail", "skipped", "condition_false"],
  ]);
});

test("a delay ends at a time in the payload, at once if that has passed", async () => {
  const at = new Date(Date.now() + 7_200_000).toISOString();
  const delay = { until: "timestamp(payload.at) - duration('1h')" };
  const key = await steps.workflow([{ key: "wait", delay }, send("mail", "email")]);
  const { run_id } = await trigger(key, { payload: { at } });
  const { wake_at } = await steps.runIn(run_id, "waiting", "wait");
  assert.equal(Date.parse(wake_at), Date.parse(at) - 3_600_000);
  const { run_id: late } = await trigger(key, { payload: { at: "2020-01-01T00:00:00Z" } });
  assert.deepEqual(outcomesOf(await steps.runIn(late, "completed")), ["wait waited", "mail sent"]);
});

test("a delay whose time cannot be evaluated stops the run, and nothing is sent", async () => {
  const key = await steps.workflow([{ key: "wait", delay: { until: "payload.at" } }, send("mail", "email")]);
  const { run_id, transaction_id } = await trigger(key, { payload: { at: "tomorrow" } });
  const { reason } = await steps.runIn(run_id, "stopped");
  assert.equal(reason, "expression_error");
  assert.deepEqual(await sender.deliveries(`transaction_id=${transaction_id}`), []);
});

test("a delay ends at a time of day in the subscriber's time zone", async () => {
  const { id } = await sender.subscriber({ email: "k@example.com", timezone: "Asia/Kathmandu" });
  const key = await steps.workflow([{ key: "wait", delay: { at: "09:00" } }, send("mail", "email")]);
  const { run_id } = await trigger(key, { subscriber_id: id });
  const { wake_at } = await steps.runIn(run_id, "waiting", "wait");
  // Kathmandu is 5 hours and 45 minutes ahead of UTC all year.
  assert.match(wake_at, /T03:15:00Z$/);
});

test("conditions read the payload, the subscriber, preferences and earlier steps", async () => {
  await sender.prefer(ada, { channels: { sms: { enabled: false } } });
  const key = await steps.workflow([
    send("vip", "in_app", { condition: "payload.total > 100 && subscriber.first_name == 'Ada'" }),
    send("text", "sms", { condition: "preferences.sms" }),
    send("mail", "email", { condition: "steps.vip.outcome == 'sent' && !preferences.sms && digest.count == 0" }),
    send("broken", "in_app", { condition: "payload.missing.field" }),
  ]);
  const { run_id } = await trigger(key, { payload: { total: 101 } });
  assert.deepEqual(outcomesOf(await steps.runIn(run_id, "completed")), [
    "vip sent",
    "text skipped condition_false",
    "mail sent",
    "broken skipped condition_error",
  ]);
});

test("steps send only on the channels that the trigger requests", async () => {
  const key = await steps.workflow([send("inbox", "in_app"), send("mail", "email")]);
  const { run_id } = await trigger(key, { channels: ["email"] });
  assert.deepEqual(outcomesOf(await steps.runIn(run_id, "completed")), ["inbox skipped not_requested", "mail sent"]);
});

test("preferences are checked again when the message is sent", async () => {
  const { id } = await sender.subscriber({ email: "b@example.com" });
  const key = await steps.workflow([{ key: "wait", delay: hour }, send("mail", "email")]);
  const { run_id, transaction_id } = await trigger(key, { subscriber_id: id });
  await steps.runIn(run_id, "waiting", "wait");
  await sender.prefer(id, { channels: { email: { enabled: false } } });
  await steps.wake(run_id);
  assert.deepEqual(outcomesOf(await steps.runIn(run_id, "completed")), ["wait waited", "mail skipped not_allowed"]);
  const [mail] = await steps.settled(transaction_id);
  assert.deepEqual([mail.status, mail.preference_reason_code], ["skipped", "denied_by_layer"]);
});

test("nothing is sent to a subscriber who is deleted while the run waits", async () => {
  const { id } = await sender.subscriber({ email: "c@example.com" });
  const key = await steps.workflow([{ key: "wait", delay: hour }, send("mail", "email")]);
  const { run_id, transaction_id } = await trigger(key, { subscriber_id: id });
  await steps.runIn(run_id, "waiting", "wait");
  await sender.ok("DELETE", `/api/v2/notification/subscribers/${id}`);
  await steps.wake(run_id);
  assert.equal((await steps.runIn(run_id, "stopped")).reason, "subscriber_inactive");
  assert.deepEqual(await sender.deliveries(`transaction_id=${transaction_id}`), []);
});

test("a mail that waits for the inbox message to be read is sent only if it is not read", async () => {
  const key = await steps.workflow([
    send("inbox", "in_app"),
    { key: "unread", await_inbox: { step: "inbox", state: "read", for_s: 1 } },
    send("mail", "email", { condition: "!steps.inbox.read" }),
  ]);
  const { run_id } = await trigger(key);
  assert.deepEqual(outcomesOf(await steps.runIn(run_id, "completed")), ["inbox sent", "unread timed_out", "mail sent"]);
});

test("reading the inbox message ends the wait for it", async () => {
  const key = await steps.workflow([
    send("inbox", "in_app"),
    { key: "unread", await_inbox: { step: "inbox", state: "read", for_s: 86400 } },
    send("mail", "email", { condition: "!steps.inbox.read" }),
  ]);
  const { run_id, transaction_id } = await trigger(key);
  await steps.runIn(run_id, "waiting", "unread");
  const [message] = await steps.settled(transaction_id);
  await sender.ok("POST", `/api/v2/notification/subscribers/${ada}/inbox/${message.id}:mark`, { read: true });
  assert.deepEqual(outcomesOf(await steps.runIn(run_id, "completed")), [
    "inbox sent",
    "unread read",
    "mail skipped condition_false",
  ]);
});

test("seeing the inbox message ends a wait for it to be seen, but not a wait for it to be read", async () => {
  const { id: subscriber_id } = await sender.subscriber();
  const awaiting = (state: string) =>
    steps.workflow([send("inbox", "in_app"), { key: "look", await_inbox: { step: "inbox", state, for_s: 86400 } }]);
  const [seen, read] = await Promise.all(
    ["seen", "read"].map(async (state) => {
      const { run_id, transaction_id } = await trigger(await awaiting(state), { subscriber_id });
      await steps.runIn(run_id, "waiting", "look");
      const [message] = await steps.settled(transaction_id);
      await sender.ok("POST", `/api/v2/notification/subscribers/${subscriber_id}/inbox/${message.id}:mark`, {
        seen: true,
      });
      return run_id;
    }),
  );
  assert.deepEqual(outcomesOf(await steps.runIn(seen!, "completed")), ["inbox sent", "look seen"]);
  await steps.runIn(read!, "waiting", "look");
});

test("a throttle stops runs beyond its limit, for each subscriber and key", async () => {
  const throttle = { limit: 2, window_s: 3600, key: "payload.project" };
  const key = await steps.workflow([{ key: "limit", throttle }, send("mail", "email")]);
  const results: string[] = [];
  for (const project of ["a", "a", "a", "b"]) {
    const { run_id } = await trigger(key, { payload: { project } });
    const { status, reason } = await until(
      () => steps.run(run_id),
      (run) => run.status === "completed" || run.status === "stopped",
    );
    results.push(`${status} ${reason}`);
  }
  assert.deepEqual(results, ["completed ", "completed ", "stopped throttled", "completed "]);
  const { id } = await sender.subscriber({ email: "d@example.com" });
  const { run_id } = await trigger(key, { subscriber_id: id, payload: { project: "a" } });
  await steps.runIn(run_id, "completed");

  // One of the two has left the window.
  await sql`
    update notification_throttles set passed_at[1] = now() - interval '3601 seconds'
    where workflow_key = ${key} and subscriber_id = ${ada} and throttle_key = 'a'`;
  for (const status of ["completed", "stopped"]) {
    const again = await trigger(key, { payload: { project: "a" } });
    await steps.runIn(again.run_id, status);
  }
});

test("a broadcast takes every member through the steps", async () => {
  const members = await Promise.all([1, 2, 3].map((nth) => sender.subscriber({ email: `m${nth}@example.com` })));
  const topic = await sender.topic(members.map(({ id }) => id));
  const key = await steps.workflow([{ key: "wait", delay: hour }, send("mail", "email")]);
  const { transaction_id } = await sender.trigger({ workflow_key: key, topic });
  const list = async () =>
    (await sender.ok("GET", `/api/v2/notifications/runs?transaction_id=${transaction_id}`)).data as ResponseData[];
  const waiting = await until(list, (runs) => runs.length === 3 && runs.every(({ step_key }) => step_key === "wait"));
  for (const { id } of waiting) await steps.wake(id);
  await until(list, (runs) => runs.every(({ status }) => status === "completed"));
  const deliveries = await steps.settled(transaction_id);
  assert.deepEqual(
    deliveries.map(({ status, broadcast_id }) => [status, broadcast_id === transaction_id]),
    members.map(() => ["sent", true]),
  );
});

test("a run whose step was removed stops, and steps that it has passed do not run again", async () => {
  const wait = { key: "wait", delay: hour };
  const workflow = async (list: readonly object[], key: string) =>
    sender.ok("PUT", `/api/v2/notification/workflows/${key}`, {
      channels: { in_app: { body: "B" }, email: { subject: "S", body: "B" } },
      steps: list,
    });
  const [removed, reordered] = [await steps.workflow([wait, send("mail", "email")]), await sender.workflow()];
  const first = await trigger(removed);
  await steps.runIn(first.run_id, "waiting", "wait");
  await workflow([send("mail", "email")], removed);
  await steps.wake(first.run_id);
  assert.equal((await steps.runIn(first.run_id, "stopped")).reason, "step_removed");

  await workflow([send("inbox", "in_app"), wait, send("mail", "email")], reordered);
  const second = await trigger(reordered);
  await steps.runIn(second.run_id, "waiting", "wait");
  await workflow([wait, send("inbox", "in_app"), send("mail", "email")], reordered);
  await steps.wake(second.run_id);
  assert.deepEqual(outcomesOf(await steps.runIn(second.run_id, "completed")), [
    "inbox sent",
    "wait waited",
    "mail sent",
  ]);
});

test("a trigger with an idempotency key starts one run", async () => {
  const key = await steps.workflow([{ key: "wait", delay: hour }, send("mail", "email")]);
  const headers = { "idempotency-key": `k-${key}` };
  const first = await sender.trigger({ workflow_key: key, subscriber_id: ada }, headers);
  const second = await sender.trigger({ workflow_key: key, subscriber_id: ada }, headers);
  assert.deepEqual(second, first);
  const { data } = await sender.ok("GET", `/api/v2/notifications/runs?transaction_id=${first.transaction_id}`);
  assert.equal(data.length, 1);
});

test("another tenant sees and cancels nothing", async () => {
  const key = await steps.workflow([{ key: "wait", delay: hour }, send("mail", "email")]);
  const { run_id, transaction_id } = await trigger(key);
  await foreign.refused("NOT_FOUND", "GET", `/api/v2/notifications/runs/${run_id}`);
  await foreign.refused("NOT_FOUND", "POST", `/api/v2/notifications/triggers/${transaction_id}:cancel`, {});
  await foreign.refused("NOT_FOUND", "GET", `/api/explain/${run_id}`);
  const { data } = await foreign.ok("GET", `/api/v2/notifications/runs?transaction_id=${transaction_id}`);
  assert.deepEqual(data, []);
  assert.equal((await steps.runIn(run_id, "waiting", "wait")).status, "waiting");
});
