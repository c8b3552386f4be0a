import assert from "node:assert/strict";
import { before, test } from "node:test";
import { parse } from "yaml";
import { operations } from "../harness/operations.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";

let service: TestService;
let rest: RestClient;
let other: RestClient;
before(async () => {
  service = await startService();
  rest = restClient(service.baseUrl, service.adminKey);
  const { body } = await rest.call("POST", "/api/tenants", { name: "other", issue_admin_key: true });
  other = restClient(service.baseUrl, body.data.admin_key);
  for (let i = 0; i < 5; i++) await rest.call("POST", "/api/v2/environments", { key: `list-${i}` });
});

const environments = "/api/v2/environments";
const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;

async function newEnvironment(key: string) {
  const { body } = await rest.call("POST", environments, { key });
  return body.data;
}

test("one record is in data, next to metadata, with the names, enums, times and defaults of the definition", async () => {
  const { status, headers, body } = await rest.call("POST", environments, { key: "envelope" });
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "application/json");
  assert.deepEqual(Object.keys(body), ["data", "metadata"]);
  const { id, tenant_id, created_at, updated_at, ...rest_ } = body.data;
  assert.match(id, ulid);
  assert.match(tenant_id, ulid);
  assert.match(created_at, time);
  assert.match(updated_at, time);
  assert.deepEqual(rest_, {
    key: "envelope",
    name: "envelope",
    mode: "MODE_SANDBOX",
    status: "STATUS_ACTIVE",
    record_version: 1,
    promotion_policy: { approvals: 1, exclude_authors: false },
  });
  assert.deepEqual(body.metadata, { request_id: headers.get("x-request-id"), api_version: "2024-01-01" });
});

test("a new tenant, key or webhook endpoint is in data, with its secret only in this response", async () => {
  const tenant = await rest.call("POST", "/api/tenants", { name: "once", issue_admin_key: true });
  const key = await rest.call("POST", "/api/v2/api-keys", { name: "once" });
  const endpoint = await rest.call("POST", "/api/v2/webhooks/endpoints", { url: "https://hooks.example.com/a" });
  for (const [{ body }, secret, path] of [
    [tenant, "admin_key", "/api/tenants"],
    [key, "secret", "/api/v2/api-keys"],
    [endpoint, "secret", "/api/v2/webhooks/endpoints"],
  ] as const) {
    assert.match(body.data.id, ulid);
    const { [secret]: shown, ...record } = body.data;
    assert.equal(typeof shown, "string");
    assert.deepEqual((await rest.call("GET", `${path}/${body.data.id}`)).body.data, record);
  }
  const without = await rest.call("POST", "/api/tenants", { name: "without a key" });
  assert.equal("admin_key" in without.body.data, false);
});

test("a list has data, next_cursor, total, total_capped, limit, offset, has_more and metadata, and nothing else", async () => {
  const { body } = await rest.call("GET", environments);
  assert.deepEqual(Object.keys(body), [
    "data",
    "next_cursor",
    "total",
    "total_capped",
    "limit",
    "offset",
    "has_more",
    "metadata",
  ]);
  assert.equal(body.total, body.data.length);
  assert.equal(body.next_cursor, "");
  assert.equal(body.has_more, false);
  assert.equal(body.limit, 50);
  assert.equal(body.offset, 0);
});

test("a limit that is not positive is 50, one above 1000 is 1000, a negative offset is 0", async () => {
  const shape = async (query: string) => {
    const { body } = await rest.call("GET", `${environments}?${query}`);
    return [body.limit, body.offset];
  };
  assert.deepEqual(await shape("limit=0"), [50, 0]);
  assert.deepEqual(await shape("limit=-7&offset=-7"), [50, 0]);
  assert.deepEqual(await shape("limit=1000"), [1000, 0]);
  assert.deepEqual(await shape("limit=5000&offset=2"), [1000, 2]);
});

test("pages by cursor, and pages by offset, show every record once and in the same order", async () => {
  const { body: all } = await rest.call("GET", environments);
  const ids = all.data.map(({ id }: { id: string }) => id);
  const byCursor: string[] = [];
  let cursor = "";
  do {
    const { body } = await rest.call("GET", `${environments}?limit=2&cursor=${cursor}`);
    byCursor.push(...body.data.map(({ id }: { id: string }) => id));
    assert.equal(body.total, all.total);
    assert.equal(body.has_more, body.next_cursor !== "");
    cursor = body.next_cursor;
  } while (cursor !== "");
  assert.deepEqual(byCursor, ids);
  const byOffset: string[] = [];
  for (let offset = 0; offset < ids.length; offset += 3) {
    const { body } = await rest.call("GET", `${environments}?limit=3&offset=${offset}`);
    assert.equal(body.offset, offset);
    byOffset.push(...body.data.map(({ id }: { id: string }) => id));
  }
  assert.deepEqual(byOffset, ids);
});

