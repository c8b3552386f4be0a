import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startTokenServer } from "../connectors/acme.ts";
import { connect, type TestSql } from "../harness/postgres-server.ts";
import { readRows } from "../harness/rows.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { inEachProtocol } from "../routing/tenant-fixture.ts";
import { newSender, type ResponseData, type Sender } from "./sender-fixture.ts";
import { steppedFixture } from "./step-fixture.ts";

let node: TestService;
let sql: TestSql;
before(async () => {
  node = await startService({ "notification.outbox.enabled": "true" });
  sql = connect(node.databaseUrl, 1);
});
after(() => sql.end());

const path = "/api/v2/notifications/triggers:simulate";
const simulate = async (sender: Sender, body: object): Promise<ResponseData> =>
  (await sender.ok("POST", path, body)).data;
/** A mail provider whose connections have tokens. */
const tokenMail = {
  ...{ manifest: 1, key: "token-mail", version: "1.0.0", name: "Mail", category: "email", description: "Mail." },
  ...{ hosts: ["{settings.url}"], base_url: "{settings.url}" },
  settings: { url: { title: "URL", pattern: "^http://[^?#]+$", example: "http://127.0.0.1:1", required: true } },
  auth: {
    oauth2_cc: {
      fields: { client_id: { title: "Client id", secret: false }, client_secret: { title: "Client secret" } },
      token: { url: "{settings.url}/token", client_auth: "basic", format: "form" },
    },
  },
  actions: {
    "mail.send": {
      ...{ title: "Send a mail", mutation: { effect: "send", idempotency: "none" } },
      input: { type: "object", required: ["to"], properties: { to: { type: "string" } }, additionalProperties: false },
      request: { method: "POST", path: "/mails", json: { to: "{input.to}" } },
    },
  },
  notifications: { channels: { email: { send: [{ action: "mail.send", input: { to: "{message.to}" } }] } } },
};
const content = { email: { subject: "Order {{ payload.order }}", body: "B" }, sms: { body: "B" } };

/** Reads the deliveries of a trigger when none is in progress. */
const settled = (sender: Sender, transactionId: string) => steppedFixture(sender, sql).settled(transactionId);

/** Sends the same traffic: for each subscriber a trigger with another order. Returns the messages by channel and sender. */
async function sendTraffic(sender: Sender, workflow_key: string, subscribers: readonly string[]) {
  const triggers = subscribers.map((subscriber_id, order) => ({ workflow_key, subscriber_id, payload: { order } }));
  const { results } = (await sender.ok("POST", "/api/v2/notifications/trigger:batch", { triggers })).data;
  const sent: Record<string, number> = {};
  for (const { transaction_id } of results) {
    for (const delivery of await settled(sender, transaction_id)) {
      if (delivery.status !== "sent") continue;
      const by = delivery.integration_id || delivery.provider_key;
      for (const key of [delivery.channel, by]) sent[key] = (sent[key] ?? 0) + 1;
    }
  }
  return sent;
}

/** The simulated messages by channel and sender. */
function shownBy({ channels, integrations }: ResponseData, side: "recorded" | "before" | "after") {
  const all = [
    ...channels.map((each: ResponseData) => [each.channel, each[side]]),
    ...integrations.map((each: ResponseData) => [each.integration_id || each.name, each[side]]),
  ];
  return Object.fromEntries(all.filter(([, count]) => count > 0));
}

test("what a simulation shows is what the same triggers send after the changes", async () => {
  const sender = await newSender(node);
  const integration = (fields: object) => ({ channel: "email", provider_key: "development", ...fields });
  const created = async (fields: object): Promise<ResponseData> =>
    (await sender.ok("POST", "/api/v2/notification/integrations", integration(fields))).data;
  const first = await created({ name: "first" });
  const second = await created({ name: "second", priority: 200 });
  const workflow_key = await sender.workflow({ channels: content });
  const subscribers: string[] = [];
  for (let nth = 0; nth < 12; nth++) {
    const address = { email: "a@example.com", phone: "+4930901820", locale: nth % 3 === 0 ? "de" : "en" };
    const { id } = await sender.subscriber(address);
    if (nth % 4 === 0) await sender.prefer(id, { channels: { sms: { enabled: false } } });
    subscribers.push(id);
  }
  const was = await sendTraffic(sender, workflow_key, subscribers);
  const changes = {
    workflows: [{ workflow_key, preferences: { condition: "payload.order < 6", all: false } }],
    integrations: [{ id: first.id, condition: 'subscriber.locale == "de"' }],
  };
  const shown = await simulate(sender, changes);
  assert.deepEqual([shown.triggers, shown.reproduced, shown.without_payload], [12, 12, 0]);
  assert.deepEqual(shownBy(shown, "recorded"), was);
  assert.deepEqual(shownBy(shown, "before"), was);
  const { preferences } = changes.workflows[0]!;
  await sender.ok("PUT", `/api/v2/notification/workflows/${workflow_key}`, { channels: content, preferences });
  const { condition } = changes.integrations[0]!;
  await sender.ok("PUT", `/api/v2/notification/integrations/${first.id}`, integration({ name: "first", condition }));
  assert.deepEqual(shownBy(shown, "after"), await sendTraffic(sender, workflow_key, subscribers));
  assert.deepEqual(shown.changes, [
    { change: "stopped", messages: 10 },
    { change: "integration", messages: 4 },
  ]);
  assert.deepEqual(shown.outcomes, [{ before: "sent", after: "denied_by_layer", messages: 10 }]);
  const [rerouted] = shown.examples.filter(({ change }: ResponseData) => change === "integration");
  assert.deepEqual([rerouted.before, rerouted.after], ["first", second.name]);
  const opened = await sender.delivery(rerouted.delivery_id);
  assert.deepEqual([opened.channel, opened.subscriber_id], ["email", rerouted.subscriber_id]);
});

