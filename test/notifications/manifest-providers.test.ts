import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { before, test } from "node:test";
import { compileManifest } from "../../src/modules/connectors/manifests/index.ts";
import { type MockProvider, startMock } from "../../src/modules/connectors/manifests/testing/mock-provider.ts";
import type { JsonObject } from "../../src/platform/document/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { startService, type TestService } from "../harness/service.ts";
import { freshName, newSender, type ResponseData, type Sender } from "./sender-fixture.ts";

/** A mail service of a tenant's own. */
const manifest: JsonObject = {
  ...{ manifest: 1, key: "acme-mail", version: "1.0.0", name: "Acme Mail", category: "email", description: "Mail." },
  hosts: ["{settings.url}"],
  base_url: "{settings.url}",
  settings: {
    url: { title: "URL", pattern: "^http://[^?#]+$", example: "http://127.0.0.1:1", required: true },
    from: { title: "Sender", required: false },
  },
  auth: {
    api_key: {
      fields: { token: { title: "Token" }, hook_secret: { title: "Secret of webhooks", required: false } },
      apply: { headers: { authorization: "Bearer {credentials.token}" } },
    },
  },
  errors: [{ status: [422], code: "/code" }],
  actions: {
    "mail.send": {
      title: "Send a mail",
      mutation: { effect: "send", idempotency: "none" },
      input: {
        type: "object",
        required: ["from", "to", "subject", "text"],
        properties: {
          from: { type: "string" },
          to: { type: "string" },
          subject: { type: "string" },
          text: { type: "string" },
          headers: { type: "object" },
        },
        additionalProperties: false,
      },
      request: {
        method: "POST",
        path: "/mails",
        json: {
          ...{ from: "{input.from}", to: "{input.to}", subject: "{input.subject}", text: "{input.text}" },
          headers: "{input.headers}",
        },
      },
      output: { id: "/id" },
    },
  },
  notifications: {
    channels: {
      email: {
        send: [
          {
            action: "mail.send",
            input: {
              from: "{settings.from}",
              to: "{message.to}",
              subject: "{message.subject}",
              text: "{message.text}",
              headers: "{message.headers}",
            },
            message_id: "/id",
          },
        ],
      },
    },
    failures: [{ when: 'code == "no_such_user"', as: "recipient_rejected", suppress: true }],
    callbacks: {
      verify: { kind: "hmac", header: "x-signature" },
      secret: "{credentials.hook_secret}",
      challenge: { when: '"challenge" in query', respond: { query: "challenge" } },
      items: "/events/*",
      message_id: "item.mail",
      event_id: "item.id",
      events: [
        { when: 'item.type == "delivered"', kind: "delivered" },
        { when: 'item.type == "bounced"', kind: "bounced", severity: "hard" },
        { when: 'item.type == "complained"', kind: "complained" },
        { when: 'item.type == "unsubscribed"', kind: "unsubscribed" },
      ],
    },
  },
};

let node: TestService;
let mock: MockProvider;
let mails = 0;
before(async () => {
  node = await startService();
  const { provider, violations } = compileManifest(manifest);
  assert.deepEqual(violations, []);
  mock = await startMock(provider!);
  afterFile(() => mock.close());
});

interface MailTenant {
  readonly sender: Sender;
  readonly connection: ResponseData;
  readonly integration: ResponseData;
  readonly workflow_key: string;
  /** Sends a mail; returns the outcome. */
  send(subscriberId: string): Promise<ResponseData>;
  /** Sends a signed callback; returns the status. */
  report(events: readonly object[], secret?: string): Promise<number>;
}

const secret = "a-secret-of-webhooks";
const suppressions = "/api/v2/notification/suppressions";

