import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import { EgressError, type EgressFailure } from "../../../platform/egress/index.ts";
import type { OpenConnection } from "../../connectors/index.ts";
import { failed } from "./domain/failure.ts";
import { failureOf } from "./http-send.ts";
import type { OutgoingMessage } from "./index.ts";
import { httpServer, type StubResponse } from "./testing/http-server.ts";
import { connectionTo, message, neverAborted, outcome, startProviders } from "./testing/provider-fixture.ts";
import { pushConnection, pushSubscription, serviceAccountKey } from "./testing/push.ts";

const accountSid = `AC${"0".repeat(32)}`;
const chatSecret = `whsec_${Buffer.from("a secret of a chat webhook").toString("base64")}`;

/** Every HTTP provider, with a connection to a server at a URL and a message that it can send. */
const providersOfHttp: Readonly<
  Record<string, { connection(url: string): OpenConnection; message(url: string): OutgoingMessage }>
> = {
  http_sms: {
    connection: (url) => connectionTo("http_sms", { url: `${url}/sms`, from: "Acme" }, { token: "sms-token" }),
    message: () => message({ channel: "sms", to: "+4930901820" }),
  },
  twilio: {
    connection: (url) =>
      connectionTo(
        "twilio",
        { account_sid: accountSid, from: "+15005550006", base_url: url },
        { auth_token: "t-token" },
      ),
    message: () => message({ channel: "sms", to: "+4930901820" }),
  },
  web_push: {
    connection: () => pushConnection(),
    message: (url) => message({ channel: "push", to: pushSubscription(`${url}/push/1`).identity }),
  },
  fcm: {
    connection: (url) =>
      connectionTo(
        "fcm",
        { project_id: "acme", client_email: "push@acme.example", base_url: url, token_url: `${url}/token` },
        { private_key: serviceAccountKey },
      ),
    message: () => message({ channel: "push", to: "registration-token" }),
  },
  slack: {
    connection: (url) => connectionTo("slack", {}, { webhook_url: `${url}/services/T0/B0/key` }),
    message: () => message({ channel: "chat", to: "#general" }),
  },
  chat_webhook: {
    connection: (url) => connectionTo("chat_webhook", { url: `${url}/chat` }, { secret: chatSecret }),
    message: () => message({ channel: "chat", to: "room-1" }),
  },
};

/** Sends through a provider to a server that returns this response to everything except token requests. */
async function sendTo(
  key: string,
  response: StubResponse,
  { open = true, nowMs = Date.now, signal = neverAborted } = {},
) {
  const server = await httpServer(({ path }) =>
    path === "/token" ? { status: 200, body: { access_token: "oauth-token", expires_in: 3600 } } : response,
  );
  const providers = startProviders({ open, nowMs });
  const { connection, message: messageFor } = providersOfHttp[key]!;
  const result = await providers.send(connection(server.url), key, messageFor(server.url), signal);
  const received = server.received.filter(({ path }) => path !== "/token");
  return { result, outcome: outcome(result), received };
}

const accepted = { status: 200, body: { id: "m-1", sid: "SM1", name: "projects/acme/messages/1" } };
const idempotent = new Set(["http_sms", "chat_webhook"]);

