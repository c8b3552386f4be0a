import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { before, test } from "node:test";
import { catalogue } from "../../src/errors/index.ts";
import { startNodeProcess } from "../harness/node-process.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { connect } from "../harness/postgres-server.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";
import { callOperation, type Protocol } from "../harness/wire.ts";
import { createMatrixFixture, type MatrixFixture, operations, protocols } from "../matrix/fixture.ts";

let fixture: MatrixFixture;
let service: TestService;
before(async () => {
  fixture = await createMatrixFixture({ "api.sunset_dates": "service.api.MemberService/ListTenantMembers=2027-01-31" });
  service = fixture.service;
});

const brokenBody = '{"name": ';
const invalidBody = { name: "" };

/** Posts a body to an operation over both protocols; returns the codes. */
async function codes(body: unknown, headers: Record<string, string>, baseUrl = service.baseUrl): Promise<string[]> {
  const rest = await restClient(baseUrl).call("POST", "/api/tenants", body, headers);
  const connect = await restClient(baseUrl).call("POST", "/service.api.TenantService/CreateTenant", body, headers);
  assert.ok(rest.headers.get("x-request-id"), "REST names the request");
  assert.equal(rest.body.request_id, rest.headers.get("x-request-id"));
  assert.ok(connect.headers.get("x-request-id"), "Connect names the request");
  return [rest.body.errorCode, connect.body.details[0].debug.reason];
}

const twice = (code: string) => [code, code];

test("without credentials a malformed body is never read", async () => {
  assert.deepEqual(await codes(brokenBody, {}), twice("UNAUTHENTICATED"));
});

test("a forbidden caller's invalid message is never validated", async () => {
  const { nobody } = fixture.platform;
  assert.deepEqual(await codes(invalidBody, { ...nobody.headers }), twice("PERMISSION_DENIED"));
  assert.deepEqual(await codes(brokenBody, { ...nobody.headers }), twice("PERMISSION_DENIED"));
});

test("nor is a malformed path or query, or an oversized body", async () => {
  const rest = restClient(service.baseUrl);
  for (const path of ["/api/tenants/%ff", "/api/tenants?limit=%zz", "/api/tenants?no_such_field=1"]) {
    assert.equal((await rest.call("GET", path)).body.errorCode, "UNAUTHENTICATED", path);
  }
});

test("a tenant other than the caller's own is rejected before the message is validated", async () => {
  const headers = { ...fixture.platform.admin.headers, "x-tenant-id": fixture.own.tenantId };
  const rest = restClient(service.baseUrl);
  const asked = await rest.call("POST", "/api/v2/environments", brokenBody, headers);
  assert.equal(asked.body.errorCode, "TENANT_MISMATCH");
  assert.equal(asked.status, 403);
  // A caller without permission is told that first.
  const forbidden = { ...fixture.platform.nobody.headers, "x-tenant-id": fixture.own.tenantId };
  assert.equal(
    (await rest.call("POST", "/api/v2/environments", brokenBody, forbidden)).body.errorCode,
    "PERMISSION_DENIED",
  );
  // Tenant creation is exempt; its message is validated.
  assert.deepEqual(await codes(invalidBody, headers), twice("INVALID_ARGUMENT"));
});

test("X-Tenant-ID that names the caller's own tenant changes nothing", async () => {
  const headers = { ...fixture.own.admin.headers, "x-tenant-id": fixture.own.tenantId };
  const response = await restClient(service.baseUrl).call("GET", "/api/v2/environments", undefined, headers);
  assert.equal(response.status, 200);
});

test("an unsupported version is rejected before authentication", async () => {
  for (const version of ["2023-12-31", "yesterday"]) {
    assert.deepEqual(await codes(brokenBody, { "api-version": version }), twice("INVALID_ARGUMENT"));
  }
});

