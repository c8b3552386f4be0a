import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { after, before, test } from "node:test";
import { SignJWT } from "jose";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { audience, type Issuer, startIssuer } from "./issuer.ts";

let issuer: Issuer;
let other: Issuer;
let service: TestService;
let platform: RestClient;
let tenant: { readonly id: string; readonly admin: RestClient };

const environments = "/api/v2/environments";

before(async () => {
  [issuer, other] = await Promise.all([startIssuer(["ada", "bob", "cy", "dee", "eve", "fay"]), startIssuer(["ada"])]);
  service = await startService({ "api.oidc_issuer": issuer.url, "api.oidc_audience": audience });
  platform = restClient(service.baseUrl, service.adminKey);
  const created = await platform.call("POST", "/api/tenants", { name: "Acme", issue_admin_key: true });
  const { admin_key: key, ...made } = created.body.data;
  tenant = { id: made.id, admin: restClient(service.baseUrl, key) };
});
after(async () => {
  await Promise.all([issuer, other].map((each) => each.goDown().catch(() => {})));
});

const call = (token: string, method = "GET", path = environments, body?: unknown) =>
  restClient(service.baseUrl).call(method, path, body, { authorization: `Bearer ${token}` });
const viewer = () => ({ tenant_id: tenant.id, roles: ["viewer"] });

async function refused(token: string): Promise<void> {
  const { status, body, headers } = await call(token);
  assert.deepEqual([status, body?.errorCode], [401, "UNAUTHENTICATED"], body?.detail);
  assert.ok(headers.get("content-type")?.startsWith("application/problem+json"));
}

test("a token of the issuer is accepted, for the tenant and with the roles that it names", async () => {
  const token = await issuer.token("ada", viewer());
  const read = await call(token);
  assert.equal(read.status, 200, read.text);
  assert.equal(read.body.data[0].tenant_id, tenant.id);
  assert.equal((await call(token, "POST", environments, { key: "lab" })).status, 403);
  const admin = await issuer.token("ada", { tenant_id: tenant.id, roles: "viewer admin" });
  assert.equal((await call(admin, "POST", environments, { key: "lab" })).status, 200);
});

test("a token without roles is authenticated but may do nothing", async () => {
  assert.equal((await call(await issuer.token("ada", { tenant_id: tenant.id }))).status, 403);
});

test("a token with an unknown role may do nothing", async () => {
  for (const roles of [["chief"], ["constructor"], [7, null], { admin: true }]) {
    assert.equal((await call(await issuer.token("ada", { tenant_id: tenant.id, roles }))).status, 403);
  }
});

test("a token for another audience is rejected", async () => {
  await refused(await issuer.token("ada", viewer(), "https://elsewhere.example"));
});

test("a token of another issuer is rejected, even when it claims to be from this one", async () => {
  await refused(await other.token("ada", viewer()));
  await refused(await other.forge({ ...viewer(), iss: issuer.url }));
  await refused(await issuer.forge({ ...viewer(), iss: other.url }));
});

test("a token that is expired, never expires or is not valid yet is rejected", async () => {
  const nowS = Math.floor(Date.now() / 1000);
  assert.equal((await call(await issuer.forge(viewer()))).status, 200);
  await refused(await issuer.forge({ ...viewer(), exp: nowS - 10 }));
  await refused(await issuer.forge({ ...viewer(), exp: undefined }));
  await refused(await issuer.forge({ ...viewer(), nbf: nowS + 60 }));
});

test("a token that was modified is rejected", async () => {
  const [header, payload, signature] = (await issuer.token("ada", viewer())).split(".");
  const claims = JSON.parse(Buffer.from(payload!, "base64url").toString());
  const raised = Buffer.from(JSON.stringify({ ...claims, roles: ["admin"] })).toString("base64url");
  await refused(`${header}.${raised}.${signature}`);
  await refused(`${header}.${payload}.${signature!.slice(0, -4)}AAAA`);
  await refused(`${header}.${payload}.`);
});

