import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import type { ProviderEvent } from "./index.ts";
import { connectionTo, startProviders } from "./testing/provider-fixture.ts";

const nowMs = Date.parse("2027-01-31T12:00:00Z");
const providers = startProviders({ nowMs: () => nowMs });
const url = "https://switchyard.example/api/v2/notifications/callbacks/1";

const secret = `whsec_${Buffer.from("what signs the callbacks").toString("base64")}`;
const event = {
  message_id: "m-1",
  event_id: "e-1",
  kind: "bounced",
  occurred_at: "2027-01-31T11:59:00Z",
  severity: "hard",
  attributes: { reason: "unknown number" },
};

/** A callback signed by an independent library. */
function signed(body: unknown, { at = nowMs, by = secret } = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const signature = new Webhook(by).sign("msg_1", new Date(at), text);
  const headers: Record<string, string> = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(at / 1000)),
    "webhook-signature": signature,
  };
  return { method: "POST" as const, headers, rawBody: Buffer.from(text), url };
}

for (const key of ["http_sms", "chat_webhook"]) {
  const connection = connectionTo(key, {}, { callback_secret: secret });
  const read = (request: ReturnType<typeof signed>) => providers.callback(key, connection, request);

  test(`${key}: a signed callback reports events of messages`, async () => {
    assert.deepEqual(await read(signed({ events: [event, { ...event, event_id: "e-2", kind: "read" }] })), [
      {
        providerMessageId: "m-1",
        providerEventId: "e-1",
        kind: "bounced",
        occurredAtMs: Date.parse(event.occurred_at),
        severity: "hard",
        machineGenerated: false,
        attributes: { reason: "unknown number" },
      },
      {
        providerMessageId: "m-1",
        providerEventId: "e-2",
        kind: "read",
        occurredAtMs: Date.parse(event.occurred_at),
        severity: "hard",
        machineGenerated: false,
        attributes: { reason: "unknown number" },
      },
    ]);
    assert.deepEqual(await read(signed({ events: [] })), []);
  });

  test(`${key}: during a secret rotation, one valid signature among several is enough`, async () => {
    const request = signed({ events: [event] });
    const several = `v1,${Buffer.alloc(32).toString("base64")} ${request.headers["webhook-signature"]}`;
    assert.notEqual(
      await read({ ...request, headers: { ...request.headers, "webhook-signature": several } }),
      "refused",
    );
  });

  test(`${key}: an unsigned, altered, wrongly signed, old or future callback is refused`, async () => {
    const good = signed({ events: [event] });
    const without = (name: string) => ({ ...good, headers: { ...good.headers, [name]: "" } });
    const refused = [
      without("webhook-signature"),
      without("webhook-id"),
      without("webhook-timestamp"),
      { ...good, rawBody: Buffer.from(good.rawBody.toString().replace("bounced", "deferred")) },
      { ...good, headers: { ...good.headers, "webhook-id": "msg_2" } },
      { ...good, headers: { ...good.headers, "webhook-signature": "v1,AAAA" } },
      signed({ events: [event] }, { by: `whsec_${Buffer.from("what somebody else has").toString("base64")}` }),
      signed({ events: [event] }, { at: nowMs - 301_000 }),
      signed({ events: [event] }, { at: nowMs + 301_000 }),
    ];
    for (const [i, request] of refused.entries()) assert.equal(await read(request), "refused", String(i));
    assert.notEqual(await read(signed({ events: [event] }, { at: nowMs - 299_000 })), "refused");
  });

  test(`${key}: an authentic callback that cannot be parsed or stored is malformed as a whole`, async () => {
    const malformed: Readonly<Record<string, unknown>>[] = [
      { kind: "exploded" },
      { kind: "constructor" },
      { event_id: "" },
      { event_id: "e".repeat(257) },
      { event_id: "e\u0000" },
      { message_id: "m".repeat(257) },
      { message_id: "\ud800" },
      { occurred_at: "yesterday" },
      { occurred_at: "1969-12-31T23:59:59Z" },
      { occurred_at: "2100-01-01T00:00:00Z" },
      { occurred_at: "+275760-09-13T00:00:00Z" },
      { attributes: { reason: "a\u0000b" } },
      { attributes: { "a\u0000b": 1 } },
      { attributes: { deep: [{ reason: "\udc00" }] } },
    ];
    for (const change of malformed) {
      assert.equal(
        await read(signed({ events: [event, { ...event, ...change }] })),
        "malformed",
        JSON.stringify(change),
      );
    }
    const levels = 100_000;
    const deep = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const nested = JSON.stringify({ events: [{ ...event, attributes: "deep" }] }).replace('"deep"', deep);
    for (const body of ["no JSON", "null", { events: "none" }, { events: [event, null] }, nested]) {
      assert.equal(await read(signed(body)), "malformed", JSON.stringify(body).slice(0, 80));
    }
    // Text that only resembles an escape is stored unchanged.
    const [stored] = (await read(
      signed({ events: [{ ...event, attributes: { reason: "\\u0000 😀" } }] }),
    )) as ProviderEvent[];
    assert.deepEqual(stored!.attributes, { reason: "\\u0000 😀" });
  });

  test(`${key}: without a secret, or with another provider's connection, every callback is refused`, async () => {
    const good = signed({ events: [event] });
    assert.equal(await providers.callback(key, connectionTo(key, {}), good), "refused");
    assert.equal(await providers.callback(key, undefined, good), "refused");
    assert.equal(
      await providers.callback(key, connectionTo("slack", {}, { callback_secret: secret }), good),
      "refused",
    );
  });
}

