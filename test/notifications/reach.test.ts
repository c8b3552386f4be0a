import assert from "node:assert/strict";
import { before, test } from "node:test";
import { startService, type TestService } from "../harness/service.ts";
import { newSender, type ResponseData, type Sender } from "./sender-fixture.ts";

let node: TestService;
let sender: Sender;
before(async () => {
  node = await startService();
  sender = await newSender(node);
});

const explain = async (id: string, workflowKey: string): Promise<ResponseData> =>
  (await sender.ok("GET", `/api/v2/notification/subscribers/${id}:explain?workflow_key=${workflowKey}`)).data;

/** The deciding reason of a channel: its source and code. */
function decidingOf({ reasons }: ResponseData, channel: string) {
  const found = reasons.filter((each: ResponseData) => each.channel === channel && each.deciding);
  assert.equal(found.length, 1, JSON.stringify(reasons));
  return [found[0].source, found[0].code, found[0].passes];
}

test("every obstacle between a workflow and a subscriber is the deciding reason of its channel", async () => {
  const content = { body: "B" };
  const channels = { in_app: content, email: { subject: "S", ...content }, sms: content, push: content };
  const workflow_key = await sender.workflow({ channels });
  const { id } = await sender.subscriber({ first_name: "Ada", email: "ada@example.com" });
  await sender.prefer(id, { workflow_key, channels: { push: { enabled: false } } });
  const seen = await explain(id, workflow_key);
  assert.equal(seen.verdict, "reachable");
  assert.deepEqual(decidingOf(seen, "in_app"), ["integration", "integration_found", true]);
  assert.deepEqual(decidingOf(seen, "email"), ["integration", "none_active", false]);
  assert.deepEqual(decidingOf(seen, "sms"), ["endpoint", "no_endpoint", false]);
  assert.deepEqual(decidingOf(seen, "push"), ["preference", "denied_by_layer", false]);
  assert.deepEqual(decidingOf(seen, "chat"), ["content", "template_missing", false]);
  assert.match(seen.summary, /^Ada would get \S+ now on in-app\. Not on email: No active integration/);
  assert.match(seen.summary, /Not on push: The preferences of the subscriber for this workflow forbid the channel\./);
  assert.doesNotMatch(seen.summary, /chat/);
});

test("earlier messages say what became of them, and a deleted subscriber or a mistyped key is said first", async () => {
  const workflow_key = await sender.workflow();
  const { id } = await sender.subscriber({ first_name: "Ada" });
  await sender.prefer(id, { workflow_key, all: false });
  const { outcomes } = await sender.trigger({ workflow_key, subscriber_id: id });
  const [past] = (await explain(id, workflow_key)).past_deliveries;
  assert.deepEqual([past.delivery_id, past.status], [outcomes[0].delivery_id, "skipped"]);
  assert.match(past.message, /^The in-app message .* forbid the channel/);
  const unreachable = await explain(id, workflow_key);
  assert.equal(unreachable.verdict, "unreachable");
  const last = unreachable.reasons.find(({ source }: ResponseData) => source === "delivery");
  assert.deepEqual([last?.channel, last?.code, last?.deciding], ["in_app", "last_skipped", false]);
  assert.match(unreachable.summary, /^Ada would not get /);
  const mistyped = await explain(id, `${workflow_key}x`);
  assert.deepEqual([mistyped.verdict, mistyped.reasons.length], ["unknown_workflow", 1]);
  assert.match(mistyped.summary, new RegExp(`Did you mean ${workflow_key}\\?$`));
  await sender.ok("DELETE", `/api/v2/notification/subscribers/${id}`);
  const deleted = await explain(id, workflow_key);
  assert.match(deleted.summary, /^Ada gets nothing: the subscriber was deleted\./);
  assert.ok(deleted.reasons.some(({ code, deciding }: ResponseData) => code === "subscriber_inactive" && deciding));
});

