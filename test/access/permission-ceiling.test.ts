import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";
import { audience, type Issuer, startIssuer } from "./issuer.ts";

let issuer: Issuer;
let service: TestService;
let own: TenantFixture;
let stagingId: string;

before(async () => {
  issuer = await startIssuer(["ada", "bob", "cy", "dee"]);
  service = await startService({ "api.oidc_issuer": issuer.url, "api.oidc_audience": audience });
  own = await newTenant(service);
  const { data } = await own.ok("GET", "/api/v2/environments");
  stagingId = data.find(({ key }: ResponseData) => key === "staging").id;
});
after(() => issuer.goDown());

/** A caller with a token whose roles come only from its membership. */
async function bearer(subject: string): Promise<RestClient> {
  const authorization = `Bearer ${await issuer.token(subject, { tenant_id: own.id })}`;
  const rest = restClient(service.baseUrl);
  return { call: (method, path, body) => rest.call(method, path, body, { authorization }) };
}
const production = () => own.caller({ roles: ["admin"], environment_mode: "production_only" });
const invite = (by: RestClient, subject: string, fields: object = {}) =>
  by.call("POST", "/api/v2/members", { email: `${freshName()}@example.com`, subject, roles: ["admin"], ...fields });
const key = (by: RestClient, fields: object) => by.call("POST", "/api/v2/api-keys", { name: "child", ...fields });
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

test("a member can work in the environments of its inviter, and in no others", async () => {
  const invited = await invite(await production(), "ada");
  assert.deepEqual([invited.status, invited.body.data?.environment_mode], [200, "production_only"], invited.text);
  const ada = await bearer("ada");
  const staging = await own.pool({ environment_id: stagingId });
  const deleted = await ada.call("DELETE", `/api/pools/${staging}`);
  assert.deepEqual([deleted.status, deleted.body.errorCode], [403, "PERMISSION_DENIED"]);
  assert.equal((await ada.call("DELETE", `/api/pools/${await own.pool()}`)).status, 200);
  // Keys and members that a member creates have the same ceiling.
  assert.equal((await key(ada, { roles: ["admin"] })).status, 403);
  assert.equal((await key(ada, { roles: ["admin"], environment_mode: "production_only" })).status, 200);
});

test("a caller cannot grant a member an environment mode that the caller lacks", async () => {
  const by = await production();
  for (const mode of ["any", "non_production_only"]) {
    const refused = await invite(by, "eve", { environment_mode: mode });
    assert.deepEqual([refused.status, refused.body.errorCode], [403, "PERMISSION_DENIED"]);
    assert.match(refused.body.detail, new RegExp(`environment mode ${mode}`));
  }
  const member = (await invite(by, "bob")).body.data;
  const path = `/api/v2/members/${member.id}`;
  assert.equal((await by.call("PATCH", path, { environment_mode: "any" })).status, 403);
  assert.equal((await (await bearer("bob")).call("PATCH", path, { environment_mode: "any" })).status, 403);
  const widened = await own.ok("PATCH", path, { environment_mode: "any" });
  assert.equal(widened.data.environment_mode, "any");
});

test("a caller cannot add a role to a member with access to more environments", async () => {
  const by = await production();
  const member = (await invite(own.rest, "cy", { roles: ["viewer"] })).body.data;
  const path = `/api/v2/members/${member.id}`;
  const raised = await by.call("PATCH", path, { role_set: { roles: ["viewer", "operator"] } });
  assert.deepEqual([raised.status, raised.body.errorCode], [403, "PERMISSION_DENIED"]);
  // Removing a role or changing a name grants nothing, so both are allowed.
  assert.equal((await by.call("PATCH", path, { display_name: "Cy" })).status, 200);
  await own.ok("PATCH", path, { status: "STATUS_SUSPENDED" });
  assert.equal((await by.call("PATCH", path, { status: "STATUS_ACTIVE" })).status, 403);
  await own.ok("PATCH", path, { status: "STATUS_ACTIVE" });
});

test("a key never outlives the key that created it", async () => {
  const expiresAt = inAnHour();
  const parent = await own.caller({ roles: ["admin"], expires_at: expiresAt });
  const child = await key(parent, { roles: ["viewer"] });
  assert.equal(Date.parse(child.body.data.expires_at), Date.parse(expiresAt), child.text);
  const later = await key(parent, { expires_at: new Date(Date.parse(expiresAt) + 1).toISOString() });
  assert.deepEqual([later.status, later.body.errorCode], [403, "PERMISSION_DENIED"]);
  assert.match(later.body.detail, new RegExp(`expires_at.*${expiresAt}`));
  assert.equal((await key(parent, { expires_at: expiresAt })).status, 200);
  const sooner = new Date(Date.now() + 60_000).toISOString();
  assert.equal(Date.parse((await key(parent, { expires_at: sooner })).body.data.expires_at), Date.parse(sooner));
  const free = await own.ok("POST", "/api/v2/api-keys", { name: "free" });
  assert.equal(free.data.expires_at, undefined);
});

test("a membership never outlives the key that granted it, and ends by itself", async () => {
  const soon = new Date(Date.now() + 10_000).toISOString();
  const parent = await own.caller({ roles: ["admin"], expires_at: soon });
  const later = await invite(parent, "dee", { expires_at: inAnHour() });
  assert.deepEqual([later.status, later.body.errorCode], [403, "PERMISSION_DENIED"]);
  const invited = await invite(parent, "dee");
  assert.equal(Date.parse(invited.body.data.expires_at), Date.parse(soon), invited.text);
  const dee = await bearer("dee");
  const child = await key(dee, { roles: ["viewer"] });
  assert.equal(Date.parse(child.body.data.expires_at), Date.parse(soon), child.text);
  const ended = await until(
    () => dee.call("GET", "/api/pools"),
    ({ status }) => status !== 200,
  );
  assert.deepEqual([ended.status, ended.body.detail], [401, "The membership has expired."]);
  await own.ok("PATCH", `/api/v2/members/${invited.body.data.id}`, { expires_at: inAnHour() });
  assert.equal((await dee.call("GET", "/api/pools")).status, 200);
});

test("a key that expires cannot add a role to a member without expiry", async () => {
  const parent = await own.caller({ roles: ["admin"], expires_at: inAnHour() });
  const { data } = await own.ok("POST", "/api/v2/members", { email: "fay@example.com", roles: ["viewer"] });
  const raised = await parent.call("PATCH", `/api/v2/members/${data.id}`, { role_set: { roles: ["operator"] } });
  assert.deepEqual([raised.status, raised.body.errorCode], [403, "PERMISSION_DENIED"]);
  assert.match(raised.body.detail, /expires/);
});

test("a scope that no operation requires is rejected with the nearest known scope", async () => {
  for (const [scope, message] of [
    ["pools:write", /pool:write/],
    ["queue:raed", /queue:read/],
    ["unicorn:ride", /GET \/api\/_meta\/services/],
    ["unicorn:*", /GET \/api\/_meta\/services/],
    ["*:fly", /GET \/api\/_meta\/services/],
  ] as const) {
    const { status, body } = await key(own.rest, { scopes: ["event:read", scope] });
    assert.deepEqual([status, body.errorCode, body.violations?.[0].field], [400, "INVALID_ARGUMENT", "scopes[1]"]);
    assert.match(body.violations[0].message, message);
  }
  const known = ["pool:write", "dlq:delete", "notification:admin", "pool:*", "*:read", "*:*"];
  assert.equal((await key(own.rest, { scopes: known })).status, 200);
});