test("a cursor is valid only for its own list, filter and tenant, and is rejected under its REST name", async () => {
  const { body } = await rest.call("GET", "/api/v2/api-keys?limit=1&status=STATUS_ACTIVE");
  const cursor = body.next_cursor;
  assert.notEqual(cursor, "");
  assert.equal((await rest.call("GET", `/api/v2/api-keys?limit=1&status=STATUS_ACTIVE&cursor=${cursor}`)).status, 200);
  const refused = [
    await rest.call("GET", `/api/v2/api-keys?cursor=${cursor}`),
    await rest.call("GET", `/api/v2/api-keys?status=STATUS_REVOKED&cursor=${cursor}`),
    await rest.call("GET", `${environments}?cursor=${cursor}`),
    await other.call("GET", `/api/v2/api-keys?status=STATUS_ACTIVE&cursor=${cursor}`),
    await rest.call("GET", `/api/v2/api-keys?status=STATUS_ACTIVE&cursor=${cursor.slice(0, -1)}`),
  ];
  for (const { status, body: problem } of refused) {
    assert.equal(status, 400);
    assert.equal(problem.errorCode, "INVALID_ARGUMENT");
    assert.equal(problem.violations[0].field, "cursor");
    assert.match(problem.detail, /^cursor: /);
  }
});

test("errors of limit and offset use these names", async () => {
  const { body } = await rest.call("GET", `${environments}?limit=many&offset=1.5`);
  assert.deepEqual(
    body.violations.map(({ field }: { field: string }) => field),
    ["limit", "offset"],
  );
});

test("PATCH changes the fields that are present and no others", async () => {
  const { body } = await rest.call("POST", "/api/tenants", { name: "patched", plan: "gold", settings: { a: 1 } });
  const path = `/api/tenants/${body.data.id}`;
  const renamed = await rest.call("PATCH", path, { name: "renamed" });
  assert.equal(renamed.body.data.name, "renamed");
  assert.equal(renamed.body.data.plan, "gold");
  assert.deepEqual(renamed.body.data.settings, { a: 1 });
  const emptied = await rest.call("PATCH", path, { plan: "", settings: {} });
  assert.equal(emptied.body.data.name, "renamed");
  assert.equal(emptied.body.data.plan, "");
  assert.deepEqual(emptied.body.data.settings, {});
});

test("an ETag identifies the representation, and If-None-Match avoids reading it again", async () => {
  const { id } = await newEnvironment("etag");
  const path = `${environments}/${id}`;
  const etag = (await rest.call("GET", path)).headers.get("etag")!;
  for (const known of [etag, `W/${etag}`, `"7", ${etag}`, "*"]) {
    for (const verb of ["GET", "HEAD"]) {
      const again = await rest.call(verb, path, undefined, { "if-none-match": known });
      assert.equal(again.status, 304, `${verb} ${known}`);
      assert.equal(again.text, "");
      assert.equal(again.headers.get("etag"), etag);
    }
  }
  assert.equal((await rest.call("GET", path, undefined, { "if-none-match": '"1"' })).status, 200);
});

test("If-Match and record_version make an update conditional; a stale one gets the current version", async () => {
  const { id } = await newEnvironment("versions");
  const path = `${environments}/${id}`;
  const first = await rest.call("PATCH", path, { name: "one" }, { "if-match": '"1"' });
  assert.match(first.headers.get("etag")!, /^"2-/);
  assert.equal((await rest.call("PATCH", path, { name: "two", record_version: "2" })).status, 200);
  const stale = [
    await rest.call("PATCH", path, { name: "x" }, { "if-match": '"2"' }),
    await rest.call("PATCH", path, { name: "x", record_version: 2 }),
    await rest.call("PATCH", path, { name: "x", record_version: "9223372036854775807" }),
  ];
  for (const { status, body } of stale) {
    assert.equal(status, 409);
    assert.equal(body.errorCode, "VERSION_CONFLICT");
    assert.equal(body.retryable, false);
    assert.equal(body.current_record_version, 3);
  }
  const contradiction = await rest.call("PATCH", path, { name: "x", record_version: 3 }, { "if-match": '"2"' });
  assert.equal(contradiction.body.errorCode, "INVALID_ARGUMENT");
  assert.equal((await rest.call("PATCH", path, { name: "x" }, { "if-match": "nonsense" })).status, 400);
  assert.equal((await rest.call("PATCH", path, { name: "any" }, { "if-match": "*" })).status, 200);
  assert.equal((await rest.call("GET", path)).body.data.name, "any");
});

test("of many conditional updates from one version exactly one wins", async () => {
  const { id } = await newEnvironment("race");
  const tries = Array.from({ length: 8 }, (_, i) =>
    rest.call("PATCH", `${environments}/${id}`, { name: `n${i}` }, { "if-match": '"1"' }),
  );
  const statuses = (await Promise.all(tries)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, ...Array(7).fill(409)]);
});

