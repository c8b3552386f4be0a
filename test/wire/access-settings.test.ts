import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ConfigError, loadConfig } from "../../src/config/index.ts";
import { restClient } from "../harness/rest.ts";
import { overridesOf, startService, type TestService, type TestSettings } from "../harness/service.ts";
import { createSettableClock } from "../harness/settable-clock.ts";

const environments = "/api/v2/environments";

async function newTenant({ baseUrl, adminKey }: TestService, name: string) {
  const { body } = await restClient(baseUrl, adminKey).call("POST", "/api/tenants", { name, issue_admin_key: true });
  return { id: body.data.id, key: body.data.admin_key, rest: restClient(baseUrl, body.data.admin_key) };
}

async function keyWith(service: TestService, given: object): Promise<string> {
  const { body } = await restClient(service.baseUrl, service.adminKey).call("POST", "/api/v2/api-keys", given);
  return body.data.secret;
}

test("without an authorizer every authenticated caller is allowed or denied, as the setting says", async () => {
  const open = await startService({ "authz.provider": "none", "authz.allow_when_unconfigured": "true" });
  const nobody = restClient(open.baseUrl, await keyWith(open, { name: "nobody" }));
  assert.equal((await nobody.call("POST", environments, { key: "allowed" })).status, 200);
  assert.equal(
    (await restClient(open.baseUrl).call("GET", environments)).status,
    401,
    "callers are known all the same",
  );

  const closed = await startService({ "authz.provider": "none", "authz.allow_when_unconfigured": "false" });
  const { status, body } = await restClient(closed.baseUrl, closed.adminKey).call("GET", environments);
  assert.equal(status, 403);
  assert.equal(body.errorCode, "PERMISSION_DENIED");
});

test("auth.enabled=false makes every caller an admin of the first tenant", async () => {
  const service = await startService({ "auth.enabled": "false" });
  for (const key of [undefined, "nonsense"]) {
    const caller = restClient(service.baseUrl, key);
    const { body } = await caller.call("GET", "/api/tenants");
    assert.equal(body.data[0].platform, true);
    assert.equal((await caller.call("POST", environments, { key: `made-${key}` })).status, 200);
  }
});

test("auth.allow_anonymous=true lets callers without credentials only read; invalid credentials are still rejected", async () => {
  const service = await startService({ "auth.allow_anonymous": "true" });
  const anonymous = restClient(service.baseUrl);
  assert.equal((await anonymous.call("GET", environments)).status, 200);
  assert.equal((await anonymous.call("POST", environments, { key: "x" })).body.errorCode, "PERMISSION_DENIED");
  assert.equal((await anonymous.call("GET", "/api/v2/secrets")).body.errorCode, "PERMISSION_DENIED");
  const wrong: Record<string, string>[] = [
    { "x-api-key": "sk_live_nobody_has-this-key" },
    { authorization: "Bearer nonsense" },
  ];
  for (const headers of wrong) {
    assert.equal((await anonymous.call("GET", environments, undefined, headers)).status, 401, JSON.stringify(headers));
  }
});

test("API keys are accepted only when they are enabled", async () => {
  const service = await startService({ "auth.api_key_enabled": "false" });
  assert.equal((await restClient(service.baseUrl, service.adminKey).call("GET", environments)).status, 401);
});

test("a suspended tenant's callers are rejected immediately and later accepted again; a deleted tenant's are unknown", async () => {
  const service = await startService();
  const platform = restClient(service.baseUrl, service.adminKey);
  const tenant = await newTenant(service, "standing");
  const stand = (status: string) => platform.call("PATCH", `/api/tenants/${tenant.id}`, { status });
  assert.equal((await tenant.rest.call("GET", environments)).status, 200);
  await stand("STATUS_SUSPENDED");
  const suspended = await tenant.rest.call("GET", environments);
  assert.equal(suspended.status, 403);
  assert.equal(suspended.body.errorCode, "TENANT_SUSPENDED");
  await stand("STATUS_ACTIVE");
  assert.equal((await tenant.rest.call("GET", environments)).status, 200);
  await platform.call("DELETE", `/api/tenants/${tenant.id}`);
  const deleted = await tenant.rest.call("GET", environments);
  assert.equal(deleted.status, 401);
  assert.equal(deleted.body.errorCode, "UNAUTHENTICATED");
  assert.equal((await stand("STATUS_ACTIVE")).body.errorCode, "NOT_FOUND", "a deleted tenant stays deleted");
});

test("the platform tenant can be neither suspended nor deleted", async () => {
  const service = await startService();
  const platform = restClient(service.baseUrl, service.adminKey);
  const { id } = (await platform.call("GET", "/api/tenants")).body.data[0];
  for (const refused of [
    await platform.call("PATCH", `/api/tenants/${id}`, { status: "STATUS_SUSPENDED" }),
    await platform.call("DELETE", `/api/tenants/${id}`),
  ]) {
    assert.equal(refused.body.errorCode, "FAILED_PRECONDITION");
  }
  assert.equal((await platform.call("GET", environments)).status, 200);
});