test("a request id is echoed on every rejection, also for requests that match no operation", async () => {
  const rest = restClient(service.baseUrl);
  const id = { "x-request-id": "caller-1" };
  const responses = [
    await rest.call("GET", "/api/tenants", undefined, id),
    await rest.call("GET", "/api/tenants", undefined, { ...id, "api-version": "2000-01-01" }),
    await rest.call("GET", "/api/tenants", undefined, { ...id, ...fixture.platform.nobody.headers }),
    await rest.call("GET", "/api/tenants?no=1", undefined, { ...id, ...fixture.platform.admin.headers }),
    await rest.call("GET", "/api/nowhere", undefined, id),
    await rest.call("PATCH", "/api/tenants", undefined, id),
    await rest.call("POST", "/service.api.TenantService/Nothing", {}, id),
    await rest.call("PUT", "/service.api.TenantService/ListTenants", {}, id),
    await rest.call("POST", "/service.api.TenantService/ListTenants", "x", { ...id, "content-type": "text/plain" }),
  ];
  assert.deepEqual(
    responses.map(({ status }) => status),
    [401, 400, 403, 400, 404, 405, 404, 405, 415],
  );
  for (const { headers, body } of responses) {
    assert.equal(headers.get("x-request-id"), "caller-1");
    assert.equal(body.request_id ?? body.details[0].debug.metadata.request_id, "caller-1");
  }
  const unusable = await rest.call("GET", "/api/tenants", undefined, { "x-request-id": "no spaces, please" });
  assert.match(unusable.headers.get("x-request-id")!, /^[0-9a-f-]{36}$/);
});

test("an invalid message still gets the deprecation header; an unauthenticated caller does not", async () => {
  const rest = restClient(service.baseUrl);
  const invalid = await rest.call("GET", "/api/members?limit=many", undefined, { ...fixture.own.admin.headers });
  assert.equal(invalid.status, 400);
  assert.equal(invalid.headers.get("deprecation"), "true");
  assert.equal(invalid.headers.get("sunset"), "Sun, 31 Jan 2027 00:00:00 GMT");
  const unknown = await rest.call("GET", "/api/members?limit=many");
  assert.equal(unknown.headers.get("deprecation"), null);
});

test("an invalid message takes no token, and a valid one takes it before the operation runs", async (t) => {
  const nowMs = Date.now();
  t.mock.method(Date, "now", () => nowMs);
  const limited = await startService({ "ratelimit.tenant_rps": "5", "ratelimit.burst_s": "1" });
  const rest = restClient(limited.baseUrl, limited.adminKey);
  for (let i = 0; i < 20; i++) {
    const response = await rest.call("POST", "/api/v2/environments", { key: "not a key" });
    assert.equal(response.body.errorCode, "INVALID_ARGUMENT");
    assert.equal(response.headers.get("x-ratelimit-remaining"), null);
  }
  // The bucket is still full, and the first call takes all of it.
  const first = await rest.call("POST", "/api/v2/environments", { key: "first" });
  assert.equal(first.status, 200);
  assert.equal(first.headers.get("x-ratelimit-remaining"), "0");
  const second = await rest.call("POST", "/api/v2/environments", { key: "second" });
  assert.equal(second.body.errorCode, "RATE_LIMITED");
  const sql = connect(limited.databaseUrl, 1);
  const [row] = await sql`select count(*)::int as count from environments where key = 'second'`;
  await sql.end();
  assert.equal(row!.count, 0);
});

test("a call beyond the concurrency limit is rejected before its message is validated", async () => {
  const busy = await startService({ "api.max_concurrent_requests": "1" });
  const { headers } = { headers: { "x-api-key": busy.adminKey } };
  const leave = new AbortController();
  const stream = await fetch(`${busy.baseUrl}/api/events/subscribe`, { headers, signal: leave.signal });
  assert.equal(stream.status, 200);
  assert.deepEqual(await codes(brokenBody, headers, busy.baseUrl), twice("UNAVAILABLE"));
  const refused = await restClient(busy.baseUrl, busy.adminKey).call("GET", "/api/tenants?no_such_field=1");
  assert.equal(refused.body.errorCode, "UNAVAILABLE");
  assert.equal(refused.headers.get("retry-after"), "1");
  leave.abort();
});