test("HEAD responds like GET, without the body", async () => {
  const got = await rest.call("GET", environments, undefined, { "x-request-id": "same" });
  const head = await rest.call("HEAD", environments, undefined, { "x-request-id": "same" });
  assert.equal(head.status, 200);
  assert.equal(head.text, "");
  assert.equal(head.headers.get("content-length"), String(Buffer.byteLength(got.text)));
  assert.equal((await rest.call("HEAD", "/api/nowhere")).status, 404);
  const stream = await rest.call("HEAD", "/api/events/subscribe");
  assert.equal(stream.headers.get("content-type"), "text/event-stream");
});

test("an unsupported verb is 405 with the supported ones", async () => {
  const { status, headers, body } = await rest.call("PUT", environments, {});
  assert.equal(status, 405);
  assert.equal(headers.get("allow"), "GET, POST");
  assert.equal(body.errorCode, "METHOD_NOT_ALLOWED");
  assert.equal((await rest.call("OPTIONS", `${environments}/x`)).headers.get("allow"), "DELETE, GET, PATCH");
});

test("an unknown path is a 404 problem", async () => {
  for (const path of [
    "/api",
    "/api/nowhere",
    "/api/tenants/",
    "/api//tenants",
    "/api/v2/api-keys:nothing",
    "/API/tenants",
  ]) {
    const { status, headers, body } = await rest.call("GET", path);
    assert.equal(status, 404, path);
    assert.equal(headers.get("content-type"), "application/problem+json");
    assert.equal(body.type, `${service.baseUrl}/errors/ROUTE_NOT_FOUND`);
    assert.equal(body.title, "No such operation");
    assert.equal(body.status, 404);
  }
  assert.equal((await rest.call("POST", `${environments}/x:nothing`, {})).body.errorCode, "ROUTE_NOT_FOUND");
});

test("Api-Version: a missing or later one gets the current version, older and malformed ones are rejected", async () => {
  const ask = async (version?: string) =>
    rest.call("GET", environments, undefined, version === undefined ? {} : { "api-version": version });
  for (const version of [undefined, "2024-01-01", "2031-05-05"]) {
    const { status, headers, body } = await ask(version);
    assert.equal(status, 200);
    assert.equal(headers.get("api-version"), "2024-01-01");
    assert.equal(body.metadata.api_version, "2024-01-01");
  }
  for (const version of ["2023-12-31", "2024-1-1", "2024-13-01", "2024-02-30", "latest", ""]) {
    const { status, headers, body } = await ask(version);
    assert.equal(status, 400, version);
    assert.equal(body.errorCode, "INVALID_ARGUMENT");
    assert.equal(body.violations[0].field, "Api-Version");
    assert.equal(headers.get("api-version"), null, "only a success echoes a version");
  }
});

test("every deprecated operation says so; its sunset date only when the operator has set it", async () => {
  const deprecated = operations.filter(({ governance }) => governance.deprecation !== undefined);
  assert.ok(deprecated.length > 0);
  const [first] = deprecated;
  assert.equal(first!.bindings[0]!.path, "/api/members");
  const { headers } = await rest.call("GET", "/api/members");
  assert.equal(headers.get("deprecation"), "true");
  assert.equal(headers.get("sunset"), null);
  assert.equal(headers.get("link"), '</api/v2/members>; rel="successor-version"');
  const successor = await rest.call("GET", "/api/v2/members");
  assert.equal(successor.headers.get("deprecation"), null);
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();
  assert.match(metrics, /deprecated_calls_total\{operation="service\.api\.MemberService\/ListTenantMembers"\} [1-9]/);
});

