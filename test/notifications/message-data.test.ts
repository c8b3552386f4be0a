import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { startReceiver } from "../routing/receiver.ts";
import { freshName, newSender, type Sender, serveChannel } from "./sender-fixture.ts";

let node: TestService;
let sender: Sender;
before(async () => {
  node = await startService({ "notification.outbox.enabled": "true" });
  sender = await newSender(node);
});

const newestInOutbox = async () => (await sender.rest.call("GET", "/api/v2/notification/outbox?limit=1")).body.data[0];

test("message data is rendered from the payload, including links and list_unsubscribe", async () => {
  const { id } = await sender.subscriber({ email: "ada+news@example.org" });
  const data = {
    link: "/orders/{{payload.order}}",
    list_unsubscribe: "https://example.org/leave?who={{url_encode subscriber.email}}&w={{workflow_key}}",
    list_unsubscribe_one_click: true,
    items: [{ label: "{{payload.label}}" }, 7, null, "plain"],
    "{{payload.order}}": "names are not made from anything",
  };
  const content = { subject: "S", body: "B", data };
  const workflow_key = await sender.workflow({ channels: { email: content, in_app: { body: "B", data } } });
  const payload = { order: 42, label: '5 < 6 & "seven"' };
  await sender.trigger({ workflow_key, subscriber_id: id, payload });
  const made = {
    link: "/orders/42",
    list_unsubscribe: `https://example.org/leave?who=ada%2Bnews%40example.org&w=${workflow_key}`,
    list_unsubscribe_one_click: true,
    items: [{ label: payload.label }, 7, null, "plain"],
    "{{payload.order}}": "names are not made from anything",
  };
  assert.deepEqual((await newestInOutbox()).data, made);
  assert.deepEqual((await sender.inbox(id))[0].data, made);

  const overrides = { in_app: { data: { link: "/late/{{payload.order}}" } } };
  await sender.trigger({ workflow_key, subscriber_id: id, payload, channels: ["in_app"], overrides });
  assert.deepEqual((await sender.inbox(id))[0].data, { link: "/late/42" });
});

test("an invalid data template is rejected by name, and a missing variable counts", async () => {
  const { id } = await sender.subscriber();
  const path = `/api/v2/notification/workflows/w${freshName()}`;
  const channels = (data: object) => ({ channels: { in_app: { body: "B", data } } });
  const nested = { rows: [{ link: "{{#if payload.x}}" }] };
  const { body } = await sender.refused("INVALID_ARGUMENT", "PUT", path, channels(nested));
  assert.equal(body.violations[0].field, "channels.in_app.data.rows[0].link");
  const strict = await sender.workflow({
    channels: { in_app: { body: "B", data: { link: "/{{payload.nothing}}" }, strict_variables: true } },
  });
  const { outcomes } = await sender.trigger({ workflow_key: strict, subscriber_id: id });
  assert.deepEqual([outcomes[0].outcome, outcomes[0].failure_code], ["failed", "variable_missing"]);
});

test("all data templates share one rendering budget", async () => {
  const { id } = await sender.subscriber();
  const large = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`f${at}`, "{{payload.text}}"]));
  const workflow_key = await sender.workflow({ channels: { in_app: { body: "B", data: large } } });
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: id, payload: { text: "x".repeat(1000) } });
  assert.deepEqual([outcomes[0].outcome, outcomes[0].failure_code], ["failed", "too_large"]);
  const loop = "{{#each payload.list}}{{#each ../payload.list}}{{#if this}}{{/if}}{{/each}}{{/each}}";
  const costly = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`f${at}`, loop]));
  const slow = await sender.workflow({ channels: { in_app: { body: "B", data: costly } } });
  const list = Array.from({ length: 60 }, (_, at) => at);
  const result = await sender.trigger({ workflow_key: slow, subscriber_id: id, payload: { list } });
  assert.deepEqual([result.outcomes[0].outcome, result.outcomes[0].failure_code], ["failed", "limit_exceeded"]);
});

test("no value can mention a user or create a link in Slack; the workflow author's text can", async () => {
  const slack = await startReceiver(() => ({ status: 200 }));
  await serveChannel(sender, "chat", "slack", { settings: {}, credentials: { webhook_url: slack.url } });
  const { id } = await sender.subscriber({ first_name: "<!here>" });
  await sender.endpoint(id, { channel: "chat", identity: freshName() });
  const blocks = [
    { type: "section", text: { type: "mrkdwn", text: "*{{payload.text}}*" } },
    { type: "button", url: "https://example.org/?a=1&b={{payload.query}}" },
  ];
  const body = "<https://example.org|Order> for {{subscriber.first_name}}: {{payload.text}}";
  const workflow_key = await sender.workflow({
    channels: { chat: { title: "T {{payload.text}}", body, data: { blocks } } },
  });
  const payload = { text: "<!channel> & <@U1>", query: "x&y" };
  await sender.trigger({ workflow_key, subscriber_id: id, payload });
  const escaped = "&lt;!channel&gt; &amp; &lt;@U1&gt;";
  assert.deepEqual(JSON.parse(slack.received[0]!.body), {
    text: `<https://example.org|Order> for &lt;!here&gt;: ${escaped}`,
    blocks: [
      { type: "section", text: { type: "mrkdwn", text: `*${escaped}*` } },
      { type: "button", url: "https://example.org/?a=1&b=x&y" },
    ],
  });
  const titled = { engine: "liquid", title: "T {{ payload.text }}", body: "{% if false %}x{% endif %}" };
  const liquid = await sender.workflow({ channels: { chat: titled } });
  await sender.trigger({ workflow_key: liquid, subscriber_id: id, payload });
  assert.equal(JSON.parse(slack.received[1]!.body).text, `T ${escaped}`);
});

test("characters that cannot be stored are left out of rendered messages", async () => {
  const { id } = await sender.subscriber({ email: "nul@example.org" });
  const text = "a{{ payload.encoded | url_decode }}b";
  const content = { engine: "liquid", body: text, data: { link: text } };
  const workflow_key = await sender.workflow({
    channels: { email: { ...content, subject: text }, in_app: { ...content, title: text } },
  });
  await sender.trigger({ workflow_key, subscriber_id: id, payload: { encoded: "%00" } });
  const { subject, body, html, data } = await newestInOutbox();
  assert.deepEqual([subject, body, html, data], ["ab", "ab", "ab", { link: "ab" }]);
  const [message] = await sender.inbox(id);
  assert.deepEqual([message.title, message.body, message.data], ["ab", "ab", { link: "ab" }]);
});