test("an unsigned token, or one signed with the public key as a secret, is rejected", async () => {
  const token = await issuer.token("ada", viewer());
  const payload = token.split(".")[1]!;
  for (const alg of ["none", "None", "NONE"]) {
    const header = Buffer.from(JSON.stringify({ alg, typ: "JWT" })).toString("base64url");
    await refused(`${header}.${payload}.`);
  }
  const key = issuer.publicKey();
  const pem = createPublicKey({ key: key as never, format: "jwk" }).export({ type: "spki", format: "pem" });
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString());
  for (const secret of [pem.toString(), JSON.stringify(key)]) {
    const confused = new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: key.kid! });
    await refused(await confused.sign(new TextEncoder().encode(secret)));
  }
});

test("a token without a tenant, or with an unknown one, is rejected", async () => {
  await refused(await issuer.token("ada", { roles: ["viewer"] }));
  await refused(await issuer.token("ada", { tenant_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV", roles: ["viewer"] }));
  for (const odd of [[tenant.id], 7, "", "acme", tenant.id.toLowerCase()]) {
    await refused(await issuer.token("ada", { tenant_id: odd, roles: ["viewer"] }));
  }
});

test("a token with an empty subject is rejected, for reads and writes", async () => {
  const nobody = ["", 7, 0, null, true, [], {}, ["ada"], "a\u0000b", "a\nb", "\ud800", "x".repeat(256)];
  for (const sub of nobody) {
    const token = await issuer.forge({ tenant_id: tenant.id, roles: ["admin"], sub });
    await refused(token);
    const written = await call(token, "POST", environments, { key: "nobodys-lab" });
    assert.deepEqual([written.status, written.body.errorCode], [401, "UNAUTHENTICATED"], JSON.stringify(sub));
  }
  const longest = await issuer.forge({ tenant_id: tenant.id, roles: ["viewer"], sub: "x".repeat(255) });
  assert.equal((await call(longest)).status, 200);
});

test("an invalid email address does not break a token", async () => {
  const token = await issuer.forge({ ...viewer(), sub: "gil", email: "a\u0000@example.com", email_verified: true });
  assert.equal((await call(token)).status, 200);
});

test("a tenant is reachable only with its own tokens, regardless of headers", async () => {
  const token = await issuer.token("ada", viewer());
  const select = (tenantId: string) =>
    restClient(service.baseUrl).call("GET", environments, undefined, {
      authorization: `Bearer ${token}`,
      "x-tenant-id": tenantId,
    });
  assert.equal((await select(tenant.id)).status, 200);
  assert.equal((await select("01ARZ3NDEKTSV4RRFFQ69G5FAV")).status, 403);
});

test("a member's roles are added to those of the token from the first call on", async () => {
  const token = await issuer.token("bob", viewer());
  const write = () => call(token, "POST", environments, { key: "bobs-lab" });
  assert.equal((await write()).status, 403);
  const invited = await tenant.admin.call("POST", "/api/v2/members", {
    email: "bob@example.com",
    subject: "bob",
    roles: ["operator"],
  });
  assert.equal(invited.status, 200, invited.text);
  assert.equal((await write()).status, 200);
  const member = await tenant.admin.call("GET", `/api/v2/members/${invited.body.data.id}`);
  assert.equal(member.body.data.status, "STATUS_ACTIVE");
});

test("a member of one tenant has no access to another", async () => {
  const elsewhere = await platform.call("POST", "/api/tenants", { name: "Elsewhere" });
  const token = await issuer.token("bob", { tenant_id: elsewhere.body.data.id });
  assert.equal((await call(token)).status, 403);
});

test("a suspended or removed member is rejected immediately, whatever the token says, and accepted again when reinstated", async () => {
  const token = await issuer.token("cy", { tenant_id: tenant.id, roles: ["admin"] });
  const invited = await tenant.admin.call("POST", "/api/v2/members", { email: "cy@example.com", subject: "cy" });
  const path = `/api/v2/members/${invited.body.data.id}`;
  assert.equal((await call(token)).status, 200);
  assert.equal((await tenant.admin.call("PATCH", path, { status: "STATUS_SUSPENDED" })).status, 200);
  await refused(token);
  // Nor under another subject with the address of the member.
  const other = { ...viewer(), sub: "cy-again", email: "Cy@example.com" };
  await refused(await issuer.forge({ ...other, email_verified: true }));
  assert.equal((await call(await issuer.forge(other))).status, 200, "an unverified address names nobody");
  await tenant.admin.call("PATCH", path, { status: "STATUS_ACTIVE" });
  assert.equal((await call(token)).status, 200);
  await tenant.admin.call("DELETE", path);
  await refused(token);
});

test("an invitation by address is bound to the first caller with that verified address, and to no other caller later", async () => {
  const invited = await tenant.admin.call("POST", "/api/v2/members", { email: "Dee@Example.com", roles: ["operator"] });
  const member = async () => (await tenant.admin.call("GET", `/api/v2/members/${invited.body.data.id}`)).body.data;
  const write = async (subject: string, claims: object, key: string) =>
    (await call(await issuer.token(subject, { tenant_id: tenant.id, ...claims }), "POST", environments, { key }))
      .status;
  // An unverified address is not trusted.
  for (const claims of [{}, { email: "dee@example.com" }, { email: "dee@example.com", email_verified: "true" }]) {
    assert.equal(await write("eve", claims, "eves-lab"), 403);
  }
  assert.equal((await member()).status, "STATUS_INVITED");
  assert.equal(await write("dee", { email: "dee@example.com", email_verified: true }, "dees-lab"), 200);
  const { status, subject } = await member();
  assert.deepEqual([status, subject], ["STATUS_ACTIVE", "dee"]);
  // The address may move to another person later; the membership does not.
  assert.equal(await write("fay", { email: "dee@example.com", email_verified: true }, "fays-lab"), 403);
  assert.equal(await write("dee", {}, "dees-second-lab"), 200);
});

test("a new key of the issuer is picked up without a restart, and tokens of the previous key stay valid", async () => {
  const before = await issuer.token("ada", viewer());
  assert.equal((await call(before)).status, 200);
  await issuer.rotate();
  const rotated = await issuer.token("ada", viewer());
  // An unknown key is fetched again after at most two seconds.
  await until(async () => (await call(rotated)).status === 200);
  assert.equal((await call(before)).status, 200);
});

test("while the issuer is down, tokens with known keys work and tokens with unknown keys get a retryable error", async () => {
  const known = await issuer.token("ada", viewer());
  assert.equal((await call(known)).status, 200);
  await issuer.rotate();
  const unknown = await issuer.token("ada", viewer());
  issuer.setReachable(false);
  await until(async () => (await call(unknown)).status === 503);
  const { body } = await call(unknown);
  assert.deepEqual([body.errorCode, body.retryable], ["UNAVAILABLE", true]);
  for (let n = 0; n < 5; n++) assert.equal((await call(known)).status, 200);
  assert.equal((await tenant.admin.call("GET", environments)).status, 200, "keys do not need the issuer");
  issuer.setReachable(true);
  await until(async () => (await call(unknown)).status === 200);
});

test("a node that starts while the issuer is down serves requests, and accepts tokens as soon as the issuer is back", async (t) => {
  const token = await issuer.token("ada", viewer());
  issuer.setReachable(false);
  const settings = { "api.oidc_issuer": issuer.url, "api.oidc_audience": audience };
  const late = await startService(settings, service.databaseUrl);
  t.after(() => late.stop());
  const ask = () => restClient(late.baseUrl).call("GET", environments, undefined, { authorization: `Bearer ${token}` });
  assert.equal((await ask()).status, 503);
  issuer.setReachable(true);
  assert.equal((await ask()).status, 200);
});
