import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { inEachProtocol } from "../routing/tenant-fixture.ts";
import { freshName, newSender, type Sender } from "./sender-fixture.ts";

let node: TestService;
let sender: Sender;
before(async () => {
  node = await startService({ "notification.outbox.enabled": "true" });
  sender = await newSender(node);
});

test("a triggered message is in the subscriber's inbox when the response arrives, rendered from the workflow", async () => {
  const subscriber = await sender.subscriber({ first_name: "Grace" });
  const workflow_key = await sender.workflow();
  const { transaction_id, outcomes } = await sender.trigger({
    workflow_key,
    subscriber_id: subscriber.id,
    payload: { order: 42 },
  });
  assert.equal(outcomes.length, 1);
  assert.equal(outcomes[0].channel, "in_app");
  assert.equal(outcomes[0].outcome, "sent");
  assert.equal(outcomes[0].preference_reason_code, "allowed_default");
  const [message] = await sender.inbox(subscriber.id);
  assert.equal(message.id, outcomes[0].delivery_id);
  assert.deepEqual([message.title, message.body], ["Hello Grace", "Order 42 is on its way."]);
  const [delivery] = await sender.deliveries(`transaction_id=${transaction_id}`);
  assert.equal(delivery.status, "sent");
  assert.equal(delivery.resolver_version, "preference-v2");
  assert.equal(delivery.subscriber_id, subscriber.id);
});

test("REST and Connect notify equally", async () => {
  const workflow_key = await sender.workflow();
  const { id } = await sender.subscriber();
  const responses = await inEachProtocol(node, sender, "NotificationService/TriggerNotification", {
    workflow_key,
    subscriber_id: id,
    payload: { order: 1 },
  });
  for (const { protocol, data } of responses) assert.equal(data.outcomes[0].outcome, "sent", protocol);
  assert.equal((await sender.inbox(id)).length, responses.length);
});

test("an inline profile creates the subscriber before the notification, and changes only the named fields", async () => {
  const workflow_key = await sender.workflow();
  const external = freshName();
  const named = { workflow_key, subscriber_external_id: external, payload: { order: 1 } };
  await sender.refused("NOT_FOUND", "POST", "/api/v2/notifications/trigger", named);
  await sender.trigger({ ...named, subscriber: { first_name: "Lin", email: "lin@example.com" } });
  await sender.trigger({ ...named, subscriber: { first_name: "Lina" } });
  const { body } = await sender.rest.call("GET", `/api/v2/notification/subscribers?external_id=${external}`);
  assert.deepEqual([body.data[0].first_name, body.data[0].email], ["Lina", "lin@example.com"]);
  const titles = (await sender.inbox(body.data[0].id)).map(({ title }) => title);
  assert.deepEqual(titles, ["Hello Lina", "Hello Lin"]);
});

test("a recipient is named in exactly one form, and an inline profile requires an external id", async () => {
  const workflow_key = await sender.workflow();
  const { id, external_id } = await sender.subscriber();
  const path = "/api/v2/notifications/trigger";
  for (const fields of [
    {},
    { subscriber_id: id, subscriber_external_id: external_id },
    { subscriber_id: id, topic: "some_topic" },
    { subscriber_id: id, subscriber: { first_name: "X" } },
    { subscriber_id: id, channels: ["pigeon"] },
    { subscriber_id: id, payload: { text: "x".repeat(300 * 1024) } },
  ]) {
    await sender.refused("INVALID_ARGUMENT", "POST", path, { workflow_key, ...fields });
  }
  const stranger = await newSender(node);
  const own = await stranger.workflow();
  await stranger.refused("NOT_FOUND", "POST", path, { workflow_key: own, subscriber_id: id });
  assert.deepEqual(await sender.inbox(id), []);
});

test("channels that a subscriber has disabled are skipped with a reason, and the others are sent", async () => {
  const workflow_key = await sender.workflow({
    channels: { in_app: { title: "T", body: "B" }, email: { subject: "S", body: "<p>B</p>" } },
  });
  const { id } = await sender.subscriber({ email: "ada@example.com" });
  await sender.prefer(id, { workflow_key, channels: { in_app: { enabled: false } } });
  const { outcomes, transaction_id } = await sender.trigger({ workflow_key, subscriber_id: id });
  const told = outcomes.map((each: Record<string, string>) => [
    each.channel,
    each.outcome,
    each.preference_reason_code,
  ]);
  assert.deepEqual(told, [
    ["in_app", "skipped", "denied_by_layer"],
    ["email", "sent", "allowed_default"],
  ]);
  const [skipped] = (await sender.deliveries(`transaction_id=${transaction_id}`)).filter(
    ({ status }) => status === "skipped",
  );
  assert.equal(skipped.preference_winning_layer, 4);
  assert.deepEqual(await sender.inbox(id), []);
});

