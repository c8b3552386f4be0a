import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { connectionTo, startProviders } from "./testing/rig.ts";

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

/** A callback that is signed by an independent library. */
function signed(body: unknown, { at = nowMs, by = secret } = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const signature = new Webhook(by).sign("msg_1", new Date(at), text);
  const headers: Record<string, string> = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(at / 1000)),
    "webhook-signature": signature,
  };
  return { headers, rawBody: Buffer.from(text), url };
}

for (const key of ["http_sms", "chat_webhook"]) {
  const connection = connectionTo(key, {}, { callback_secret: secret });
  const read = (request: ReturnType<typeof signed>) => providers.callback(key, connection, request);

  test(`${key}: a signed callback tells what became of messages`, () => {
    assert.deepEqual(read(signed({ events: [event, { ...event, event_id: "e-2", kind: "read" }] })), [
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
    assert.deepEqual(read(signed({ events: [] })), []);
  });

  test(`${key}: while a secret is changed, one good signature among several is enough`, () => {
    const request = signed({ events: [event] });
    const several = `v1,${Buffer.alloc(32).toString("base64")} ${request.headers["webhook-signature"]}`;
    assert.notEqual(read({ ...request, headers: { ...request.headers, "webhook-signature": several } }), "refused");
  });

  test(`${key}: what is unsigned, altered, signed by another, old, from the future or not understood is refused`, () => {
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
      signed("no JSON"),
      signed("null"),
      signed({ events: "none" }),
      signed({ events: [{ ...event, kind: "exploded" }] }),
      signed({ events: [{ ...event, event_id: "" }] }),
      signed({ events: [{ ...event, occurred_at: "yesterday" }] }),
      signed({ events: [event, null] }),
    ];
    for (const [i, request] of refused.entries()) assert.equal(read(request), "refused", String(i));
    assert.notEqual(read(signed({ events: [event] }, { at: nowMs - 299_000 })), "refused");
  });

  test(`${key}: without a secret, or with another provider's connection, nothing is believed`, () => {
    const good = signed({ events: [event] });
    assert.equal(providers.callback(key, connectionTo(key, {}), good), "refused");
    assert.equal(providers.callback(key, undefined, good), "refused");
    assert.equal(providers.callback(key, connectionTo("slack", {}, { callback_secret: secret }), good), "refused");
  });
}

test("what is said about an event is left out where it is too large, the event is not", () => {
  const connection = connectionTo("http_sms", {}, { callback_secret: secret });
  const large = { ...event, attributes: { text: "x".repeat(5000) } };
  const [read] = providers.callback("http_sms", connection, signed({ events: [large] })) as unknown as [
    { attributes: object },
  ];
  assert.deepEqual(read.attributes, {});
});

const twilio = connectionTo("twilio", {}, { auth_token: "a token of Twilio's" });

/** A status callback as Twilio signs it: the URL, then every parameter's name and value in the order of the names. */
function status(parameters: Readonly<Record<string, string>>, token = "a token of Twilio's") {
  const text =
    url +
    Object.keys(parameters)
      .sort()
      .map((name) => name + parameters[name])
      .join("");
  return {
    headers: { "x-twilio-signature": createHmac("sha1", token).update(text).digest("base64") },
    rawBody: Buffer.from(new URLSearchParams(parameters).toString()),
    url,
  };
}

test("twilio: a signed status tells what became of a message, and statuses on the way tell nothing", () => {
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
    assert.deepEqual(read(name, code), [
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
  for (const name of ["queued", "sending", "sent"]) assert.deepEqual(read(name), []);
});

test("twilio: what is unsigned, altered, signed by another or for another URL is refused", () => {
  const parameters = { MessageSid: "SM1", MessageStatus: "delivered" };
  const good = status(parameters);
  const refused = [
    { ...good, headers: {} },
    { ...good, rawBody: Buffer.from("MessageSid=SM2&MessageStatus=delivered") },
    { ...good, url: `${url}0` },
    status(parameters, "another token"),
    status({ MessageStatus: "delivered" }),
  ];
  for (const [i, request] of refused.entries()) {
    assert.equal(providers.callback("twilio", twilio, request), "refused", String(i));
  }
  assert.equal(providers.callback("twilio", connectionTo("twilio", {}), status(parameters, "")), "refused");
});

test("providers that call nobody back are believed nothing", () => {
  for (const key of ["smtp", "slack", "web_push", "fcm", "in_app", "development", "nobody"]) {
    const connection = connectionTo(key, {}, { callback_secret: secret });
    assert.equal(providers.callback(key, connection, signed({ events: [event] })), "refused");
  }
});
