import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { after, beforeEach, test } from "node:test";
import { jwtVerify } from "jose";
import { validateAuthResponse } from "oauth4webapi";
import { createEgress } from "../../../../platform/egress/index.ts";
import { createLog } from "../../../../platform/log/log.ts";
import { createMetrics } from "../../../../platform/telemetry/index.ts";
import { type AuthMode, createGuardedHttp, type OAuth2Auth, type Provider } from "../../manifests/index.ts";
import { oauth2On, providerOn } from "../testing/connection-nodes.ts";
import { json, startTokenServer } from "../testing/token-server.ts";
import type { FetchedTokenAuth } from "./fetched-tokens.ts";
import type { TokenCall } from "./oauth-request.ts";
import { createTokenClient } from "./token-client.ts";

const server = await startTokenServer();
const egress = createEgress({
  mode: "enforce",
  allowedDomains: [],
  allowedIpNets: ["127.0.0.0/8"],
  ...{ log: createLog("silent"), metrics: createMetrics(), clock: { now: Date.now } },
});
after(() => egress.close());
const tokens = createTokenClient(createGuardedHttp(egress));
const base = `http://127.0.0.1:${server.port}`;
const nowMs = Date.parse("2027-01-31T12:00:00Z");
const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
const privateKey = keys.privateKey.export({ type: "pkcs8", format: "pem" }) as string;

beforeEach(() => {
  Object.assign(server, { script: undefined, expiresInS: 3600 });
  server.requests.length = 0;
});

function callOf(
  provider: Provider,
  mode: AuthMode,
  credentials: Record<string, string>,
  more: Partial<TokenCall["account"]> & { scopes?: readonly string[] } = {},
): TokenCall {
  const { scopes = [], ...account } = more;
  return {
    provider,
    scopes,
    nowMs,
    account: {
      ...{ mode, credentials, settings: {}, captured: {}, account: { id: "", label: "" } },
      config: { client_id: "app", client_secret: "secret" },
      ...account,
    },
  };
}
const oauth2 = (more: object = {}) => {
  const provider = providerOn(server.port, { auth: { oauth2: oauth2On(server.port, more as never) } });
  return { provider, auth: provider.auth("oauth2") as OAuth2Auth };
};

test("a refresh sends the grant and the client in the body, and returns the lifetime and the captured values", async () => {
  const { provider, auth } = oauth2({ captured: { team: "/team/id" } });
  server.script = (_request, response) => {
    const granted = { access_token: "a2", expires_in: 60, scope: "read,write", team: { id: "T1" } };
    json(response, 200, granted);
    return true;
  };
  const result = await tokens.refresh(auth, callOf(provider, "oauth2", {}), "rt-1");
  assert.deepEqual(result, {
    kind: "granted",
    accessToken: "a2",
    refreshToken: undefined,
    expiresAt: new Date(nowMs + 60_000),
    scopes: ["read", "write"],
    captured: { team: "T1" },
  });
  assert.deepEqual(server.requests[0]!.fields, {
    ...{ grant_type: "refresh_token", refresh_token: "rt-1", client_id: "app", client_secret: "secret" },
  });
});

test("clients authenticate with Basic, encoded no more than necessary, and bodies can be JSON", async () => {
  const { provider, auth } = oauth2({ token: { url: `${base}/token`, client_auth: "basic", format: "json" } });
  const { refreshToken } = server.issue();
  const config = { client_id: "my-app_1", client_secret: "a+b:c/ü~!" };
  const result = await tokens.refresh(auth, callOf(provider, "oauth2", {}, { config }), refreshToken);
  assert.equal(result.kind, "granted");
  const [request] = server.requests;
  assert.equal(request!.contentType, "application/json");
  assert.deepEqual(request!.fields, { grant_type: "refresh_token", refresh_token: refreshToken });
  const sent = Buffer.from(request!.authorization.replace("Basic ", ""), "base64").toString();
  assert.equal(sent, "my-app_1:a%2Bb:c/%C3%BC~!");
});

