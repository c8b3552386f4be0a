import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { test } from "node:test";
import { decodeProtectedHeader, jwtVerify } from "jose";
import { createTokenCache } from "./google-token.ts";
import { httpServer, type StubResponse } from "./testing/http-server.ts";
import {
  connectionTo,
  message,
  neverAborted,
  outcome,
  startEgress,
  startProviders,
} from "./testing/provider-fixture.ts";
import { pushConnection, pushSubscription, serviceAccountKey, vapidKeys } from "./testing/push.ts";

test("a browser can decrypt a web_push message, and the sender is signed", async () => {
  const { received, url } = await httpServer(() => ({
    status: 201,
    headers: { location: "https://push.example/m/1" },
  }));
  const browser = pushSubscription(`${url}/push/1`);
  const sent = message({ channel: "push", to: browser.identity, data: { link: "/orders/1" } });
  const result = await startProviders().send(pushConnection(), "web_push", sent, neverAborted);
  assert.deepEqual(result, { kind: "accepted", providerMessageId: "https://push.example/m/1", observed: false });
  const [{ path, headers, body }] = received as [(typeof received)[0]];
  assert.equal(path, "/push/1");
  assert.deepEqual(JSON.parse(browser.read(body)), {
    id: sent.deliveryId,
    title: "A title",
    body: "Hello Ada",
    data: { link: "/orders/1" },
  });
  assert.equal(headers["content-encoding"], "aes128gcm");
  const [, token, key] = /^vapid t=([^,]+), k=(.+)$/.exec(headers.authorization!)!;
  assert.equal(key, vapidKeys.publicKey);
  const point = Buffer.from(key!, "base64url");
  const jwk = {
    kty: "EC",
    crv: "P-256",
    x: point.subarray(1, 33).toString("base64url"),
    y: point.subarray(33).toString("base64url"),
  };
  const { payload } = await jwtVerify(token!, createPublicKey({ key: jwk, format: "jwk" }));
  assert.deepEqual([payload.aud, payload.sub], [url, "mailto:push@example.org"]);
});

test("an expired browser subscription is suppressed; an invalid address or oversized message is never sent", async () => {
  const providers = startProviders();
  for (const status of [404, 410]) {
    const { url } = await httpServer(() => ({ status }));
    const to = pushSubscription(`${url}/gone`).identity;
    const result = await providers.send(pushConnection(), "web_push", message({ to }), neverAborted);
    assert.equal(outcome(result), "provider/recipient_rejected suppress");
  }
  const { url, received } = await httpServer();
  const endpoint = `${url}/push`;
  const { keys } = JSON.parse(pushSubscription(endpoint).identity);
  const otherScheme = JSON.stringify({ endpoint: "ftp://push.example/1", keys });
  for (const to of [
    "token",
    "{}",
    "null",
    otherScheme,
    JSON.stringify({ endpoint, keys: { p256dh: "AA", auth: "AA" } }),
  ]) {
    const result = await providers.send(pushConnection(), "web_push", message({ to }), neverAborted);
    assert.equal(outcome(result), "provider/recipient_rejected", to);
  }
  const long = message({ to: pushSubscription(endpoint).identity, text: "x".repeat(4000) });
  assert.equal(
    outcome(await providers.send(pushConnection(), "web_push", long, neverAborted)),
    "provider/content_rejected",
  );
  assert.equal(received.length, 0);
});

/** A Google server: issues tokens and accepts messages with the currently valid one. */
async function google(
  answer: (token: string) => StubResponse = () => ({ status: 200, body: { name: "projects/acme/messages/1" } }),
) {
  const state = { tokens: 0, tokenAnswer: undefined as StubResponse | undefined };
  const server = await httpServer(({ path, headers }) => {
    if (path !== "/token") return answer(String(headers.authorization).replace("Bearer ", ""));
    state.tokens++;
    return state.tokenAnswer ?? { status: 200, body: { access_token: `token-${state.tokens}`, expires_in: 3600 } };
  });
  const settings = {
    project_id: "acme",
    client_email: "push@acme.example",
    base_url: server.url,
    token_url: `${server.url}/token`,
  };
  return { ...server, state, connection: connectionTo("fcm", settings, { private_key: serviceAccountKey }) };
}

const note = message({ channel: "push", to: "registration-token", data: { order: 7, link: "/o/7" } });