test("an inactive subscriber gets nothing", async () => {
  const workflow_key = await sender.workflow();
  const { id } = await sender.subscriber();
  await sender.ok("DELETE", `/api/v2/notification/subscribers/${id}`);
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: id });
  assert.deepEqual(
    [outcomes[0].outcome, outcomes[0].preference_reason_code],
    ["skipped", "denied_subscriber_inactive"],
  );
});

test("every address of a channel gets its own message, and a subscriber without one is reported", async () => {
  const workflow_key = await sender.workflow({ channels: { email: { subject: "S", body: "B" }, push: { body: "P" } } });
  const { id } = await sender.subscriber({ email: "not-used@example.com" });
  const first = await sender.endpoint(id, { channel: "email", identity: `${freshName()}@example.com` });
  const second = await sender.endpoint(id, { channel: "email", identity: `${freshName()}@example.com` });
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: id });
  const told = outcomes.map((each: Record<string, string>) => [
    each.channel,
    each.endpoint_id,
    each.outcome,
    each.failure_code,
  ]);
  assert.deepEqual(told, [
    ["email", first.id, "sent", ""],
    ["email", second.id, "sent", ""],
    ["push", "", "skipped", "no_endpoint"],
  ]);
});

test("requested channels are the only ones, and overrides replace the workflow's content", async () => {
  const workflow_key = await sender.workflow({
    channels: { in_app: { title: "T", body: "B" }, email: { subject: "S", body: "B" } },
  });
  const { id } = await sender.subscriber({ email: "ada@example.com" });
  const { outcomes } = await sender.trigger({
    workflow_key,
    subscriber_id: id,
    channels: ["in_app"],
    overrides: { in_app: { body: "Only {{ payload.n }} left", data: { link: "/shop" } } },
    payload: { n: 3 },
  });
  assert.deepEqual(
    outcomes.map(({ channel }: { channel: string }) => channel),
    ["in_app"],
  );
  const [message] = await sender.inbox(id);
  assert.deepEqual([message.title, message.body, message.data], ["T", "Only 3 left", { link: "/shop" }]);
});

test("a workflow without content for a channel fails there, and can be redriven once it has content", async () => {
  const workflow_key = await sender.workflow({ channels: { sms: { body: "Elsewhere" } } });
  const { id } = await sender.subscriber();
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: id, channels: ["in_app"] });
  const [{ outcome, failure_phase, failure_code, delivery_id }] = outcomes;
  assert.deepEqual([outcome, failure_phase, failure_code], ["failed", "render", "template_missing"]);
  const delivery = await sender.delivery(delivery_id);
  assert.notEqual(delivery.dead_letter_id, "");
  const [letter] = (await sender.letters("status=open")).filter((each) => each.delivery_id === delivery_id);
  assert.equal(letter.id, delivery.dead_letter_id);
  await sender.ok("PUT", `/api/v2/notification/workflows/${workflow_key}`, { channels: { in_app: { body: "Now" } } });
  await sender.ok("POST", `/api/v2/notifications/dead-letters/${letter.id}:redrive`, {});
  await until(
    () => sender.delivery(delivery_id),
    ({ status }) => status === "sent",
  );
  assert.deepEqual(
    (await sender.inbox(id)).map(({ body }) => body),
    ["Now"],
  );
});

test("an invalid template or profile is rejected by name, and nothing is sent", async () => {
  const { id } = await sender.subscriber();
  const topic = await sender.topic([id]);
  const workflow_key = await sender.workflow();
  const path = "/api/v2/notifications/trigger";
  const overrides = { email: { body: "{{#each payload}}" } };
  for (const to of [{ subscriber_id: id }, { topic }]) {
    const { body } = await sender.refused("INVALID_ARGUMENT", "POST", path, { workflow_key, overrides, ...to });
    assert.equal(body.violations[0].field, "overrides.email.body");
  }
  const inline = { subscriber_external_id: freshName(), subscriber: { email: "not an address" } };
  const { body } = await sender.refused("INVALID_ARGUMENT", "POST", path, { workflow_key, ...inline });
  assert.equal(body.violations[0].field, "subscriber.email");
  assert.deepEqual(await sender.inbox(id), []);
});