for (const key of Object.keys(providersOfHttp)) {
  test(`${key}: statuses map to failures`, async () => {
    // The message may have been accepted, so it is repeated only if the provider deduplicates.
    const maybeArrived = idempotent.has(key)
      ? "provider/unavailable retry maybe_arrived"
      : "provider/outcome_unknown maybe_arrived";
    const meanings: readonly (readonly [number, string])[] = [
      [200, "accepted"],
      [400, "provider/content_rejected"],
      [401, "provider/auth_rejected failover"],
      [402, "provider/quota_exhausted failover"],
      [403, "provider/auth_rejected failover"],
      [408, "provider/unavailable retry failover"],
      [413, "provider/content_rejected"],
      [425, "provider/unavailable retry failover"],
      [429, "provider/rate_limited retry failover"],
      [500, maybeArrived],
      [502, maybeArrived],
      [504, maybeArrived],
      [503, "provider/unavailable retry failover"],
      [302, "provider/unclassified"],
    ];
    for (const [status, expected] of meanings) {
      const response = { ...accepted, status, headers: { location: "http://127.0.0.1/elsewhere" } };
      assert.equal((await sendTo(key, response)).outcome, expected, String(status));
    }
  });

  test(`${key}: Retry-After is honoured in seconds and as a date, up to 15 minutes`, async () => {
    const nowMs = () => Date.parse("2027-01-31T12:00:00Z");
    const waits = [
      ["7", 7000],
      ["Sun, 31 Jan 2027 12:01:00 GMT", 60_000],
      ["86400", 900_000],
      ["soon", undefined],
    ] as const;
    for (const [header, expected] of waits) {
      const response = { status: 429, headers: { "retry-after": header } };
      const { result } = await sendTo(key, response, { nowMs });
      assert.equal(result.kind === "failed" && result.retryAfterMs, expected, header);
    }
  });

  test(`${key}: a missing response is an unknown outcome, and is retried only if the provider deduplicates`, async () => {
    const expected = idempotent.has(key)
      ? "provider/outcome_unknown retry maybe_arrived"
      : "provider/outcome_unknown maybe_arrived";
    assert.equal((await sendTo(key, "disconnect")).outcome, expected);
    const aborting = new AbortController();
    const server = await httpServer(({ path }) => {
      if (path === "/token") return { status: 200, body: { access_token: "oauth-token" } };
      aborting.abort();
      return "no response";
    });
    const providers = startProviders();
    const { connection, message: messageFor } = providersOfHttp[key]!;
    const result = await providers.send(connection(server.url), key, messageFor(server.url), aborting.signal);
    assert.equal(outcome(result), expected);
  });

  test(`${key}: a denied address, a closed port and a missing connection are distinguished`, async () => {
    const { outcome: denied, received } = await sendTo(key, accepted, { open: false });
    assert.equal(denied, "egress/denied failover");
    assert.equal(received.length, 0);
    const providers = startProviders();
    const { connection, message: messageFor } = providersOfHttp[key]!;
    const closedPort = "http://127.0.0.1:9";
    const result = await providers.send(connection(closedPort), key, messageFor(closedPort), neverAborted);
    assert.equal(outcome(result), "egress/connect_failed retry failover");
    const bare = await providers.send(undefined, key, messageFor(closedPort), neverAborted);
    assert.equal(outcome(bare), "credential/connection_missing failover");
  });
}

test("the deduplicating providers are those that receive an idempotency key", async () => {
  assert.deepEqual(new Set(await startProviders().deduplicating()), idempotent);
});

test("http_sms posts JSON with a bearer token and the same idempotency key for every attempt", async () => {
  const { result, received } = await sendTo("http_sms", accepted);
  assert.deepEqual(result, { kind: "accepted", providerMessageId: "m-1", observed: false });
  const [{ path, headers, body }] = received as [(typeof received)[0]];
  assert.equal(path, "/sms");
  assert.equal(headers.authorization, "Bearer sms-token");
  assert.equal(headers["idempotency-key"], message().deliveryId);
  const { id, to, from, text } = JSON.parse(body.toString());
  assert.deepEqual([id, to, from, text], [message().deliveryId, "+4930901820", "Acme", "Hello Ada"]);
  assert.equal((await sendTo("http_sms", { status: 404 })).outcome, "provider/recipient_rejected");
  assert.equal((await sendTo("http_sms", { status: 410 })).outcome, "provider/recipient_rejected suppress");
});

