import assert from "node:assert/strict";
import http from "node:http";
import { after, before, test } from "node:test";
import { signServiceToken } from "../../src/platform/tokens/index.ts";
import { restClient } from "../harness/rest.ts";
import { serviceTokenSecret, startService, type TestService } from "../harness/service.ts";
import { newTenant, type TenantFixture } from "../routing/tenant-fixture.ts";
import { audience, type Issuer, startIssuer } from "./issuer.ts";

const path = "/api/v2/environments";
let issuer: Issuer;
let service: TestService;
let own: TenantFixture;
let other: TenantFixture;

before(async () => {
  issuer = await startIssuer(["ada"]);
  service = await startService({ "api.oidc_issuer": issuer.url, "api.oidc_audience": audience });
  [own, other] = await Promise.all([newTenant(service), newTenant(service)]);
});
after(() => issuer.goDown());

const token = (tenant: TenantFixture, claims: object = {}) =>
  issuer.token("ada", { tenant_id: tenant.id, roles: ["admin"], ...claims });
const ask = (headers: Record<string, string>, baseUrl = service.baseUrl) =>
  restClient(baseUrl).call("GET", path, undefined, headers);

test("a secret is returned once, also when its idempotency key is repeated", async () => {
  const create = () =>
    restClient(service.baseUrl, own.key).call(
      "POST",
      "/api/v2/api-keys",
      { name: "worker", roles: ["viewer"] },
      { "idempotency-key": "create-worker" },
    );
  const [created, repeated] = [await create(), await create()];
  assert.match(created.body.data.secret, /^sk_/);
  assert.equal(repeated.headers.get("idempotency-replayed"), "true");
  assert.deepEqual([repeated.body.data.id, repeated.body.data.secret], [created.body.data.id, undefined]);
});

test("two credentials are rejected, regardless of which one is valid and whom they identify", async () => {
  const wrongKey = "sk_live_nobody_0123456789";
  for (const [key, bearer] of [
    [own.key, await token(other)],
    [own.key, await token(own)],
    [own.key, "not-a-token"],
    [wrongKey, await token(own)],
    [own.key, other.key],
  ] as const) {
    const { status, body } = await ask({ "x-api-key": key, authorization: `Bearer ${bearer}` });
    assert.deepEqual([status, body.errorCode], [401, "UNAUTHENTICATED"]);
    assert.match(body.detail, /two credentials.*X-API-Key.*Authorization/);
  }
});

test("a key sent in both headers counts as one credential", async () => {
  assert.equal((await ask({ "x-api-key": own.key, authorization: `Bearer ${own.key}` })).status, 200);
});

test("a key or a token in the wrong header is refused with the name of the right one", async () => {
  const jwt = await token(own);
  for (const [headers, advice] of [
    [{ authorization: `Bearer ${own.key}` }, "Authorization has an API key, .* send X-API-Key: <key>\\."],
    [{ authorization: own.key }, "Authorization has an API key, .* send X-API-Key: <key>\\."],
    [{ authorization: `ApiKey ${own.key}` }, "Authorization has an API key, .* send X-API-Key: <key>\\."],
    [{ "x-api-key": jwt }, "X-API-Key has a token, .* send Authorization: Bearer <token>\\."],
    [{ "x-api-key": "sst_of-a-subscriber" }, "X-API-Key has a token, .* send Authorization: Bearer <token>\\."],
    [{ "x-api-key": `Bearer ${jwt}` }, "X-API-Key has a token, .* send Authorization: Bearer <token>\\."],
    [{ "x-api-key": `Bearer ${own.key}` }, "X-API-Key must be the API key alone"],
  ] as [Record<string, string>, string][]) {
    const { status, body, text } = await ask(headers);
    assert.deepEqual([status, body.errorCode], [401, "UNAUTHENTICATED"]);
    assert.match(body.detail, new RegExp(advice));
    assert.equal(text.includes(own.key) || text.includes(jwt), false, "a refusal does not repeat credentials");
  }
  assert.equal((await ask({ "x-api-key": own.key })).status, 200);
  assert.equal((await ask({ authorization: `Bearer ${jwt}` })).status, 200);
});

