import assert from "node:assert/strict";
import { before, test } from "node:test";
import { avoidMidnight } from "../harness/midnight.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newSender, type ResponseData, type Sender } from "./sender-fixture.ts";

let node: TestService;
before(async () => {
  node = await startService();
});

const path = "/api/v2/notifications/trigger";

/** A tenant with a daily trigger quota, and a subscriber. */
async function limitedSender(
  limit: number,
): Promise<{ sender: Sender; to: { workflow_key: string; subscriber_id: string } }> {
  await avoidMidnight();
  const sender = await newSender(node);
  const workflow_key = await sender.workflow({ channels: { in_app: { body: "B" } } });
  const { id: subscriber_id } = await sender.subscriber();
  const platform = restClient(node.baseUrl, node.adminKey);
  const quotas = { "notification.trigger": { limit_per_day: limit } };
  const changed = await platform.call("PATCH", `/api/tenants/${sender.id}`, { quotas });
  assert.equal(changed.status, 200, changed.text);
  return { sender, to: { workflow_key, subscriber_id } };
}

async function usedBy(sender: Sender): Promise<number> {
  return (await sender.ok("GET", `/api/tenants/${sender.id}/quota/notification.trigger`)).data.used;
}

test("each trigger, also to a topic, uses one unit of the daily quota, and nothing is written beyond it", async () => {
  const { sender, to } = await limitedSender(3);
  const { workflow_key, subscriber_id } = to;
  const topic = await sender.topic([subscriber_id]);
  const inline = { workflow_key, subscriber_external_id: freshName(), subscriber: { first_name: "Lin" } };
  const headers = { "idempotency-key": freshName() };
  const first = await sender.trigger(to, headers);
  const broadcast = await sender.trigger({ workflow_key, topic });
  await sender.trigger(inline);
  assert.equal(await usedBy(sender), 3);
  // The end of a broadcast records an event.
  await until(
    async () => (await sender.ok("GET", `/api/v2/notifications/broadcasts/${broadcast.transaction_id}`)).data,
    ({ status }: ResponseData) => status === "completed",
  );

  const events = async () => (await sender.rest.call("GET", "/api/events?limit=1000")).body.data.length;
  const before = await events();
  const stranger = freshName();
  for (const request of [to, { workflow_key, topic }, { ...inline, subscriber_external_id: stranger }]) {
    const { body } = await sender.refused("QUOTA_EXCEEDED", "POST", path, request);
    assert.deepEqual([body.status, body.retryable], [429, false]);
  }
  const found = await sender.rest.call("GET", `/api/v2/notification/subscribers?external_id=${stranger}`);
  assert.deepEqual(found.body.data, []);
  assert.equal(await events(), before);
  assert.equal(await usedBy(sender), 3);
  // A repeat gets the same response and uses no quota.
  const repeated = await sender.trigger(to, headers);
  assert.equal(repeated.transaction_id, first.transaction_id);
});

test("concurrent triggers use exactly the quota", async () => {
  const { sender, to } = await limitedSender(5);
  const responses = await Promise.all(Array.from({ length: 20 }, () => sender.rest.call("POST", path, to)));
  const codes = responses.map(({ status, body }) => (status === 200 ? "OK" : body.errorCode)).sort();
  assert.deepEqual(codes, [...Array(5).fill("OK"), ...Array(15).fill("QUOTA_EXCEEDED")]);
  assert.equal((await sender.inbox(to.subscriber_id)).length, 5);
  assert.equal(await usedBy(sender), 5);
});

test("a rejected or repeated trigger uses no quota", async () => {
  const { sender, to } = await limitedSender(1);
  const { workflow_key } = to;
  const overrides = { in_app: { body: "{{#each" } };
  await sender.refused("INVALID_ARGUMENT", "POST", path, { ...to, overrides });
  await sender.refused("NOT_FOUND", "POST", path, { ...to, subscriber_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" });
  await sender.refused("NOT_FOUND", "POST", path, { workflow_key, topic: "nobody" });
  const broken = { workflow_key, subscriber_external_id: freshName(), subscriber: { email: "no address" } };
  await sender.refused("INVALID_ARGUMENT", "POST", path, broken);
  const headers = { "idempotency-key": freshName() };
  const responses = await Promise.all(Array.from({ length: 3 }, () => sender.rest.call("POST", path, to, headers)));
  const taken = responses
    .filter(({ status }) => status === 200)
    .map(({ body }: ResponseData) => body.data.transaction_id);
  assert.ok(taken.length > 0 && new Set(taken).size === 1);
  assert.equal(await usedBy(sender), 1);
});

test("triggers of a batch that are refused use no quota, whatever refuses them", async () => {
  const { sender, to } = await limitedSender(2);
  const { workflow_key } = to;
  const batch = "/api/v2/notifications/trigger:batch";
  const unknown = [
    { workflow_key, topic: "nobody" },
    { workflow_key, subscriber_external_id: freshName() },
  ];
  for (const triggers of [unknown, [{ workflow_key, topic: "nobody" }, to], [{ workflow_key, topic: "nobody" }, to]]) {
    const { data } = await sender.ok("POST", batch, { triggers });
    assert.ok(data.results.some(({ error_code }: ResponseData) => error_code === "NOT_FOUND"));
  }
  assert.equal(await usedBy(sender), 2);
  await sender.refused("QUOTA_EXCEEDED", "POST", batch, { triggers: [to] });
});

test("a rejected trigger does not change an inline profile", async () => {
  const sender = await newSender(node);
  const workflow_key = await sender.workflow();
  const subscriber_external_id = freshName();
  const overrides = { in_app: { body: "{{#each" } };
  const request = { workflow_key, subscriber_external_id, subscriber: { first_name: "Lin" }, overrides };
  await sender.refused("INVALID_ARGUMENT", "POST", path, request);
  const found = await sender.rest.call("GET", `/api/v2/notification/subscribers?external_id=${subscriber_external_id}`);
  assert.deepEqual(found.body.data, []);
});