test("a suppressed address is the deciding reason, of a profile and of an endpoint", async () => {
  const content = { body: "B" };
  const workflow_key = await sender.workflow({ channels: { email: { subject: "S", ...content }, sms: content } });
  const { id } = await sender.subscriber({ email: "gone@example.com" });
  await sender.endpoint(id, { channel: "sms", identity: "+4930901820" });
  for (const address of [
    { channel: "email", identity: "gone@example.com" },
    { channel: "sms", identity: "+4930901820" },
  ]) {
    await sender.ok("POST", "/api/v2/notification/suppressions", address);
    assert.deepEqual(decidingOf(await explain(id, workflow_key), address.channel), [
      "suppression",
      "suppressed",
      false,
    ]);
  }
});

const partialPath = (key: string) => `/api/v2/notification/partials/${key}`;

test("templates, layouts and data include partials, which see their place and the values that they are given", async () => {
  const put = (key: string, engine: string, body: string) => sender.ok("PUT", partialPath(key), { engine, body });
  await put("name", "handlebars", "{{ subscriber.first_name }}");
  await put("line", "handlebars", "{{ label }}: {{ name }}; ");
  await put("greeting", "handlebars", "Dear {{> name}},");
  await put("item", "liquid", "<{{ item.name }} x{{ count }}>");
  const { id } = await sender.subscriber({ first_name: "Ada" });
  const payload = { items: [{ name: "tea" }, { name: "milk" }] };
  const body = "{{> greeting}} {{#each payload.items}}{{> line label='Item'}}{{/each}}";
  const data = { link: "https://example.com/{{> name}}" };
  const bars = await sender.workflow({ channels: { in_app: { body, data } } });
  await sender.trigger({ workflow_key: bars, subscriber_id: id, payload });
  const [message] = await sender.inbox(id);
  assert.equal(message.body, "Dear Ada, Item: tea; Item: milk; ");
  assert.deepEqual(message.data, { link: "https://example.com/Ada" });
  const loop = "{% for each in payload.items %}{% render 'item', item: each, count: forloop.index %}{% endfor %}";
  const liquid = await sender.workflow({ channels: { in_app: { engine: "liquid", body: loop } } });
  await sender.trigger({ workflow_key: liquid, subscriber_id: id, payload });
  assert.equal((await sender.inbox(id))[0].body, "<tea x1><milk x2>");
});

test("a partial that is missing, circular or in use is refused by name", async () => {
  const [path, engine] = [partialPath, "handlebars"];
  const missing = { channels: { in_app: { body: "{{> nowhere}}" } } };
  const workflow = "/api/v2/notification/workflows/with.partial";
  const { body } = await sender.refused("INVALID_ARGUMENT", "PUT", workflow, missing);
  assert.deepEqual(
    [body.violations[0].field, body.violations[0].rule],
    ["channels.in_app", "template.partial_missing"],
  );
  await sender.ok("PUT", path("inner"), { engine, body: "x" });
  await sender.ok("PUT", path("outer"), { engine, body: "{{> inner}}" });
  await sender.refused("INVALID_ARGUMENT", "PUT", path("inner"), { engine, body: "{{> outer}}" });
  await sender.refused("IN_USE", "DELETE", path("inner"));
  await sender.ok("PUT", workflow, { channels: { in_app: { body: "{{> outer}}" } } });
  const refused = await sender.refused("IN_USE", "DELETE", path("outer"));
  assert.match(refused.body.detail, /the notification workflow with\.partial/);
  await sender.ok("DELETE", workflow);
  await sender.ok("DELETE", path("outer"));
  await sender.ok("DELETE", path("inner"));
});

test("headers of a mail are templates, and those that the service writes cannot be set", async () => {
  const path = "/api/v2/notification/workflows/with.headers";
  const email = (headers: object) => ({ channels: { email: { subject: "S", body: "B", data: { headers } } } });
  await sender.ok("PUT", path, email({ "X-Order": "{{ payload.order }}" }));
  const { body } = await sender.refused("INVALID_ARGUMENT", "PUT", path, email({ "Message-ID": "x" }));
  assert.equal(body.violations[0].field, "channels.email.data.headers.Message-ID");
});
