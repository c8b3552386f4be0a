import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Environment_Mode as Mode } from "../../gen/service/api/environment_pb.ts";
import { catalogue, type ErrorCode } from "../../src/errors/index.ts";
import { freshWord, type Json } from "../harness/operations.ts";
import { connect } from "../harness/postgres-server.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { type Refusal, type Surface, surfacesOf } from "./surfaces.ts";

let service: TestService;
let rest: RestClient;
let admin: Record<string, string>;
let surfaces: Surface[];
const closers: (() => void)[] = [];
before(async () => {
  service = await startService();
  rest = restClient(service.baseUrl, service.adminKey);
  admin = { "x-api-key": service.adminKey };
  surfaces = open(service);
});
after(() => {
  for (const close of closers) close();
});

function open({ baseUrl }: TestService): Surface[] {
  const opened = surfacesOf(baseUrl);
  closers.push(opened.close);
  return opened.surfaces;
}

/** Sends the same call to every surface; asserts that the responses are equal and returns them. */
async function agreed(operation: string, request: Json, headers = admin, among = surfaces): Promise<Json> {
  const answers: Json[] = [];
  for (const surface of among) {
    const { data, refusal } = await surface.call(operation, request, headers);
    assert.ok(data !== undefined, `${surface.name}: ${JSON.stringify(refusal)}`);
    answers.push(data);
    assert.deepEqual(data, answers[0], surface.name);
  }
  return answers[0]!;
}

/** Sends a call that every surface must reject; asserts that the errors are equal. */
async function refusedAlike(
  code: ErrorCode,
  operation: string,
  requestOf: Json | (() => Json),
  headers: Record<string, string> = admin,
  among = surfaces,
): Promise<Refusal> {
  const entry = catalogue[code];
  let first: Refusal | undefined;
  for (const surface of among) {
    const request = typeof requestOf === "function" ? requestOf() : requestOf;
    const { refusal } = await surface.call(operation, request, { ...headers, "x-request-id": "the-same" });
    assert.ok(refusal !== undefined, `${surface.name} did not reject the call`);
    const told = `${surface.name}: ${JSON.stringify(refusal)}`;
    assert.equal(refusal.errorCode, code, told);
    assert.equal(refusal.retryable, entry.retryable, told);
    assert.equal(refusal.requestId, "the-same", told);
    if (refusal.status !== undefined) assert.equal(refusal.status, entry.http, told);
    else assert.equal(refusal.rpcCode, entry.connect, told);
    first ??= refusal;
    assert.deepEqual(refusal.violations, first.violations, told);
    assert.deepEqual(refusal.corrections, first.corrections, told);
    if (code !== "INTERNAL") assert.equal(refusal.message, first.message, told);
  }
  return first!;
}

test("every surface shows the same tenant, key, environment and quota", async () => {
  const { body: tenant } = await rest.call("POST", "/api/tenants", {
    name: "Ünï",
    settings: { deep: { list: [1, null, "x"] } },
  });
  const shown = await agreed("TenantService/GetTenant", { tenant_id: tenant.data.id });
  assert.deepEqual(shown, tenant.data);
  const { body: key } = await rest.call("POST", "/api/v2/api-keys", { name: "k", scopes: ["event:read"] });
  const { secret: _shownOnce, ...apiKey } = key.data;
  assert.deepEqual(await agreed("ApiKeyService/GetApiKey", { api_key_id: apiKey.id }), apiKey);
  const { body: environment } = await rest.call("POST", "/api/v2/environments", { key: "shown" });
  assert.deepEqual(
    await agreed("EnvironmentService/GetEnvironment", { environment_id: environment.data.id }),
    environment.data,
  );
});

test("every surface creates, changes and deletes, and the others see it", async () => {
  for (const { name, call } of surfaces) {
    const mode = name === "REST" ? "MODE_LIVE" : Mode.LIVE;
    const { data: created, refusal } = await call(
      "EnvironmentService/CreateEnvironment",
      { key: freshWord(), mode },
      admin,
    );
    assert.ok(created !== undefined, `${name}: ${JSON.stringify(refusal)}`);
    assert.equal(created.mode, "MODE_LIVE", name);
    assert.deepEqual(await agreed("EnvironmentService/GetEnvironment", { environment_id: created.id }), created);
    const { data: changed } = await call(
      "EnvironmentService/UpdateEnvironment",
      { environment_id: created.id, name: "Changed" },
      admin,
    );
    assert.deepEqual([changed!.name, changed!.key, changed!.record_version], ["Changed", created.key, 2], name);
    const { data: deleted } = await call("EnvironmentService/DeleteEnvironment", { environment_id: created.id }, admin);
    assert.equal(deleted!.status, "STATUS_DELETED", name);
    await refusedAlike("NOT_FOUND", "EnvironmentService/GetEnvironment", { environment_id: created.id });
  }
});