test("expired and revoked keys are rejected, and shown with their state", async () => {
  const { time, createAreas } = createSettableClock();
  const service = await startService({}, undefined, "all", createAreas);
  const admin = restClient(service.baseUrl, service.adminKey);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const { body } = await admin.call("POST", "/api/v2/api-keys", {
    name: "brief",
    roles: ["viewer"],
    expires_at: expiresAt,
  });
  const brief = restClient(service.baseUrl, body.data.secret);
  const revoked = await admin.call("POST", "/api/v2/api-keys", { name: "revoked", roles: ["viewer"] });
  const gone = restClient(service.baseUrl, revoked.body.data.secret);
  assert.equal((await brief.call("GET", environments)).status, 200);
  assert.equal((await gone.call("GET", environments)).status, 200);

  await admin.call("POST", `/api/v2/api-keys/${revoked.body.data.id}/revoke`);
  assert.equal((await gone.call("GET", environments)).status, 401);
  time.aheadMs = 3_600_001;
  assert.equal((await brief.call("GET", environments)).status, 401);
  const statusOf = async (id: string) => (await admin.call("GET", `/api/v2/api-keys/${id}`)).body.data.status;
  assert.equal(await statusOf(body.data.id), "STATUS_EXPIRED");
  assert.equal(await statusOf(revoked.body.data.id), "STATUS_REVOKED");
  const past = await admin.call("POST", "/api/v2/api-keys", { name: "past", expires_at: "2020-01-01T00:00:00Z" });
  assert.equal(past.body.violations[0].field, "expires_at");
});

test("the enterprise profile rejects every insecure setting by name", () => {
  const enterprise = { security_profile: "enterprise", "audit.sink": "stderr", "auth.bcrypt_cost": "10" };
  const load = (settings: TestSettings) => loadConfig({ overrides: overridesOf({ ...enterprise, ...settings }) });
  const open: TestSettings = {
    "auth.enabled": "false",
    "auth.allow_anonymous": "true",
    "authz.provider": "none",
    "authz.allow_when_unconfigured": "true",
    "ratelimit.fail_mode": "open",
    "audit.hash_chain": "false",
    "audit.sink": "",
    "cache.backend": "none",
    "auth.bcrypt_cost": "4",
    "notification.outbox.enabled": "true",
  };
  for (const [key, value] of Object.entries(open)) {
    assert.throws(
      () => load({ [key]: value }),
      (error) => error instanceof ConfigError && error.message.startsWith(`${key}: must be`),
      key,
    );
    loadConfig({ overrides: overridesOf({ [key]: value }) });
  }
  const { config, sources } = load({});
  assert.equal(config["authz.allow_when_unconfigured"], false);
  assert.equal(config["ratelimit.fail_mode"], "closed");
  assert.equal(sources["authz.allow_when_unconfigured"], "security profile");
  assert.equal(sources["ratelimit.fail_mode"], "security profile");
});

test("a node with the enterprise profile serves authenticated callers, and audits their calls", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "switchyard-audit-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "audit.log");
  const service = await startService({
    security_profile: "enterprise",
    "audit.sink": "file",
    "audit.path": path,
    "auth.bcrypt_cost": "10",
  });
  const admin = restClient(service.baseUrl, service.adminKey);
  const created = await admin.call("POST", environments, { key: "audited" });
  assert.equal(created.status, 200);
  const key = await admin.call("POST", "/api/v2/api-keys", { name: "audited" });
  const tenant = await admin.call("POST", "/api/tenants", { name: "Audited" });
  const pool = await admin.call("POST", "/api/pools", { name: "audited" });
  const routed = await admin.call("POST", "/api/route:batch", { items: [{ pool_id: pool.body.data.id, type: "t" }] });
  assert.equal((await restClient(service.baseUrl).call("GET", environments)).status, 401);
  await service.stop();
  const lines = (await readFile(path, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const told = lines.map(({ operation, outcome }) => [operation, outcome]);
  assert.deepEqual(told, [
    ["service.api.EnvironmentService/CreateEnvironment", "succeeded"],
    ["service.api.ApiKeyService/CreateApiKey", "succeeded"],
    ["service.api.TenantService/CreateTenant", "succeeded"],
    ["service.api.PoolService/CreatePool", "succeeded"],
    ["service.api.RoutingService/RouteBatch", "succeeded"],
    ["service.api.EnvironmentService/ListEnvironments", "denied"],
  ]);
  // A created record is named only by its type and id.
  assert.deepEqual(
    lines.map(({ details }) => details.records),
    [
      [{ type: "environment", id: created.body.data.id }],
      [{ type: "api_key", id: key.body.data.id }],
      [{ type: "tenant", id: tenant.body.data.id }],
      [{ type: "pool", id: pool.body.data.id }],
      [{ type: "decision", id: routed.body.data.results[0].decision.decision_id }],
      undefined,
    ],
  );
});

test("the internal plane binds only to loopback unless certificates are required", () => {
  const load = (settings: TestSettings) => loadConfig({ overrides: overridesOf(settings) });
  for (const address of [":8081", "0.0.0.0:8081", "10.0.0.1:8081", "[::]:8081", "localhost.evil.example:1"]) {
    assert.throws(() => load({ "server.internal_addr": address }), /^Error: server\.internal_addr: /, address);
  }
  for (const address of ["127.0.0.1:0", "[::1]:0", "localhost:0", ""]) load({ "server.internal_addr": address });
  assert.throws(
    () => load({ "server.internal_addr": ":8081", "server.internal_require_mtls": "true" }),
    /server\.internal_tls_cert_file: /,
  );
});

test("a call to disabled dynamic configuration says that it is disabled", async () => {
  const service = await startService({ "dynamic_config.enabled": "false" });
  const admin = restClient(service.baseUrl, service.adminKey);
  for (const [method, path, body] of [
    ["GET", "/api/config/export"],
    ["GET", "/api/config/values"],
    ["PUT", "/api/config/values/events.retention_days", { value: 5 }],
  ] as const) {
    const { status, body: problem } = await admin.call(method, path, body);
    assert.equal(status, 503, path);
    assert.equal(problem.errorCode, "FEATURE_DISABLED");
    assert.equal(problem.retryable, false);
    assert.match(problem.detail, /dynamic_config\.enabled/);
  }
  assert.equal((await admin.call("GET", "/api/config/schema")).body.data.enabled, false);
});