test("a client with a private key signs an assertion for the token endpoint", async () => {
  const { provider, auth } = oauth2({ token: { url: `${base}/token`, client_auth: "private_key_jwt" } });
  const { refreshToken } = server.issue();
  const config = { client_id: "app", private_key: privateKey.replaceAll("\n", "\\n") };
  assert.equal((await tokens.refresh(auth, callOf(provider, "oauth2", {}, { config }), refreshToken)).kind, "granted");
  const { client_assertion: assertion } = server.requests[0]!.fields;
  const { payload } = await jwtVerify(assertion!, keys.publicKey, { audience: `${base}/token` });
  assert.deepEqual([payload.iss, payload.sub], ["app", "app"]);
});

test("an authorization code is exchanged with its verifier and redirect URI", async () => {
  const { provider, auth } = oauth2();
  const parameters = validateAuthResponse(
    { issuer: base },
    { client_id: "app" },
    new URLSearchParams("code=c1&state=s"),
    "s",
  );
  const callback = { parameters, redirectUri: "https://switchyard.example/cb", codeVerifier: "v".repeat(43) };
  const result = await tokens.exchangeCode(auth, callOf(provider, "oauth2", {}), callback);
  assert.equal(result.kind, "granted");
  const { grant_type, code, redirect_uri, code_verifier } = server.requests[0]!.fields;
  assert.deepEqual(
    [grant_type, code, redirect_uri, code_verifier],
    ["authorization_code", "c1", "https://switchyard.example/cb", "v".repeat(43)],
  );
});

test("client credentials, a login and a signed assertion fetch tokens without an end user", async () => {
  const provider = providerOn(server.port, {
    auth: {
      oauth2_cc: {
        token: { url: `${base}/token`, client_auth: "basic" },
        scopes: { default: ["read"], available: { read: "Read", write: "Write" } },
        fields: { client_id: { title: "Id", secret: false }, client_secret: { title: "Secret" } },
      },
      two_step: {
        fields: { user: { title: "User", secret: false }, password: { title: "Password" } },
        token: {
          ...{ method: "POST", url: `${base}/login`, token: "/data/session", expires_in: "/data/ttl" },
          json: { user: "{credentials.user}", password: "{credentials.password}" },
        },
        apply: { headers: { "x-session": "{credentials.access_token}" } },
      },
      jwt: {
        fields: { client_email: { title: "Email", secret: false }, private_key: { title: "Key", multiline: true } },
        token: {
          ...{ url: `${base}/token`, audience: `${base}/token`, issuer: "{credentials.client_email}" },
          claims: { tenant: "acme" },
        },
        scopes: { default: ["read"], available: { read: "Read" } },
      },
    },
  });
  const fetchWith = (mode: FetchedTokenAuth["mode"], credentials: Record<string, string>, scopes: string[] = []) =>
    tokens.fetchToken(provider.auth(mode) as FetchedTokenAuth, callOf(provider, mode, credentials, { scopes }));

  const granted = await fetchWith("oauth2_cc", { client_id: "c", client_secret: "s" }, ["write"]);
  assert.equal(granted.kind, "granted");
  assert.deepEqual(server.requests[0]!.fields, { grant_type: "client_credentials", scope: "write" });
  assert.equal(server.requests[0]!.authorization, `Basic ${Buffer.from("c:s").toString("base64")}`);

  const assertion = await fetchWith("jwt", { client_email: "svc@acme.example", private_key: privateKey });
  assert.equal(assertion.kind, "granted");
  const { fields } = server.requests[1]!;
  assert.equal(fields.grant_type, "urn:ietf:params:oauth:grant-type:jwt-bearer");
  const { payload } = await jwtVerify(fields.assertion!, keys.publicKey, {
    ...{ issuer: "svc@acme.example", audience: `${base}/token`, currentDate: new Date(nowMs) },
  });
  assert.deepEqual([payload.scope, payload.tenant], ["read", "acme"]);
  assert.deepEqual(await fetchWith("jwt", { client_email: "a", private_key: "nonsense" }), {
    ...{ kind: "refused", what: "grant", code: "invalid_private_key" },
  });

  server.script = ({ fields: sent }, response) => {
    if (sent.password === "right") json(response, 200, { data: { session: "s1", ttl: 90 } });
    else json(response, 401, { message: "wrong password" });
    return true;
  };
  assert.deepEqual(await fetchWith("two_step", { user: "ada", password: "right" }), {
    ...{ kind: "granted", accessToken: "s1", refreshToken: undefined, scopes: undefined, captured: {} },
    expiresAt: new Date(nowMs + 90_000),
  });
  assert.deepEqual(await fetchWith("two_step", { user: "ada", password: "wrong" }), {
    ...{ kind: "refused", what: "grant", code: "invalid_grant" },
  });
});