test("a missing variable renders empty, or fails when the workflow is strict", async () => {
  const { id } = await sender.subscriber();
  const lax = await sender.workflow({ channels: { in_app: { body: "Order {{ payload.order }}!" } } });
  await sender.trigger({ workflow_key: lax, subscriber_id: id });
  assert.equal((await sender.inbox(id))[0].body, "Order !");
  const content = { body: "Order {{ payload.order }}!", strict_variables: true };
  const strict = await sender.workflow({ channels: { in_app: content } });
  const { outcomes } = await sender.trigger({ workflow_key: strict, subscriber_id: id });
  assert.deepEqual([outcomes[0].outcome, outcomes[0].failure_code], ["failed", "variable_missing"]);
  assert.match(outcomes[0].failure_detail, /payload\.order/);
});

test("a trigger repeated with its key notifies once and gets the same response", async () => {
  const workflow_key = await sender.workflow({
    channels: { in_app: { title: "T", body: "B" }, email: { subject: "S", body: "B" } },
  });
  const { id } = await sender.subscriber({ email: "ada@example.com" });
  const headers = { "idempotency-key": freshName() };
  const body = { workflow_key, subscriber_id: id };
  const responses = await Promise.all(
    Array.from({ length: 8 }, () => sender.rest.call("POST", "/api/v2/notifications/trigger", body, headers)),
  );
  for (const answer of responses) assert.equal(answer.status, 200, answer.text);
  const once = new Set(responses.map((answer) => answer.body.data.transaction_id));
  assert.equal(once.size, 1);
  assert.equal((await sender.inbox(id)).length, 1);
  const again = await sender.rest.call("POST", "/api/v2/notifications/trigger", body, headers);
  assert.deepEqual(
    again.body.data,
    responses.find((each) => each.headers.get("idempotency-replayed") === null)!.body.data,
  );
  const other = await sender.rest.call("POST", "/api/v2/notifications/trigger", { ...body, user_id: "u" }, headers);
  assert.equal(other.body.errorCode, "IDEMPOTENCY_KEY_REUSED");
});

test("messages without a provider are stored in the outbox, where developers see them", async () => {
  const workflow_key = await sender.workflow({
    channels: { email: { subject: "Hi {{payload.x}}", body: "<b>{{payload.x}}</b>" } },
  });
  const { id } = await sender.subscriber({ email: "grace@example.com" });
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: id, payload: { x: "<you>" } });
  const delivery = await sender.delivery(outcomes[0].delivery_id);
  assert.deepEqual([delivery.status, delivery.provider_key], ["sent", "development"]);
  const { body } = await sender.rest.call("GET", "/api/v2/notification/outbox?channel=email");
  const [message] = body.data;
  assert.deepEqual(
    [message.id, message.recipient, message.subject, message.html, message.body],
    [delivery.id, "grace@example.com", "Hi <you>", "<b>&lt;you&gt;</b>", "<you>"],
  );
});

test("deliveries are listed newest first: all, those to a subscriber, or those of a trigger", async () => {
  const workflow_key = await sender.workflow();
  const { id } = await sender.subscriber();
  const triggered = [];
  for (let n = 0; n < 3; n++) triggered.push(await sender.trigger({ workflow_key, subscriber_id: id }));
  const listed = (await sender.deliveries(`subscriber_id=${id}`)).map(({ transaction_id }) => transaction_id);
  assert.deepEqual(listed, triggered.map(({ transaction_id }) => transaction_id).reverse());
  const path = "/api/v2/notifications/deliveries";
  await sender.refused("INVALID_ARGUMENT", "GET", `${path}?subscriber_id=${id}&transaction_id=${listed[0]}`);
  const other = await sender.trigger({ workflow_key, subscriber_id: (await sender.subscriber()).id });
  const newest = await sender.ok("GET", `${path}?limit=2`);
  const next = await sender.ok("GET", `${path}?limit=2&cursor=${newest.next_cursor}`);
  assert.deepEqual(
    [...newest.data, ...next.data].map(({ transaction_id }) => transaction_id),
    [other.transaction_id, ...listed],
  );
  const stranger = await newSender(node);
  assert.deepEqual(await stranger.deliveries(`subscriber_id=${id}`), []);
  assert.deepEqual(await stranger.deliveries(""), []);
});