test("fcm requests one token for concurrent messages, and renews it shortly before it expires", async () => {
  let nowMs = Date.now();
  const providers = startProviders({ nowMs: () => nowMs });
  const { connection, received, state, url } = await google();
  const send = () => providers.send(connection, "fcm", note, neverAborted);
  const results = await Promise.all(Array.from({ length: 20 }, send));
  assert.deepEqual(new Set(results.map(outcome)), new Set(["accepted"]));
  assert.equal(state.tokens, 1);
  const tokenRequest = new URLSearchParams(received.find(({ path }) => path === "/token")!.body.toString());
  const assertion = tokenRequest.get("assertion")!;
  const { payload } = await jwtVerify(assertion, createPublicKey(serviceAccountKey), { currentDate: new Date(nowMs) });
  assert.deepEqual([payload.iss, payload.aud], ["push@acme.example", `${url}/token`]);
  assert.equal(decodeProtectedHeader(assertion).alg, "RS256");
  const sent = received.find(({ path }) => path === "/v1/projects/acme/messages:send")!;
  assert.equal(sent.headers.authorization, "Bearer token-1");
  assert.deepEqual(JSON.parse(sent.body.toString()), {
    message: {
      token: "registration-token",
      notification: { title: "A title", body: "Hello Ada" },
      data: { order: "7", link: "/o/7", delivery_id: note.deliveryId },
    },
  });
  nowMs += 3500 * 1000;
  await send();
  assert.equal(state.tokens, 1);
  nowMs += 60 * 1000;
  await Promise.all([send(), send()]);
  assert.equal(state.tokens, 2);
});

test("a token that is refused before it expires is renewed once, and the message is sent with the new one", async () => {
  const providers = startProviders();
  const { connection, state } = await google((token) =>
    token === "token-2" ? { status: 200, body: { name: "n" } } : { status: 401 },
  );
  const results = await Promise.all(
    Array.from({ length: 5 }, () => providers.send(connection, "fcm", note, neverAborted)),
  );
  assert.deepEqual(results.map(outcome), Array(5).fill("accepted"));
  assert.equal(state.tokens, 2);
  const never = await google(() => ({ status: 401 }));
  assert.equal(
    outcome(await providers.send(never.connection, "fcm", note, neverAborted)),
    "provider/auth_rejected failover",
  );
  assert.equal(never.state.tokens, 2);
});

test("concurrent refusals of one token cause one renewal", async () => {
  const { connection, state } = await google();
  const tokens = createTokenCache({ egress: startEgress(), now: Date.now });
  const { client_email, token_url } = connection.settings;
  const account = {
    clientEmail: String(client_email),
    privateKey: serviceAccountKey,
    tokenUrl: String(token_url),
  };
  assert.equal(await tokens.tokenFor(account), "token-1");
  const renewed = await Promise.all(Array.from({ length: 5 }, () => tokens.tokenFor(account, "token-1")));
  assert.deepEqual(renewed, Array(5).fill("token-2"));
  assert.equal(state.tokens, 2);
});

test("a failed token request is a credential failure, is retryable depending on its cause, and is not cached", async () => {
  const providers = startProviders();
  const { connection, state } = await google();
  const send = () => providers.send(connection, "fcm", note, neverAborted).then(outcome);
  state.tokenAnswer = { status: 400, body: { error: "invalid_grant" } };
  assert.equal(await send(), "credential/refresh_failed failover");
  state.tokenAnswer = { status: 503 };
  assert.equal(await send(), "credential/refresh_failed retry failover");
  state.tokenAnswer = { status: 200, body: {} };
  assert.equal(await send(), "credential/refresh_failed failover");
  state.tokenAnswer = undefined;
  assert.equal(await send(), "accepted");
});

test("an unregistered device is suppressed", async () => {
  const error = (errorCode: string) => ({ error: { code: 404, details: [{ "@type": "x", errorCode }] } });
  const meanings = [
    [404, "UNREGISTERED", "provider/recipient_rejected suppress"],
    [403, "SENDER_ID_MISMATCH", "provider/recipient_rejected"],
    [400, "INVALID_ARGUMENT", "provider/content_rejected"],
    [429, "QUOTA_EXCEEDED", "provider/rate_limited retry failover"],
  ] as const;
  for (const [status, code, expected] of meanings) {
    const { connection } = await google(() => ({ status, body: error(code) }));
    assert.equal(outcome(await startProviders().send(connection, "fcm", note, neverAborted)), expected, code);
  }
});
