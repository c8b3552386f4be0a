import assert from "node:assert/strict";
import { test } from "node:test";
import type { TenantId } from "../../../platform/access/index.ts";
import { message, neverAborted, outcome, startProviders } from "./testing/provider-fixture.ts";
import { serviceAccountKey, vapidKeys } from "./testing/push.ts";

const providers = startProviders({ open: false });

type Fields = readonly [settings: Record<string, unknown>, credentials: Record<string, string>];

/** The valid settings and credentials of each provider. */
const valid: Readonly<Record<string, Fields>> = {
  smtp: [
    {
      host: "mail.example.org",
      port: 587,
      tls: "starttls",
      from: "Ada <ada@example.org>",
      reply_to: "help@example.org",
    },
    { username: "ada", password: "secret" },
  ],
  http_sms: [
    { url: "https://sms.example.org/send", from: "Acme" },
    { token: "t", callback_secret: "whsec_c2VjcmV0" },
  ],
  twilio: [{ account_sid: `AC${"0".repeat(32)}`, from: "+15005550006" }, { auth_token: "t" }],
  web_push: [
    { subject: "mailto:ada@example.org", vapid_public_key: vapidKeys.publicKey, ttl_s: 60 },
    { vapid_private_key: vapidKeys.privateKey },
  ],
  fcm: [{ project_id: "acme", client_email: "push@acme.example" }, { private_key: serviceAccountKey }],
  slack: [{}, { webhook_url: "https://hooks.slack.com/services/T/B/key" }],
  chat_webhook: [{ url: "https://chat.example.org/hook" }, { secret: "whsec_c2VjcmV0" }],
};

const problems = (key: string, settings: Record<string, unknown>, credentials: Record<string, string>) =>
  providers.check(key, settings, credentials).map(({ field, rule }) => `${field} ${rule}`);

for (const [key, [settings, credentials]] of Object.entries(valid)) {
  test(`${key}: the required fields are sufficient, and unknown fields are refused`, () => {
    assert.deepEqual(problems(key, settings, credentials), []);
    assert.deepEqual(problems(key, { ...settings, colour: "red" }, { ...credentials, shoe: "8" }), [
      "settings.colour unknown",
      "credentials.shoe unknown",
    ]);
    assert.deepEqual(problems(key, { ...settings, constructor: "x" }, credentials), ["settings.constructor unknown"]);
    const bare = problems(key, {}, {});
    assert.ok(bare.length > 0 && bare.every((problem) => problem.endsWith(" required")), bare.join());
    const { length } = problems(
      key,
      { ...settings, ...Object.fromEntries(Object.keys(settings).map((name) => [name, {}])) },
      credentials,
    );
    assert.equal(length, Object.keys(settings).length, "texts and numbers are not objects");
  });
}

