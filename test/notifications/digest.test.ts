import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { newSender, type ResponseData, type Sender } from "./sender-fixture.ts";
import { outcomesOf, steppedFixture } from "./step-fixture.ts";

let sender: Sender;
let sql: TestSql;
let steps: ReturnType<typeof steppedFixture>;
let ada: string;
before(async () => {
  const node = await startService({ "notification.outbox.enabled": "true" });
  sender = await newSender(node);
  sql = connect(node.databaseUrl, 1);
  steps = steppedFixture(sender, sql);
  ada = (await sender.subscriber({ email: "ada@example.com" })).id;
});
after(() => sql.end());

const list = "{{ digest.count }}:{{#each digest.events}} {{ this.payload.title }}{{/each}}";
const email = { subject: list, body: "<ul>{{#each digest.events}}<li>{{ this.payload.title }}</li>{{/each}}</ul>" };
const digestStep = (fields: object = {}) => ({ key: "batch", digest: { window: { for_s: 3600 }, ...fields } });
const mailStep = { key: "mail", send: { channels: ["email"] } };

const digestWorkflow = (fields: object = {}) => steps.workflow([digestStep(fields), mailStep], { email });

/** Waits until a run is in a digest. */
const isCollected = (runId: string) =>
  until(
    () => steps.run(runId),
    ({ status, step_key }) => status === "completed" || (status !== "running" && step_key === "batch"),
  );

/** Triggers one after the other, and waits until each is in a digest; returns the responses. */
async function triggerAll(workflow_key: string, payloads: readonly object[]): Promise<ResponseData[]> {
  const responses: ResponseData[] = [];
  for (const payload of payloads) {
    const response = await sender.trigger({ workflow_key, subscriber_id: ada, payload });
    await isCollected(response.run_id);
    responses.push(response);
  }
  return responses;
}

const titles = (...given: string[]) => given.map((title) => ({ title }));

test("a digest is in the subscriber's language", async () => {
  const locales = {
    de: {
      subject: "{{ digest.count }} Nachrichten",
      body: "<ol>{{#each digest.events}}<li>{{ this.payload.title }}</li>{{/each}}</ol>",
    },
  };
  const key = await steps.workflow([digestStep(), mailStep], { email: { ...email, locales } });
  const { id: subscriber_id } = await sender.subscriber({ email: "eva@example.com", locale: "de-AT" });
  const [first] = [await sender.trigger({ workflow_key: key, subscriber_id, payload: { title: "a" } })];
  await isCollected(first.run_id);
  await steps.wake(first.run_id);
  await steps.runIn(first.run_id, "completed");
  await steps.settled(first.transaction_id);
  const [mail] = await steps.outbox(key);
  assert.deepEqual([mail.subject, mail.html], ["1 Nachrichten", "<ol><li>a</li></ol>"]);
});

test("a digest sends one message whose templates iterate over the triggers in their order", async () => {
  const key = await digestWorkflow();
  const [first, second, third] = await triggerAll(key, titles("a", "b", "<c>"));
  const collected = await steps.runIn(second.run_id, "collected");
  assert.equal(collected.leader_run_id, first.run_id);
  await steps.wake(first.run_id);
  const done = await steps.runIn(first.run_id, "completed");
  assert.deepEqual([outcomesOf(done), done.digest_count], [["batch collected", "mail sent"], 3]);
  await steps.settled(first.transaction_id);
  const [mail, ...others] = await steps.outbox(key);
  assert.deepEqual([mail.subject, mail.html], ["3: a b <c>", "<ul><li>a</li><li>b</li><li>&lt;c&gt;</li></ul>"]);
  assert.deepEqual(others, []);
  for (const { run_id } of [second, third]) assert.equal((await steps.runIn(run_id, "completed")).reason, "digested");
  const { data: events } = await sender.ok("GET", "/api/events?types=notification.run.completed&limit=100");
  const reasons = new Map(events.map(({ subject, data }: ResponseData) => [subject, data.reason]));
  assert.deepEqual(
    [first, second, third].map(({ run_id }) => reasons.get(run_id)),
    ["", "digested", "digested"],
  );

  const [next] = await triggerAll(key, titles("d"));
  const { wake_at } = await steps.runIn(next.run_id, "waiting", "batch");
  const leftMs = Date.parse(wake_at) - Date.now();
  assert.ok(leftMs > 3_500_000 && leftMs <= 3_600_000, wake_at);
});