test("twilio posts a form under the account, and suppresses unreachable numbers", async () => {
  const { result, received } = await sendTo("twilio", { ...accepted, status: 201 });
  assert.deepEqual(result, { kind: "accepted", providerMessageId: "SM1", observed: false });
  const [{ path, headers, body }] = received as [(typeof received)[0]];
  assert.equal(path, `/2010-04-01/Accounts/${accountSid}/Messages.json`);
  assert.equal(headers.authorization, `Basic ${Buffer.from(`${accountSid}:t-token`).toString("base64")}`);
  assert.deepEqual(Object.fromEntries(new URLSearchParams(body.toString())), {
    To: "+4930901820",
    From: "+15005550006",
    Body: "Hello Ada",
  });
  const refused = (code: number) => sendTo("twilio", { status: 400, body: { code, message: "of +4930901820" } });
  assert.equal((await refused(21211)).outcome, "provider/recipient_rejected suppress");
  assert.equal((await refused(21610)).outcome, "provider/recipient_rejected suppress");
  assert.equal((await refused(21408)).outcome, "provider/recipient_rejected failover");
  const other = await refused(21617);
  assert.equal(other.outcome, "provider/content_rejected");
  assert.ok(other.result.kind === "failed" && !other.result.detail.includes("+49"));
  assert.equal((await sendTo("twilio", { status: 201 })).outcome, "provider/outcome_unknown maybe_arrived");
});

test("slack gets a text, and blocks if the message has them; a deleted webhook does not suppress the address", async () => {
  const { result, received } = await sendTo("slack", { status: 200, body: "ok" });
  assert.deepEqual(result, { kind: "accepted", providerMessageId: message().deliveryId, observed: false });
  assert.deepEqual(JSON.parse(received[0]!.body.toString()), { text: "Hello Ada" });
  const server = await httpServer();
  const blocks = [{ type: "divider" }];
  const connection = connectionTo("slack", {}, { webhook_url: `${server.url}/hook` });
  await startProviders().send(connection, "slack", message({ channel: "chat", data: { blocks } }), neverAborted);
  assert.deepEqual(JSON.parse(server.received[0]!.body.toString()), { text: "Hello Ada", blocks });
  assert.equal((await sendTo("slack", { status: 404 })).outcome, "provider/auth_rejected failover");
  assert.equal((await sendTo("slack", { status: 410 })).outcome, "provider/auth_rejected failover");
});

test("chat_webhook signs as specified by Standard Webhooks", async () => {
  const { result, received } = await sendTo("chat_webhook", accepted);
  assert.equal(result.kind, "accepted");
  const [{ headers, body }] = received as [(typeof received)[0]];
  const signed = new Webhook(chatSecret).verify(body.toString(), headers as Record<string, string>);
  assert.deepEqual(signed, { id: message().deliveryId, to: "room-1", title: "A title", text: "Hello Ada", data: {} });
  assert.equal(headers["webhook-id"], message().deliveryId);
  assert.equal(headers["idempotency-key"], message().deliveryId);
});

test("a failure never contains the provider's text or a secret", async () => {
  for (const key of Object.keys(providersOfHttp)) {
    const echo = { status: 400, body: { message: "sms-token t-token ada@example.com", error: "echoed" } };
    const { result } = await sendTo(key, echo);
    assert.ok(result.kind === "failed" && !/token|ada|echoed/.test(result.detail), key);
    assert.ok(result.detail.length <= 256);
  }
});

test("a failed exchange may be repeated depending on whether the request can have arrived", () => {
  const meanings: readonly (readonly [EgressFailure, arrived: boolean, idempotent: boolean, string])[] = [
    ["timeout", false, false, "provider/timeout retry failover"],
    ["timeout", true, false, "provider/outcome_unknown maybe_arrived"],
    ["timeout", true, true, "provider/timeout retry maybe_arrived"],
    ["too_large", true, false, "provider/outcome_unknown maybe_arrived"],
    ["connection_lost", true, true, "provider/outcome_unknown retry maybe_arrived"],
    ["cancelled", false, false, "system/cancelled retry"],
    ["cancelled", true, false, "provider/outcome_unknown maybe_arrived"],
    ["tls_failed", false, false, "egress/tls_failed retry failover"],
    ["dns_failed", false, true, "egress/dns_failed retry failover"],
  ];
  for (const [reason, arrived, idempotentProvider, expected] of meanings) {
    const failure = failureOf(new EgressError(reason, "host: failed", arrived), idempotentProvider);
    assert.equal(outcome(failure), expected, reason);
  }
});

test("a message that may have arrived never fails over, even with overrides", () => {
  const { failover, retryable } = failed("unavailable", "It broke.", { mayHaveArrived: true, failover: true });
  assert.deepEqual({ failover, retryable }, { failover: false, retryable: true });
});