test("changed layouts and contents are compared as rendered, and a message can move to another channel", async () => {
  const sender = await newSender(node);
  const fields = { name: "frame", channel: "email", body: "<main>{{ content }}</main>", is_default: true };
  const layout = (await sender.ok("POST", "/api/v2/layouts", fields)).data;
  const workflow_key = await sender.workflow({ channels: { email: content.email } });
  const { id: subscriber_id } = await sender.subscriber({ email: "a@example.com", phone: "+4930901820" });
  await sender.trigger({ workflow_key, subscriber_id, payload: { order: 1 } });
  const layoutWith = (body: string) => ({ layouts: [{ id: layout.id, body }] });
  const same = await simulate(sender, layoutWith("<main>{{ content }}</main>"));
  assert.deepEqual([same.triggers, same.changed, same.changes], [1, 0, []]);
  const framed = await simulate(sender, layoutWith("<main>{{ content }}, {{ payload.order }}</main>"));
  assert.deepEqual(framed.changes, [{ change: "content", messages: 1 }]);
  assert.equal(framed.examples[0].after, "sent with another html");
  const moved = await simulate(sender, { workflows: [{ workflow_key, channels: { sms: content.sms } }] });
  assert.deepEqual(moved.changes, [{ change: "channel", messages: 1 }]);
  assert.deepEqual([moved.examples[0].before, moved.examples[0].after], ["email", "sms"]);
  // Channels that a trigger requested stay requested.
  await sender.trigger({ workflow_key, subscriber_id, payload: { order: 2 }, channels: ["sms"] });
  const longer = await simulate(sender, { workflows: [{ workflow_key, channels: content }] });
  assert.deepEqual(longer.channels, [
    { channel: "email", recorded: 1, before: 1, after: 1 },
    { channel: "sms", recorded: 0, before: 0, after: 2 },
  ]);
});

test("a language that is added changes the messages of its subscribers only, and so does an attachment", async () => {
  const sender = await newSender(node);
  const workflow_key = await sender.workflow({ channels: { email: content.email } });
  for (const locale of ["de-AT", "en", "fr"]) {
    const { id: subscriber_id } = await sender.subscriber({ email: `${locale}@example.com`, locale });
    await sender.trigger({ workflow_key, subscriber_id, payload: { order: 1 } });
  }
  const withEmail = (more: object) => ({
    workflows: [{ workflow_key, channels: { email: { ...content.email, ...more } } }],
  });
  const translated = await simulate(sender, withEmail({ locales: { de: { subject: "Bestellung" } } }));
  assert.deepEqual([translated.triggers, translated.changes], [3, [{ change: "content", messages: 1 }]]);
  assert.equal(translated.examples[0].after, "sent with another subject");
  const attached = await simulate(sender, withEmail({ attachments: [{ filename: "a.txt", content: "YQ==" }] }));
  assert.deepEqual(attached.changes, [{ change: "content", messages: 3 }]);
  assert.equal(attached.examples[0].after, "sent with another attachments");
});

test("preferences of a user of a workflow and the steps that sent are part of a simulation", async () => {
  const sender = await newSender(node);
  const { runIn } = steppedFixture(sender, sql);
  const channels = { email: content.email, in_app: { body: "B" } };
  const stepped = [
    { key: "inbox", send: { channels: ["in_app"] } },
    { key: "mail", send: { channels: ["email"] } },
  ];
  const workflow_key = await sender.workflow({ channels, steps: stepped });
  const { id: subscriber_id } = await sender.subscriber({ email: "a@example.com" });
  for (const user_id of ["shop", "other"]) {
    const { run_id } = await sender.trigger({ workflow_key, subscriber_id, user_id });
    await runIn(run_id, "completed");
  }
  const preferences = { channels: { email: { enabled: false } } };
  const shown = await simulate(sender, { workflow_users: [{ workflow_key, user_id: "shop", preferences }] });
  assert.deepEqual([shown.triggers, shown.changed, shown.reproduced], [4, 1, 4]);
  assert.deepEqual(shown.outcomes, [{ before: "sent", after: "denied_by_layer", messages: 1 }]);
  const steps2 = [stepped[0], { key: "mail", send: { channels: ["email", "in_app"] } }];
  const wider = await simulate(sender, { workflows: [{ workflow_key, steps: steps2 }] });
  assert.deepEqual(wider.changes, [{ change: "started", messages: 2 }]);
});