test("attributes that are too large are dropped and the event is kept", async () => {
  const connection = connectionTo("http_sms", {}, { callback_secret: secret });
  const large = { ...event, attributes: { text: "x".repeat(5000) } };
  const [read] = (await providers.callback("http_sms", connection, signed({ events: [large] }))) as unknown as [
    { attributes: object },
  ];
  assert.deepEqual(read.attributes, {});
});

const twilio = connectionTo("twilio", {}, { auth_token: "a token of Twilio's" });

/** A status callback signed like Twilio: the URL, then every parameter's name and value in name order. */
function status(parameters: Readonly<Record<string, string>>, token = "a token of Twilio's") {
  const text =
    url +
    Object.keys(parameters)
      .sort()
      .map((name) => name + parameters[name])
      .join("");
  return {
    method: "POST" as const,
    headers: { "x-twilio-signature": createHmac("sha1", token).update(text).digest("base64") },
    rawBody: Buffer.from(new URLSearchParams(parameters).toString()),
    url,
  };
}

test("twilio: a signed final status reports an event, and intermediate statuses report none", async () => {
  const read = (MessageStatus: string, ErrorCode = "") =>
    providers.callback("twilio", twilio, status({ MessageSid: "SM1", MessageStatus, ErrorCode, To: "+49 30 & more" }));
  const kinds = [
    ["delivered", "", "delivered", ""],
    ["read", "", "read", ""],
    ["undelivered", "30003", "bounced", "soft"],
    ["undelivered", "30005", "bounced", "hard"],
    ["undelivered", "30007", "blocked", "soft"],
    ["failed", "30008", "rejected", ""],
  ] as const;
  for (const [name, code, kind, severity] of kinds) {
    assert.deepEqual(await read(name, code), [
      {
        providerMessageId: "SM1",
        providerEventId: `SM1.${name}`,
        kind,
        occurredAtMs: nowMs,
        severity,
        machineGenerated: false,
        attributes: code === "" ? {} : { error_code: code },
      },
    ]);
  }
  for (const name of ["queued", "sending", "sent"]) assert.deepEqual(await read(name), []);
});

test("twilio: an unsigned, altered or wrongly signed callback, or one for another URL, is refused", async () => {
  const parameters = { MessageSid: "SM1", MessageStatus: "delivered" };
  const good = status(parameters);
  const refused = [
    { ...good, headers: {} },
    { ...good, rawBody: Buffer.from("MessageSid=SM2&MessageStatus=delivered") },
    { ...good, url: `${url}0` },
    status(parameters, "another token"),
  ];
  for (const [i, request] of refused.entries()) {
    assert.equal(await providers.callback("twilio", twilio, request), "refused", String(i));
  }
  assert.equal(await providers.callback("twilio", connectionTo("twilio", {}), status(parameters, "")), "refused");
});

test("twilio: a status without a valid message id is malformed, and an unknown status reports no event", async () => {
  const read = (parameters: Readonly<Record<string, string>>) =>
    providers.callback("twilio", twilio, status({ MessageStatus: "delivered", ...parameters }));
  for (const MessageSid of ["", "SM\u0000", "SM 1", "SM".repeat(200)])
    assert.equal(await read({ MessageSid }), "malformed");
  assert.equal(await read({}), "malformed");
  assert.deepEqual(await read({ MessageSid: "SM1", MessageStatus: "constructor" }), []);
});

test("callbacks of providers without callbacks are refused", async () => {
  for (const key of ["smtp", "slack", "web_push", "fcm", "in_app", "development", "nobody"]) {
    const connection = connectionTo(key, {}, { callback_secret: secret });
    assert.equal(await providers.callback(key, connection, signed({ events: [event] })), "refused");
  }
});