const refusals: readonly (readonly [key: string, settings: object, credentials: object, problem: string])[] = [
  ["smtp", { host: "10.0.0.1" }, {}, "settings.host format"],
  ["smtp", { host: "::1" }, {}, "settings.host format"],
  ["smtp", { host: "mail.example.org/x" }, {}, "settings.host format"],
  ["smtp", { port: 0 }, {}, "settings.port format"],
  ["smtp", { port: "25" }, {}, "settings.port format"],
  ["smtp", { tls: "maybe" }, {}, "settings.tls format"],
  ["smtp", { from: "not an address" }, {}, "settings.from format"],
  ["smtp", { from: "a@example.org, b@example.org" }, {}, "settings.from format"],
  ["smtp", { from: "Ada\r\nBcc: eve@example.org <ada@example.org>" }, {}, "settings.from format"],
  ["smtp", {}, { password: "" }, "credentials both"],
  ["smtp", { tls: "none" }, {}, "settings.tls secure"],
  ["http_sms", { url: "http://169.254.169.254/latest" }, {}, "settings.url format"],
  ["http_sms", { url: "ftp://sms.example.org" }, {}, "settings.url format"],
  ["http_sms", {}, { token: "a\r\nx-evil: 1" }, "credentials.token format"],
  ["twilio", { account_sid: "AC/../other" }, {}, "settings.account_sid format"],
  ["twilio", { from: "" }, {}, "settings.from exactly_one"],
  ["twilio", { messaging_service_sid: `MG${"0".repeat(32)}` }, {}, "settings.from exactly_one"],
  ["web_push", { subject: "ada" }, {}, "settings.subject format"],
  ["web_push", {}, { vapid_private_key: "A".repeat(42) }, "credentials.vapid_private_key format"],
  ["fcm", { project_id: "../other" }, {}, "settings.project_id format"],
  ["fcm", { base_url: "http://127.0.0.1" }, {}, "settings.base_url format"],
  ["fcm", {}, { private_key: "secret" }, "credentials.private_key format"],
  ["slack", {}, { webhook_url: "http://[fd00::1]/x" }, "credentials.webhook_url format"],
  ["chat_webhook", { url: "https://user:secret@chat.example.org" }, {}, "settings.url format"],
];
for (const [key, settings, credentials, problem] of refusals) {
  test(`${key} refuses ${JSON.stringify({ ...settings, ...credentials })}`, () => {
    const [goodSettings, goodCredentials] = valid[key]!;
    assert.deepEqual(problems(key, { ...goodSettings, ...settings }, { ...goodCredentials, ...credentials }), [
      problem,
    ]);
  });
}

const tenantId = "01JXXXXXXXXXXXXXXXXXXXXXXX" as TenantId;

test("providers are listed by the channels that they serve", async () => {
  const channels = ["email", "sms", "push", "chat", "in_app"] as const;
  assert.deepEqual(await Promise.all(channels.map(providers.keysOf)), [
    ["smtp", "development"],
    ["http_sms", "twilio", "development"],
    ["web_push", "fcm", "development"],
    ["slack", "chat_webhook", "development"],
    ["in_app"],
  ]);
  assert.deepEqual(problems("nobody", {}, {}), ["provider_key unknown"]);
  assert.deepEqual(problems("in_app", {}, {}), ["provider_key connection"]);
  const needing = await Promise.all(["development", "in_app", "smtp"].map((key) => providers.find(tenantId, key)));
  assert.deepEqual(
    needing.map((found) => found?.needsConnection),
    [false, false, true],
  );
});

test("every provider accepts telephone numbers and mail addresses, but devices and chats need their own provider", async () => {
  const understanding = async (channel: "sms" | "push" | "chat", providerKey: string, identity: string) => {
    const keys = await providers.keysOf(channel);
    const found = await Promise.all(keys.map((key) => providers.find(tenantId, key)));
    return keys.filter((_, nth) => found[nth]?.acceptsAddress(channel, { providerKey, identity }));
  };
  assert.deepEqual(await understanding("sms", "", "+4930901820"), ["http_sms", "twilio", "development"]);
  assert.deepEqual(await understanding("sms", "vonage", "+4930901820"), ["http_sms", "twilio", "development"]);
  const browser = JSON.stringify({ endpoint: "https://push.example", keys: {} });
  assert.deepEqual(await understanding("push", "", browser), ["web_push", "development"]);
  assert.deepEqual(await understanding("push", "", "a-token"), ["fcm", "development"]);
  assert.deepEqual(await understanding("push", "fcm", "a-token"), ["fcm", "development"]);
  assert.deepEqual(await understanding("push", "apns", "a-token"), ["development"]);
  assert.deepEqual(await understanding("chat", "", "room"), ["slack", "chat_webhook", "development"]);
  assert.deepEqual(await understanding("chat", "slack", "U1"), ["slack", "development"]);
});

test("a violation never contains a secret", () => {
  const violations = providers.check("fcm", valid.fcm![0], { private_key: "hunter2" });
  assert.ok(!JSON.stringify(violations).includes("hunter2"));
});

test("built-in providers cannot send", async () => {
  for (const key of ["in_app", "development", "nobody"]) {
    assert.equal(outcome(await providers.send(undefined, key, message(), neverAborted)), "system/internal");
  }
});