test("a node that accepts no keys does not advise to send one", async () => {
  const tokens = { "api.oidc_issuer": issuer.url, "api.oidc_audience": audience, "auth.api_key_enabled": "false" };
  const { baseUrl } = await startService(tokens);
  const { status, body } = await ask({ authorization: `Bearer ${own.key}` }, baseUrl);
  assert.equal(status, 401);
  assert.doesNotMatch(body.detail, /X-API-Key/);
});

test("a proxy's own credentials next to a key are ignored", async () => {
  assert.equal((await ask({ "x-api-key": own.key, authorization: "Basic cHJveHk6c2VjcmV0" })).status, 200);
});

test("several Authorization headers are rejected, even when the first one is valid", async () => {
  const [mine, others] = await Promise.all([token(own), token(other)]);
  const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const headers = { authorization: [`Bearer ${mine}`, `Bearer ${others}`] } as unknown as http.OutgoingHttpHeaders;
    const request = http.get(`${service.baseUrl}${path}`, { headers }, (response) => {
      let text = "";
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode!, text }));
    });
    request.on("error", reject);
  });
  assert.equal(answer.status, 401, answer.text);
  assert.match(JSON.parse(answer.text).detail, /Authorization must be sent once/);
});

test("every 401 says in WWW-Authenticate how to authenticate", async () => {
  const expired = await issuer.forge({ tenant_id: own.id, exp: Math.floor(Date.now() / 1000) - 60 });
  const nameless = await token(own, { tenant_id: undefined });
  const nowhere = await token(own, { tenant_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" });
  const [realm, keys] = ['Bearer realm="service"', 'ApiKey realm="service", header="X-API-Key"'];
  const invalid = (why: string) => `${realm}, error="invalid_token", error_description="${why}", ${keys}`;
  for (const [headers, challenge] of [
    [{}, `${realm}, ${keys}`],
    [{ "x-api-key": "sk_live_nobody_0123456789" }, `${realm}, ${keys}`],
    [{ authorization: `Bearer ${expired}` }, invalid("The token has expired.")],
    [{ authorization: `Bearer ${nameless}` }, invalid("The token has no valid tenant id in the claim tenant_id.")],
    [{ authorization: `Bearer ${nowhere}` }, invalid("The credentials belong to a tenant that does not exist.")],
  ] as [Record<string, string>, string][]) {
    const answer = await ask(headers);
    assert.equal(answer.status, 401);
    assert.equal(answer.headers.get("www-authenticate"), challenge);
  }
  const rpc = await fetch(`${service.baseUrl}/service.api.EnvironmentService/ListEnvironments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  assert.deepEqual([rpc.status, rpc.headers.get("www-authenticate")], [401, `${realm}, ${keys}`]);
});

test("a 401 of the internal plane names the accepted credentials", async () => {
  const { status, headers, body } = await ask({}, service.internalUrl);
  assert.equal(status, 401);
  assert.equal(headers.get("www-authenticate"), 'Bearer realm="service.internal"');
  assert.match(body.detail, /internal plane.*service token \(HS256\) in the header Authorization: Bearer/);
  assert.doesNotMatch(body.detail, /X-API-Key|certificate/);
});

test("a service token next to a key is rejected on both planes", async () => {
  const signed = await signServiceToken({ issuer: "test", subject: "billing", tenantId: own.id }, serviceTokenSecret);
  const both = { "x-api-key": own.key, authorization: `Bearer ${signed}` };
  for (const baseUrl of [service.baseUrl, service.internalUrl]) {
    assert.match((await ask(both, baseUrl)).body.detail, /two credentials/);
  }
});