test("a simulation stores and sends nothing, and says the same in every protocol", async () => {
  const sender = await newSender(node);
  const workflow_key = await sender.workflow({ channels: content });
  const members = await Promise.all([1, 2, 3].map(() => sender.subscriber({ email: "a@example.com" })));
  const topic = await sender.topic(members.map(({ id }) => id));
  const { transaction_id } = await sender.trigger({ workflow_key, topic });
  const broadcast = `/api/v2/notifications/broadcasts/${transaction_id}`;
  await until(
    async () => (await sender.ok("GET", broadcast)).data,
    ({ status }) => status === "completed",
  );
  await settled(sender, transaction_id);
  const earlier = await readRows(sql);
  const body = { workflows: [{ workflow_key, channels: { sms: content.sms } }] };
  const outcomes = await inEachProtocol(node, sender, "NotificationService/SimulateTriggers", body);
  for (const { data } of outcomes) {
    assert.deepEqual([data.triggers, data.changed], [3, 3]);
    assert.deepEqual(data.outcomes, [{ before: "sent", after: "none", messages: 3 }]);
  }
  assert.deepEqual(await readRows(sql), earlier);
});

test("a simulation asks no provider for a token, even if that of an address's connection is due", async () => {
  const sender = await newSender(node);
  const tokens = await startTokenServer();
  tokens.tokens = ["token"];
  await sender.ok("POST", "/api/v2/connector/manifests", { document: tokenMail });
  const { data: connection } = await sender.ok("POST", "/api/v2/connector/connections", {
    ...{ name: "Mail", provider_key: tokenMail.key, auth_mode: "oauth2_cc", settings: { url: tokens.url } },
    credentials: { client_id: "c", client_secret: "the-secret" },
  });
  const { id: subscriber_id } = await sender.subscriber({ email: "a@example.com" });
  const workflow_key = await sender.workflow({ channels: { email: content.email } });
  await sender.trigger({ workflow_key, subscriber_id, payload: { order: 1 } });
  await sender.endpoint(subscriber_id, { channel: "email", identity: "b@example.com", connection_id: connection.id });
  const integration = { channel: "email", name: "i", provider_key: tokenMail.key, connection_id: connection.id };
  await sender.ok("POST", "/api/v2/notification/integrations", integration);
  await sql`
    update connector_connections set expires_at = now() - interval '1 s', last_refreshed_at = now() - interval '1 hour'
    where id = ${connection.id}`;
  const { issued } = tokens;
  const shown = await simulate(sender, { workflows: [{ workflow_key, channels: { sms: content.sms } }] });
  assert.equal(tokens.issued, issued);
  const [{ name, before: was, after: is }] = shown.integrations;
  assert.deepEqual([name, was, is], ["i", 1, 0]);
});

test("changes that their own requests would refuse are refused by field, and hide records of others", async () => {
  const sender = await newSender(node);
  const workflow_key = await sender.workflow({ channels: content });
  const refusals: readonly [object, string][] = [
    [{ workflows: [{ workflow_key, channels: { sms: { body: "{{#if}}" } } }] }, "workflows[0].channels.sms.body"],
    [
      { workflow_users: [{ workflow_key, user_id: "u", preferences: { condition: "1 +" } }] },
      "workflow_users[0].preferences.condition",
    ],
    [
      { integrations: [{ channel: "email", provider_key: "development", condition: "1" }] },
      "integrations[0].condition",
    ],
    [{ integrations: [{ provider_key: "development" }] }, "integrations[0].channel"],
    [{ from: "2030-01-01T00:00:00Z", until: "2029-01-01T00:00:00Z" }, "from"],
  ];
  for (const [body, field] of refusals) {
    const { body: problem } = await sender.refused("INVALID_ARGUMENT", "POST", path, body);
    assert.equal(problem.violations[0].field, field);
  }
  const other = await newSender(node);
  const fields = { channel: "email", name: "n", provider_key: "development" };
  const { id } = (await other.ok("POST", "/api/v2/notification/integrations", fields)).data;
  await sender.refused("NOT_FOUND", "POST", path, { without_integration_ids: [id] });
  await sender.refused("NOT_FOUND", "POST", path, { integrations: [{ id, active: false }] });
  const nothing = await simulate(sender, { workflows: [{ workflow_key, channels: content }] });
  assert.deepEqual([nothing.triggers, nothing.is_cut, nothing.first_at], [0, false, undefined]);
});