test("a caller's request id is returned in header and metadata; an invalid one is replaced", async () => {
  const good = await rest.call("GET", environments, undefined, { "x-request-id": "trace:42.a_b-c" });
  assert.equal(good.headers.get("x-request-id"), "trace:42.a_b-c");
  assert.equal(good.body.metadata.request_id, "trace:42.a_b-c");
  for (const unusable of ["", "a b", "x".repeat(129), '"><script>']) {
    const { headers } = await rest.call("GET", environments, undefined, { "x-request-id": unusable });
    assert.match(headers.get("x-request-id")!, /^[0-9a-f-]{36}$/);
  }
});

test("a body is accepted with any JSON content type, and with no other", async () => {
  const { id } = await newEnvironment("types");
  const ask = (type: string) => rest.call("PATCH", `${environments}/${id}`, '{"name":"n"}', { "content-type": type });
  for (const type of [
    "application/json",
    "application/json; charset=utf-8",
    "application/merge-patch+json",
    "Application/JSON",
  ]) {
    assert.equal((await ask(type)).status, 200, type);
  }
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/yaml"]) {
    const { status, body } = await ask(type);
    assert.equal(status, 415, type);
    assert.equal(body.errorCode, "UNSUPPORTED_MEDIA_TYPE");
  }
  assert.equal(
    (await rest.call("POST", `/api/v2/api-keys/${id}/revoke`)).status,
    404,
    "no body at all is an empty one",
  );
});

test("query parameters: repeated, enums, times and booleans are parsed; invalid and unknown ones are rejected by name", async () => {
  for (const type of ["query.first", "query.second", "query.third"]) await rest.call("POST", "/api/events", { type });
  const listed = async (query: string) => {
    const { status, body } = await rest.call("GET", `/api/events?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data.map(({ type }: { type: string }) => type);
  };
  assert.deepEqual(await listed("types=query.first&types=query.third"), ["query.third", "query.first"]);
  assert.deepEqual(await listed("types=query.*&limit=1"), ["query.third"]);
  assert.deepEqual(await listed("types=query.*&since=2999-01-01T00:00:00Z"), []);
  assert.equal((await listed("types=query.*&until=2999-01-01T00:00:00%2B02:00")).length, 3);
  const active = await rest.call("GET", "/api/v2/api-keys?status=STATUS_REVOKED");
  assert.equal(active.body.total, 0);
  const more = await rest.call("GET", "/api/v2/capabilities?include_disabled=true&modes=disabled&modes=unwired");
  assert.deepEqual([...new Set(more.body.data.map(({ mode }: { mode: string }) => mode))], ["disabled"]);

  const refused: Record<string, string> = {
    "/api/v2/api-keys?status=ACTIVE": "status",
    "/api/v2/api-keys?status=9": "status",
    "/api/v2/api-keys?status=STATUS_ACTIVE&status=STATUS_REVOKED": "status",
    "/api/events?since=yesterday": "since",
    "/api/events?types=Not%20a%20type": "types[0]",
    "/api/v2/capabilities?include_disabled=1": "include_disabled",
    "/api/v2/capabilities?modes=sleeping": "modes[0]",
    "/api/tenants?tenant_id=x": "tenant_id",
    "/api/tenants?Limit=5": "Limit",
    "/api/tenants?limit=1&limit=2": "limit",
  };
  for (const [path, field] of Object.entries(refused)) {
    const { status, body } = await rest.call("GET", path);
    assert.equal(status, 400, path);
    assert.equal(body.violations[0].field, field, path);
  }
  const inBody = await rest.call("POST", `${environments}?key=x`, { key: "x" });
  assert.equal(inBody.body.violations[0].field, "key", "body fields are not read from the query");
});

test("a path variable and the same field of the body must agree", async () => {
  const { id } = await newEnvironment("paths");
  const path = `${environments}/${id}`;
  assert.equal((await rest.call("PATCH", path, { environment_id: id, name: "same" })).status, 200);
  const { body } = await rest.call("PATCH", path, { environment_id: "another", name: "x" });
  assert.equal(body.violations[0].field, "environment_id");
});

test("the extremes of time are stored unchanged", async () => {
  for (const [sent, kept] of [
    ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"],
    ["9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999Z"],
  ]) {
    const { body } = await rest.call("POST", "/api/events", { type: "time.extreme", time: sent });
    assert.equal(body.data.time, kept);
    assert.equal((await rest.call("GET", `/api/events/${body.data.id}`)).body.data.time, kept);
  }
});

test("the configuration is exported as plain YAML, without an envelope", async () => {
  await rest.call("PUT", "/api/config/values/events.retention_days", { value: 77 });
  const { status, headers, text } = await rest.call("GET", "/api/config/export");
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "application/yaml");
  const exported = parse(text);
  assert.equal(exported.events.retention_days, 77);
  assert.equal(exported.idempotency.required, false);
});
