import assert from "node:assert/strict";
import { test } from "node:test";
import { startService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { startReceiver } from "../routing/receiver.ts";
import { newSender, serveChannel } from "./sender-fixture.ts";

const path = "/api/v2/notifications/trigger";

test("when disabled, triggers are rejected with 412 without effect, and management still works", async () => {
  const sender = await newSender(await startService({ "notification.dispatch.enabled": "false" }));
  const { id } = await sender.subscriber();
  const workflow_key = await sender.workflow();
  const topic = await sender.topic([id]);
  for (const to of [{ subscriber_id: id }, { topic }]) {
    const response = await sender.refused("FAILED_PRECONDITION", "POST", path, { workflow_key, ...to });
    assert.equal(response.status, 412);
  }
  assert.deepEqual(await sender.deliveries(`subscriber_id=${id}`), []);
  assert.deepEqual(await sender.inbox(id), []);
});

test("without a durable queue topics are rejected before anything is accepted, and nothing is retried", async () => {
  const sender = await newSender(await startService({ "notification.dispatch.queue": "none" }));
  const { id } = await sender.subscriber({ phone: "+4930901820" });
  const workflow_key = await sender.workflow({ channels: { sms: { body: "B" }, in_app: { body: "B" } } });
  const topic = await sender.topic([id]);
  const refusal = await sender.refused("FAILED_PRECONDITION", "POST", path, { workflow_key, topic });
  assert.match(refusal.text, /queue_unavailable/);
  const receiver = await startReceiver(() => ({ status: 503 }));
  const connection = { settings: { url: receiver.url, from: "S" }, credentials: { token: "t" } };
  await serveChannel(sender, "sms", "http_sms", connection);
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: id });
  const told = outcomes.map((each: Record<string, unknown>) => [each.channel, each.outcome, each.retryable]);
  assert.deepEqual(told, [
    ["in_app", "sent", false],
    ["sms", "failed", false],
  ]);
});

test("a slow provider delays neither single sends nor another tenant's broadcast", async () => {
  const node = await startService({ "notification.outbox.enabled": "true" });
  const sender = await newSender(node);
  const held = Promise.withResolvers<void>();
  let first = true;
  const receiver = await startReceiver(async ({ body }) => {
    const { text } = JSON.parse(body);
    if (text === "many") await held.promise;
    if (text === "one" && first) {
      first = false;
      return { status: 503 };
    }
    return { status: 200 };
  });
  const connection = { settings: { url: receiver.url, from: "S" }, credentials: { token: "t" } };
  await serveChannel(sender, "sms", "http_sms", connection);
  // One tenant may use at most half of the capacity.
  const tenantMax = 64;
  const memberCount = tenantMax + 28;
  const members = await Promise.all(
    Array.from({ length: memberCount }, () => sender.subscriber({ phone: "+4930901820" })),
  );
  const topic = await sender.topic(members.map(({ id }) => id));
  const many = await sender.workflow({ channels: { sms: { body: "many" } } });
  const { transaction_id } = await sender.trigger({ workflow_key: many, topic });
  await until(
    () => receiver.received.length,
    (count) => count >= tenantMax,
  );
  const one = await sender.workflow({ channels: { sms: { body: "one" } } });
  const { outcomes } = await sender.trigger({ workflow_key: one, subscriber_id: members[0].id });
  const sent = await until(
    () => sender.delivery(outcomes[0].delivery_id),
    ({ status }) => status === "sent",
  );
  assert.equal(sent.execution_attempt, 2);
  const waiting = (await sender.deliveries(`transaction_id=${transaction_id}`)).filter(
    (each) => each.status === "queued",
  );
  assert.equal(waiting.length, memberCount - tenantMax);
  const another = await newSender(node);
  const reader = await another.subscriber({ phone: "+4930901820" });
  const news = await another.workflow({ channels: { sms: { body: "news" } } });
  const theirs = await another.trigger({ workflow_key: news, topic: await another.topic([reader.id]) });
  await until(
    () => another.deliveries(`transaction_id=${theirs.transaction_id}`),
    (found) => found.length === 1 && found[0].status === "sent",
  );
  held.resolve();
  await until(
    () => sender.deliveries(`transaction_id=${transaction_id}`),
    (found) => found.length === memberCount && found.every(({ status }) => status === "sent"),
  );
});