/** A tenant whose mail is served by the manifest. */
async function newMailTenant(): Promise<MailTenant> {
  const sender = await newSender(node);
  await sender.ok("POST", "/api/v2/connector/manifests", { document: manifest });
  const connection = await connect(sender, { from: "shop@example.com" });
  const integration = await integrate(sender, connection.id);
  const data = {
    headers: { "X-To": "{{ subscriber.first_name }}\r\nBcc: eve@example.com" },
    list_unsubscribe: "https://example.com/leave",
  };
  const workflow_key = await sender.workflow({ channels: { email: { subject: "Hello", body: "Text", data } } });
  return {
    ...{ sender, connection, integration, workflow_key },
    async send(subscriberId) {
      mock.answer("mail.send", { id: `mail-${++mails}` });
      return (await sender.trigger({ workflow_key, subscriber_id: subscriberId })).outcomes[0];
    },
    async report(events, key = secret) {
      const body = JSON.stringify({ events });
      const signature = createHmac("sha256", key).update(body).digest("hex");
      const headers = { "content-type": "application/json", "x-signature": signature };
      const url = callbackUrl(sender, integration);
      return (await fetch(url, { method: "POST", headers, body })).status;
    },
  };
}

function callbackUrl({ id }: Sender, integration: ResponseData): string {
  return `${node.baseUrl}/callbacks/notifications/${id}/${integration.id}`;
}

async function connect(sender: Sender, settings: object): Promise<ResponseData> {
  const { data } = await sender.ok("POST", "/api/v2/connector/connections", {
    ...{ name: freshName(), provider_key: "acme-mail", credentials: { token: "token-1", hook_secret: secret } },
    settings: { url: `http://127.0.0.1:${mock.port}`, ...settings },
  });
  return data;
}

async function integrate(sender: Sender, connectionId: string): Promise<ResponseData> {
  const fields = { channel: "email", name: freshName(), provider_key: "acme-mail", connection_id: connectionId };
  return (await sender.ok("POST", "/api/v2/notification/integrations", fields)).data;
}

test("a notification is sent with its headers through the action of a tenant's own manifest, and its callback is observed", async () => {
  const { sender, send, report } = await newMailTenant();
  const { id } = await sender.subscriber({ email: "ada@example.com" });
  const outcome = await send(id);
  assert.equal(outcome.outcome, "sent", JSON.stringify(outcome));
  const request = mock.requests.at(-1)!;
  assert.deepEqual(JSON.parse(request.body.toString()), {
    from: "shop@example.com",
    to: "ada@example.com",
    subject: "Hello",
    text: "Text",
    headers: { "X-To": "Ada Bcc: eve@example.com", "List-Unsubscribe": "<https://example.com/leave>" },
  });
  assert.equal(request.headers.authorization, "Bearer token-1");
  const delivery = await sender.delivery(outcome.delivery_id);
  assert.deepEqual([delivery.provider_message_id, delivery.observation_state], [`mail-${mails}`, "awaiting"]);
  const event = { mail: `mail-${mails}`, id: "e-1", type: "delivered" };
  assert.equal(await report([event], "a-guess-of-the-secret"), 401);
  assert.equal(await report([event]), 204);
  assert.equal((await sender.delivery(outcome.delivery_id)).observation_state, "delivered");
});

test("a check of the callback URL is answered only to whoever knows the secret", async () => {
  const { sender, integration } = await newMailTenant();
  const check = async (token: string) => {
    const query = new URLSearchParams({ token, challenge: "42" });
    const response = await fetch(`${callbackUrl(sender, integration)}?${query}`);
    return [response.status, response.ok ? await response.text() : ""];
  };
  assert.deepEqual(await check(secret), [200, "42"]);
  assert.deepEqual(await check("guess"), [401, ""]);
});

for (const type of ["bounced", "complained", "unsubscribed"]) {
  test(`an address that ${type} is suppressed for everyone who has it, until the suppression is deleted`, async () => {
    const { sender, send, report } = await newMailTenant();
    const ada = await sender.subscriber({ email: "Ada@example.com" });
    const { delivery_id } = await send(ada.id);
    assert.equal(await report([{ mail: `mail-${mails}`, id: "e-1", type }]), 204);

    // The same person in another record, with an endpoint, and in another spelling.
    const again = await sender.subscriber();
    await sender.endpoint(again.id, { channel: "email", identity: "ada@EXAMPLE.com" });
    for (const { id } of [ada, again]) {
      const skipped = await send(id);
      assert.deepEqual([skipped.outcome, skipped.failure_code], ["skipped", "suppressed"]);
    }
    const list = (await sender.rest.call("GET", `${suppressions}?identity=ADA@example.com`)).body.data;
    assert.deepEqual(
      list.map(({ channel, identity, reason, delivery_id, provider_key }: ResponseData) => [
        ...[channel, identity, reason, delivery_id, provider_key],
      ]),
      [["email", "ada@example.com", type, delivery_id, "acme-mail"]],
    );
    const stranger = await newSender(node);
    assert.equal((await stranger.rest.call("DELETE", `${suppressions}/${list[0].id}`)).status, 404);
    await sender.ok("DELETE", `${suppressions}/${list[0].id}`);
    assert.equal((await send(ada.id)).outcome, "sent");
  });
}