test("a host that the manifest does not declare is never reached, and no failure reveals a token", async () => {
  const { provider, auth } = oauth2();
  const elsewhere = await startTokenServer();
  const moved = {
    ...auth,
    token: { ...auth.token, url: { source: "", parts: [`http://localhost:${elsewhere.port}/token`] } },
  };
  const result = await tokens.refresh(moved, callOf(provider, "oauth2", {}), "rt-planted");
  assert.deepEqual(result, { kind: "refused", what: "request", code: "host_not_allowed" });
  assert.equal(elsewhere.requests.length, 0);
  server.script = (_request, response) => {
    json(response, 400, { error: "the token rt-planted is bad", error_description: "rt-planted" });
    return true;
  };
  const refused = await tokens.refresh(auth, callOf(provider, "oauth2", {}), "rt-planted");
  assert.ok(!JSON.stringify(refused).includes("planted"));
});

test("every failure says whether the provider may have spent the grant", async () => {
  const { provider, auth } = oauth2();
  const refresh = async () => {
    const result = await tokens.refresh(auth, callOf(provider, "oauth2", {}), "rt-1");
    return result.kind === "unavailable" ? [result.code, result.mayHaveArrived] : result;
  };
  server.script = (_request, response) => {
    response.writeHead(429, { "retry-after": "3" }).end();
    return true;
  };
  assert.deepEqual(await refresh(), ["rate_limited", false]);
  server.script = (_request, response) => {
    response.destroy();
    return true;
  };
  assert.deepEqual(await refresh(), ["connection_lost", true]);
  server.script = (_request, response) => {
    response.end("<html>");
    return true;
  };
  assert.deepEqual(await refresh(), { kind: "malformed", code: "not_json" });
  const closed = providerOn(1, { auth: { oauth2: oauth2On(1) } });
  const result = await tokens.refresh(closed.auth("oauth2") as OAuth2Auth, callOf(closed, "oauth2", {}), "rt-1");
  assert.deepEqual(result, {
    ...{ kind: "unavailable", code: "connect_failed", mayHaveArrived: false, retryAfterMs: undefined },
  });
});

test("a revocation sends the token that the manifest names, and accepts every success", async () => {
  const credentials = { access_token: "at-1", refresh_token: "rt-1" };
  for (const [token, value] of [
    ["refresh_token", "rt-1"],
    ["access_token", "at-1"],
  ] as const) {
    const { provider, auth } = oauth2({ revoke: { url: `${base}/revoke`, client_auth: "body", token } });
    assert.deepEqual(await tokens.revoke(auth, callOf(provider, "oauth2", credentials)), { kind: "revoked" });
    assert.equal(server.requests.at(-1)!.fields.token, value);
  }
  const { provider, auth } = oauth2();
  server.script = (_request, response) => {
    response.writeHead(204).end();
    return true;
  };
  assert.equal((await tokens.revoke(auth, callOf(provider, "oauth2", credentials))).kind, "revoked");
  server.script = (_request, response) => {
    response.writeHead(503).end();
    return true;
  };
  assert.equal((await tokens.revoke(auth, callOf(provider, "oauth2", credentials))).kind, "unavailable");
  server.script = (_request, response) => {
    json(response, 400, { error: "unsupported_token_type" });
    return true;
  };
  assert.equal((await tokens.revoke(auth, callOf(provider, "oauth2", credentials))).kind, "refused");
  const silent = { ...auth, revoke: undefined };
  assert.deepEqual(await tokens.revoke(silent, callOf(provider, "oauth2", credentials)), { kind: "not_offered" });
});