test("every surface lists the same records in the same order", async () => {
  for (const operation of [
    "TenantService/ListTenants",
    "ApiKeyService/ListApiKeys",
    "EnvironmentService/ListEnvironments",
  ]) {
    const items = (await agreed(operation, {})) as unknown as unknown[];
    assert.ok(items.length > 0);
  }
});

test("an idempotency key is shared by every surface", async () => {
  const request = { key: freshWord() };
  const headers = { ...admin, "idempotency-key": freshWord() };
  await agreed("EnvironmentService/CreateEnvironment", request, headers);
  await refusedAlike("IDEMPOTENCY_KEY_REUSED", "EnvironmentService/CreateEnvironment", { key: "another" }, headers);
});

test("rule violations are rejected equally, with the same fields and rules", async () => {
  const { violations } = await refusedAlike("INVALID_ARGUMENT", "TenantService/CreateTenant", {
    name: "",
    slug: "Not A Slug",
  });
  assert.deepEqual(
    violations.map(({ field, rule }) => [field, rule]),
    [
      ["name", "string.min_len"],
      ["slug", "string.pattern"],
    ],
  );
  await refusedAlike("INVALID_ARGUMENT", "ApiKeyService/CreateApiKey", { name: "k", roles: ["no_such_role"] });
  const { corrections } = await refusedAlike("INVALID_ARGUMENT", "EnvironmentService/CreateEnvironment", {
    key: "Bad Key",
  });
  const patch = [{ op: "replace", path: "/key", value: "bad-key" }];
  const found = { kind: "text_spelling", in: "body", patch, value: "bad-key", confidence: "likely" };
  assert.deepEqual(corrections, [{ field: "key", ...found }]);
});

test("callers that are unknown, not allowed or of another tenant are rejected equally", async () => {
  const { body } = await rest.call("POST", "/api/v2/api-keys", { name: "reader", roles: ["viewer"] });
  const reader = { "x-api-key": body.data.secret };
  await refusedAlike("UNAUTHENTICATED", "TenantService/ListTenants", {}, {});
  await refusedAlike(
    "UNAUTHENTICATED",
    "TenantService/ListTenants",
    {},
    { "x-api-key": "sk_live_nobody_has-this-key" },
  );
  await refusedAlike("PERMISSION_DENIED", "EnvironmentService/CreateEnvironment", { key: "x" }, reader);
  await refusedAlike("PERMISSION_DENIED", "ApiKeyService/CreateApiKey", { name: "x" }, reader);
  const elsewhere = { ...admin, "x-tenant-id": "01HWS6KRG0EXAMPLEKEY000000" };
  await refusedAlike("TENANT_MISMATCH", "EnvironmentService/ListEnvironments", {}, elsewhere);
});

test("records that are missing, taken, stale or protected are rejected equally", async () => {
  await refusedAlike("NOT_FOUND", "TenantService/GetTenant", { tenant_id: "nobody" });
  await refusedAlike("NOT_FOUND", "ApiKeyService/GetApiKey", { api_key_id: "nobody" });
  await refusedAlike("ALREADY_EXISTS", "EnvironmentService/CreateEnvironment", { key: "production" });
  const { body } = await rest.call("GET", "/api/v2/environments?limit=1");
  const [production] = body.data;
  await refusedAlike("FAILED_PRECONDITION", "EnvironmentService/DeleteEnvironment", { environment_id: production.id });
  const stale = { environment_id: production.id, name: "x", record_version: 99n };
  const among = surfaces.filter(({ name }) => name !== "REST");
  const rpc = await refusedAlike("VERSION_CONFLICT", "EnvironmentService/UpdateEnvironment", stale, admin, among);
  const overRest = await rest.call("PATCH", `/api/v2/environments/${production.id}`, { name: "x", record_version: 99 });
  assert.equal(overRest.body.detail, rpc.message);
});

test("a suspended tenant, a used-up quota and an unsupported version are rejected equally", async () => {
  const { body } = await rest.call("POST", "/api/tenants", { name: "limited", issue_admin_key: true });
  const { admin_key, ...tenant } = body.data;
  const theirs = { "x-api-key": admin_key };
  await rest.call("PATCH", `/api/tenants/${tenant.id}`, { quotas: { "api.call": { limit_per_day: 1 } } });
  await restClient(service.baseUrl, admin_key).call("GET", "/api/v2/environments");
  await refusedAlike("QUOTA_EXCEEDED", "EnvironmentService/ListEnvironments", {}, theirs);
  await rest.call("PATCH", `/api/tenants/${tenant.id}`, { status: "STATUS_SUSPENDED" });
  await refusedAlike("TENANT_SUSPENDED", "EnvironmentService/ListEnvironments", {}, theirs);
  await refusedAlike("INVALID_ARGUMENT", "TenantService/ListTenants", {}, { ...admin, "api-version": "2000-01-01" });
});