test("a message is validated before the rate limit, also when the bucket is empty", async (t) => {
  const nowMs = Date.now();
  t.mock.method(Date, "now", () => nowMs);
  const limited = await startService({ "ratelimit.tenant_rps": "5", "ratelimit.burst_s": "1" });
  const headers = { "x-api-key": limited.adminKey };
  assert.deepEqual(await codes(brokenBody, headers, limited.baseUrl), twice("INVALID_ARGUMENT"));
  const rest = restClient(limited.baseUrl, limited.adminKey);
  assert.equal((await rest.call("POST", "/api/v2/environments", { key: "takes-all" })).status, 200);
  assert.equal((await rest.call("POST", "/api/v2/environments", { key: "refused" })).status, 429);
  assert.deepEqual(await codes(brokenBody, headers, limited.baseUrl), twice("INVALID_ARGUMENT"));
  assert.equal((await rest.call("GET", "/api/pools?no_such_field=1")).body.errorCode, "INVALID_ARGUMENT");
  const again = await rest.call("POST", "/api/v2/environments", { key: "refused" });
  assert.equal(again.body.errorCode, "RATE_LIMITED");
  assert.equal(again.headers.get("x-ratelimit-remaining"), "0");
  assert.equal(again.headers.get("retry-after"), "1");
});

test("an internal error shows only a reference, and its cause is in the log with that reference", async (t) => {
  const database = await freshDatabase();
  t.after(() => database.drop());
  const key = "sk_test_admin_0123456789abcdef";
  const node = await startNodeProcess({
    "database.url": database.url,
    "auth.bootstrap_api_key": key,
    "connector.encryption_key": randomBytes(32).toString("base64"),
  });
  t.after(() => node.kill());
  const created = await restClient(node.baseUrl, key).call("POST", "/api/v2/api-keys", { name: "before" });
  assert.equal(created.status, 200);
  await database.sql.unsafe("drop table environments cascade; drop table secrets cascade");

  const list = operations.find(({ id }) => id === "service.api.EnvironmentService/ListEnvironments")!;
  const keep = operations.find(({ id }) => id === "service.api.SecretService/CreateSecret")!;
  const caller = { baseUrl: node.baseUrl, headers: { "x-api-key": key } };
  for (const operation of [list, keep]) {
    for (const protocol of protocols) {
      const message = operation === keep ? { name: "token", value: "a value nobody may read" } : {};
      const outcome = await callOperation(protocol, operation, caller, message);
      assert.equal(outcome.code, "INTERNAL");
      assert.equal(outcome.status, catalogue.INTERNAL.http);
      assert.equal(outcome.retryable, false);
      const told: string = outcome.body.detail ?? outcome.body.message;
      const ref = /^Internal error \(ref: ([0-9a-f]{8})\)$/.exec(told)?.[1];
      assert.ok(ref, told);
      assert.doesNotMatch(outcome.text, /relation|environments|secrets|select|insert|postgres|\.m?[jt]s/i);

      const logged = new RegExp(`^.*"ref":"${ref}".*\n`, "m");
      const line = JSON.parse((await until(() => logged.exec(node.output())?.[0]))!);
      assert.equal(line.level, "error");
      assert.equal(line.operation, operation.id);
      assert.equal(line.request_id, outcome.requestId);
      assert.match(line.err.message, /relation ".*" does not exist/);
      assert.ok(!node.output().includes("a value nobody may read"), "no secret is logged");
    }
  }
});

test("every operation follows this order", async () => {
  const { own } = fixture;
  for (const operation of operations) {
    const { baseUrl } = operation.governance.internalOnly ? own.service : own.admin;
    // Every call is rejected before it reaches a record.
    const inPath = [...operation.bindings[0]!.path.matchAll(/\{([a-z_.]+)\}/g)].map(([, name]) => [name, "x"]);
    const request = { ...Object.fromEntries(inPath), no_such_field: "1" };
    const { authenticationRequired, internalOnly } = operation.governance;
    const assertOrder = async (protocol: Protocol) => {
      const ask = (headers: Record<string, string>) =>
        callOperation(protocol, operation, { baseUrl, headers }, request).then(({ code }) => code);
      assert.equal(await ask({ "api-version": "2000-01-01" }), "INVALID_ARGUMENT", operation.id);
      assert.equal(await ask({}), authenticationRequired ? "UNAUTHENTICATED" : "INVALID_ARGUMENT", operation.id);
      if (authenticationRequired && !internalOnly)
        assert.equal(await ask({ ...own.nobody.headers }), "PERMISSION_DENIED", operation.id);
    };
    await Promise.all(protocols.map(assertOrder));
  }
});