test("a digest has the triggers in their order, whichever of their runs reaches it first", async () => {
  const key = await steps.workflow([{ key: "wait", delay: { for_s: 3600 } }, digestStep(), mailStep], { email });
  const trigger = (title: string) => sender.trigger({ workflow_key: key, subscriber_id: ada, payload: { title } });
  const [first, second] = [await trigger("a"), await trigger("b")];
  for (const { run_id } of [second, first]) {
    await steps.runIn(run_id, "waiting", "wait");
    await steps.wake(run_id);
    await isCollected(run_id);
  }
  await steps.wake(second.run_id);
  await steps.runIn(second.run_id, "completed");
  await steps.settled(second.transaction_id);
  assert.equal((await steps.outbox(key))[0].subject, "2: a b");
});

test("concurrent triggers become one digest, and every one of them is counted", async () => {
  const key = await digestWorkflow();
  const payloads = titles(..."abcdefghijkl");
  const responses = await Promise.all(
    payloads.map((payload) => sender.trigger({ workflow_key: key, subscriber_id: ada, payload })),
  );
  const all = () => Promise.all(responses.map(({ run_id }) => steps.run(run_id)));
  const runs = await until(all, (seen) =>
    seen.every(({ step_key, status }) => step_key === "batch" && status !== "running"),
  );
  const [leader, ...others] = runs.filter(({ status }) => status === "waiting");
  assert.deepEqual(others, []);
  await steps.wake(leader.id);
  assert.equal((await steps.runIn(leader.id, "completed")).digest_count, payloads.length);
});

test("a digest keeps a bounded number of payloads and counts the others", async () => {
  const key = await digestWorkflow({ events_max: 2 });
  const [first, , third] = await triggerAll(key, titles("a", "b", "c"));
  assert.deepEqual(
    [(await steps.run(third.run_id)).status, (await steps.run(third.run_id)).reason],
    ["completed", "digested"],
  );
  await steps.wake(first.run_id);
  await steps.runIn(first.run_id, "completed");
  await steps.settled(first.transaction_id);
  assert.equal((await steps.outbox(key))[0].subject, "3: a b");
});

test("triggers with different keys are collected separately", async () => {
  const key = await digestWorkflow({ key: "payload.project" });
  const [one, two] = await triggerAll(key, [{ project: 1 }, { project: 2 }]);
  for (const { run_id } of [one, two]) assert.equal((await steps.run(run_id)).status, "waiting");
});

test("a cancelled trigger leaves its digest, and another one leads it", async () => {
  const key = await digestWorkflow();
  const [first, second, third] = await triggerAll(key, titles("a", "b", "c"));
  const { cancelled_runs } = await steps.cancel(first.transaction_id);
  assert.equal(cancelled_runs, 1);
  await steps.cancel(third.transaction_id);
  const heir = await steps.runIn(second.run_id, "waiting", "batch");
  assert.equal(heir.leader_run_id, "");
  await steps.wake(second.run_id);
  await steps.runIn(second.run_id, "completed");
  await steps.settled(second.transaction_id);
  assert.deepEqual(
    (await steps.outbox(key)).map(({ subject }) => subject),
    ["1: b"],
  );
  assert.deepEqual(
    [(await steps.run(first.run_id)).status, (await steps.run(third.run_id)).status],
    ["cancelled", "cancelled"],
  );
});

test("a digest whose only trigger is cancelled sends nothing", async () => {
  const key = await digestWorkflow();
  const [first] = await triggerAll(key, titles("a"));
  await steps.cancel(first.transaction_id);
  const [next] = await triggerAll(key, titles("b"));
  await steps.wake(next.run_id);
  await steps.runIn(next.run_id, "completed");
  await steps.settled(next.transaction_id);
  assert.deepEqual(
    (await steps.outbox(key)).map(({ subject }) => subject),
    ["1: b"],
  );
});