test("an address that the provider refuses for good is suppressed, and one can be suppressed by hand", async () => {
  const { sender, send } = await newMailTenant();
  const { id } = await sender.subscriber({ email: "gone@example.com" });
  mock.fail("mail.send", { kind: "answer", status: 422, body: { code: "no_such_user" } });
  const refused = await send(id);
  assert.deepEqual([refused.outcome, refused.failure_code], ["failed", "recipient_rejected"]);
  assert.equal((await send(id)).failure_code, "suppressed");

  const other = await sender.subscriber({ email: "bob@example.com" });
  const wanted = { channel: "email", identity: "Bob@example.com", note: "Asked by phone." };
  const created = (await sender.ok("POST", suppressions, wanted)).data;
  assert.deepEqual([created.identity, created.reason, created.note], ["bob@example.com", "manual", "Asked by phone."]);
  assert.equal((await sender.rest.call("POST", suppressions, wanted)).status, 409);
  assert.equal((await send(other.id)).failure_code, "suppressed");
  assert.ok((await sender.ok("GET", `/api/v2/notification/subscribers/${other.id}`)).data.email_suppressed_at);
  const reasons = (await sender.rest.call("GET", `${suppressions}?reason=unreachable`)).body.data;
  assert.deepEqual(
    reasons.map(({ identity }: ResponseData) => identity),
    ["gone@example.com"],
  );
});

test("settings and credentials of a connection are replaced in place, at the expected version", async () => {
  const { sender, connection, send } = await newMailTenant();
  const { id } = await sender.subscriber({ email: "ada@example.com" });
  await send(id);
  const path = `/api/v2/connector/connections/${connection.id}`;
  const settings = { url: `http://127.0.0.1:${mock.port}`, from: "news@example.com" };
  const change = { settings, record_version: connection.record_version };
  const stale = await sender.rest.call("PATCH", path, { ...change, record_version: 99 });
  assert.equal(stale.status, 409);
  const unknown = await sender.rest.call("PATCH", path, { settings: { ...settings, sender: "x" } });
  assert.deepEqual([unknown.status, unknown.body.violations[0].field], [400, "settings.sender"]);

  const changed = (await sender.ok("PATCH", path, change)).data;
  assert.deepEqual([changed.id, changed.settings.from], [connection.id, "news@example.com"]);
  await sender.ok("PATCH", path, { credentials: { token: "token-2" }, record_version: changed.record_version });
  assert.equal((await send(id)).outcome, "sent");
  const request = mock.requests.at(-1)!;
  assert.equal(JSON.parse(request.body.toString()).from, "news@example.com");
  assert.equal(request.headers.authorization, "Bearer token-2");
  const { data: events } = (await sender.rest.call("GET", "/api/events?types=connection.updated")).body;
  assert.deepEqual(events.map(({ data }: ResponseData) => data.fields).sort(), [["credentials"], ["settings"]]);
  assert.ok(!JSON.stringify(events).includes("token-2"), "no event contains credentials");
});

test("an integration needs a provider that serves the channel, and a connection that can send", async () => {
  const { sender } = await newMailTenant();
  const bare = await connect(sender, {});
  const create = (fields: object) => sender.rest.call("POST", "/api/v2/notification/integrations", fields);
  const fields = { channel: "email", name: freshName(), provider_key: "acme-mail", connection_id: bare.id };
  const incomplete = await create(fields);
  assert.deepEqual([incomplete.status, incomplete.body.violations[0].rule], [400, "settings"]);
  const wrong = await create({ ...fields, channel: "chat" });
  assert.deepEqual([wrong.status, wrong.body.violations[0].field], [400, "provider_key"]);
  for (const key of ["discord", "teams", "telegram", "whatsapp"]) {
    assert.ok(wrong.body.violations[0].message.includes(key), key);
  }
});
