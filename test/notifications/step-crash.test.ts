import assert from "node:assert/strict";
import { test } from "node:test";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { startReceiver } from "../routing/receiver.ts";
import { newSender, type ResponseData, senderAt, serveChannel } from "./sender-fixture.ts";
import { outcomesOf, steppedFixture } from "./step-fixture.ts";

const settings = {
  "auth.bootstrap_api_key": "sk_test_stepcrash_0123456789abcdef",
  "connector.encryption_key": Buffer.from("0123456789abcdefghijklmnopqrstuv").toString("base64"),
};
const count = 30;

test("waiting runs survive the death of their node, and two other nodes send each message once", async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const gateway = await startReceiver(() => ({ status: 200 }));
  const node = await startNodeProcess({ ...settings, "database.url": database.url });
  t.after(() => node.kill());
  const sender = await newSender(node);
  const connection = { settings: { url: gateway.url, from: "S" }, credentials: { token: "t" } };
  await serveChannel(sender, "sms", "http_sms", connection);
  const workflow_key = await sender.workflow({
    channels: { sms: { body: "{{ payload.nth }}" }, in_app: { body: "B" } },
    steps: [
      { key: "inbox", send: { channels: ["in_app"] } },
      { key: "wait", delay: { for_s: 3600 } },
      { key: "limit", throttle: { limit: 1, window_s: 3600, key: "payload.nth" } },
      { key: "text", send: { channels: ["sms"] } },
    ],
  });
  const { id: subscriber_id } = await sender.subscriber({ phone: "+4930901820" });
  const started = await Promise.all(
    Array.from({ length: count }, (_, nth) => sender.trigger({ workflow_key, subscriber_id, payload: { nth } })),
  );
  // The node dies while some runs are being advanced, and the others wait.
  await node.kill();

  const { sql } = database;
  await sql`update notification_runs set lease_until = now() - interval '1 second' where status = 'running'`;
  await sql`update notification_deliveries set lease_until = now() - interval '1 second' where status = 'running'`;
  const [first] = await Promise.all([startService(settings, database.url), startService(settings, database.url)]);
  const there = senderAt(first, sender);
  await until(async () => {
    await sql`update notification_runs set wake_at = now() where status = 'waiting' and wake_at > now()`;
    return (await sql`select from notification_runs where status <> 'completed'`).length === 0;
  });
  const ended = await Promise.all(started.map(({ run_id }) => steppedFixture(there, sql).run(run_id)));
  for (const run of ended) {
    assert.deepEqual(outcomesOf(run), ["inbox sent", "wait waited", "limit passed", "text sent"]);
  }
  await until(
    () => there.deliveries(`subscriber_id=${subscriber_id}`),
    (all) => all.length === 2 * count && all.every(({ status }) => status === "sent"),
  );
  const texts = gateway.received.map(({ body }: ResponseData) => JSON.parse(body).text);
  assert.deepEqual(
    texts.toSorted((a: string, b: string) => Number(a) - Number(b)),
    Array.from({ length: count }, (_, nth) => String(nth)),
  );
  const messages = await until(
    () => there.inbox(subscriber_id),
    (found) => found.length >= count,
  );
  assert.equal(messages.length, count);
});

test("a run that a dead node was advancing is recovered when its lease expires", async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const { sql } = database;
  const service = await startService(settings, database.url);
  const sender = await newSender(service);
  const { runIn, run } = steppedFixture(sender, sql);
  const workflow_key = await sender.workflow({
    steps: [
      { key: "wait", delay: { for_s: 3600 } },
      { key: "inbox", send: { channels: ["in_app"] } },
    ],
  });
  const { id: subscriber_id } = await sender.subscriber();
  const { run_id } = await sender.trigger({ workflow_key, subscriber_id });
  await runIn(run_id, "waiting", "wait");
  await sql`update notification_runs set status = 'running', lease_token = 'of a dead node',
    lease_until = now() - interval '1 second' where id = ${run_id}`;
  const recovered = await until(
    () => run(run_id),
    ({ status }) => status === "completed",
  );
  assert.deepEqual(outcomesOf(recovered), ["wait waited", "inbox sent"]);
  const messages = await until(
    () => sender.inbox(subscriber_id),
    (found) => found.length > 0,
  );
  assert.equal(messages.length, 1);
});