test("a used-up rate is rejected equally, with the time to wait", async (t) => {
  const limited = await startService({ "ratelimit.tenant_rps": "1", "ratelimit.burst_s": "1" });
  const key = { "x-api-key": limited.adminKey };
  // The clock is stopped, so that the bucket stays empty.
  const frozenMs = Date.now();
  t.mock.method(Date, "now", () => frozenMs);
  assert.equal((await fetch(`${limited.baseUrl}/api/v2/environments`, { headers: key })).status, 200);
  const { message } = await refusedAlike("RATE_LIMITED", "EnvironmentService/ListEnvironments", {}, key, open(limited));
  assert.match(message, /Try again in [12] s/);
});

test("a full instance and disabled features are rejected equally", async () => {
  const busy = await startService({ "api.max_concurrent_requests": "1", "dynamic_config.enabled": "false" });
  const key = { "x-api-key": busy.adminKey };
  const theirs = open(busy);
  await refusedAlike("FEATURE_DISABLED", "ConfigService/ListConfigValues", {}, key, theirs);
  const leave = new AbortController();
  const stream = await fetch(`${busy.baseUrl}/api/events/subscribe`, { headers: key, signal: leave.signal });
  assert.equal(stream.status, 200);
  await refusedAlike("UNAVAILABLE", "EnvironmentService/ListEnvironments", {}, key, theirs);
  leave.abort();
});

test("an internal error is masked equally", async () => {
  const broken = await startService();
  const sql = connect(broken.databaseUrl, 1);
  const theirs = open(broken);
  const key = { "x-api-key": broken.adminKey };
  await agreed("EnvironmentService/ListEnvironments", {}, key, theirs);
  await sql`drop table environments cascade`;
  await sql.end();
  const { message } = await refusedAlike("INTERNAL", "EnvironmentService/ListEnvironments", {}, key, theirs);
  assert.match(message, /^Internal error \(ref: [0-9a-f]{8}\)$/);
});

test("a list is paged with limit, cursor and offset in REST, and with page_size, page_token and skip elsewhere", async () => {
  const owner = await startService();
  const client = restClient(owner.baseUrl, owner.adminKey);
  for (let i = 0; i < 6; i++) await client.call("POST", "/api/v2/environments", { key: `page-${i}` });
  const { body: all } = await client.call("GET", "/api/v2/environments");
  const keys: string[] = all.data.map(({ key }: { key: string }) => key);
  const page = async (request: Json) =>
    (await client.call("POST", "/service.api.EnvironmentService/ListEnvironments", request)).body;
  const keysOf = (environments: { key: string }[]) => environments.map(({ key }) => key);

  const first = await page({ page_size: 4, skip: 1 });
  assert.deepEqual(keysOf(first.environments), keys.slice(1, 5));
  assert.equal(first.totalSize, keys.length);
  // A cursor continues after the last returned record, whatever is created in between.
  await client.call("POST", "/api/v2/environments", { key: "meanwhile" });
  const second = await page({ pageSize: 2, pageToken: first.nextPageToken });
  assert.deepEqual(keysOf(second.environments), keys.slice(5, 7));
  const inRest = await client.call("GET", `/api/v2/environments?limit=2&cursor=${second.nextPageToken}`);
  assert.deepEqual(keysOf(inRest.body.data), keys.slice(7, 9), "a page token is a cursor");
  const last = await page({ page_size: 1000, page_token: inRest.body.next_cursor });
  assert.deepEqual(keysOf(last.environments), ["meanwhile"], "a cursor is a page token");
  assert.equal(last.nextPageToken, "");

  const refused = await client.call("POST", "/service.api.EnvironmentService/ListEnvironments", { limit: 5 });
  assert.equal(refused.status, 400, "Connect has its own names");
});

test("records deleted while a list is paged neither hide nor repeat others", async () => {
  const owner = await startService();
  const client = restClient(owner.baseUrl, owner.adminKey);
  const made: string[] = [];
  for (let i = 0; i < 6; i++)
    made.push((await client.call("POST", "/api/v2/environments", { key: `gone-${i}` })).body.data.id);
  const first = await client.call("GET", "/api/v2/environments?limit=5");
  await client.call("DELETE", `/api/v2/environments/${made[0]}`);
  await client.call("DELETE", `/api/v2/environments/${made[2]}`);
  const rest_ = await client.call("GET", `/api/v2/environments?limit=5&cursor=${first.body.next_cursor}`);
  assert.deepEqual(
    rest_.body.data.map(({ key }: { key: string }) => key),
    ["gone-3", "gone-4", "gone-5"],
  );
});
