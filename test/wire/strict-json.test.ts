import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";

let service: TestService;
let rest: RestClient;
before(async () => {
  service = await startService();
  rest = restClient(service.baseUrl, service.adminKey);
});

/** The only violation of a rejected request. */
async function violation(method: string, path: string, body?: object): Promise<{ field: string; message: string }> {
  const response = await rest.call(method, path, body);
  assert.equal(response.status, 400, response.text);
  assert.equal(response.body.violations.length, 1, response.text);
  return response.body.violations[0];
}

test("REST rejects a field in lowerCamelCase, and names the right spelling", async () => {
  const refused = await violation("POST", "/api/tenants", { name: "camel", issueAdminKey: true });
  assert.deepEqual([refused.field, refused.message], ["issueAdminKey", "is called issue_admin_key here"]);
  const nested = await violation("POST", "/api/pools", { name: "camel", config: { selection: { slowStartS: 3 } } });
  assert.deepEqual([nested.field, nested.message], ["config.selection.slowStartS", "is called slow_start_s here"]);
  const query = await violation("GET", "/api/decisions?poolId=x");
  assert.deepEqual([query.field, query.message], ["poolId", "is called pool_id here"]);
});

test("an unknown field is rejected with the nearest known field, or with all of a few", async () => {
  const body = await violation("POST", "/api/pools", { nmae: "typo", name: "typo" });
  assert.deepEqual([body.field, body.message], ["nmae", "is not a field here; did you mean name?"]);
  const nested = await violation("POST", "/api/pools", { name: "typo", config: { selection: { slow_starts: 3 } } });
  assert.equal(nested.message, "is not a field here; did you mean slow_start_s?");
  const query = await violation("GET", "/api/decisions?poolid=x");
  assert.deepEqual([query.field, query.message], ["poolid", "is not a query parameter here; did you mean pool_id?"]);
  const strange = await violation("POST", "/api/pools", { name: "typo", zzzzzzzzzz: 1 });
  assert.match(strange.message, /^is not a field here; known are name, description, strategy, /);
});

test("REST rejects the RPC names of list fields, and names its own", async () => {
  for (const [given, name] of [
    ["page_size", "limit"],
    ["page_token", "cursor"],
    ["skip", "offset"],
  ]) {
    const refused = await violation("GET", `/api/v2/environments?${given}=3`);
    assert.deepEqual([refused.field, refused.message], [given, `is not a query parameter here; use ${name}`]);
  }
});

test("REST rejects the numbers of enum values, and lists their names", async () => {
  const body = await violation("POST", "/api/v2/environments", { key: "numbered", mode: 1 });
  assert.equal(body.field, "mode");
  assert.match(body.message, /must be one of .*MODE_SANDBOX.*, not a number/);
  const query = await violation("GET", "/api/v2/api-keys?status=1");
  assert.match(query.message, /must be one of .*STATUS_ACTIVE/);
});

test("REST accepts numbers as JSON numbers; only a 64-bit integer may be a string of digits", async () => {
  const { body } = await rest.call("POST", "/api/pools", { name: "numbers" });
  const path = `/api/pools/${body.data.id}/recipients`;
  const capacity = await violation("POST", path, { name: "a", capacity: "3" });
  assert.deepEqual([capacity.field, capacity.message], ["capacity", "must be an integer, not a string"]);
  const weight = await violation("POST", path, { name: "a", cost: "1.5" });
  assert.deepEqual([weight.field, weight.message], ["cost", "must be a number, not a string"]);
  const unbounded = await violation("POST", path, { name: "a", cost: "Infinity" });
  assert.equal(unbounded.message, "must be a number, not a string");

  const pool = `/api/pools/${body.data.id}`;
  const current = (await rest.call("GET", pool)).body.data.record_version;
  assert.equal((await rest.call("PATCH", pool, { description: "d", record_version: String(current) })).status, 200);
});

test("REST rejects null for a field, and accepts it for fields of any JSON value", async () => {
  const refused = await violation("POST", "/api/tenants", { name: "nothing", plan: null });
  assert.deepEqual([refused.field, refused.message], ["plan", "must not be null; leave the field out instead"]);
  const free = await rest.call("POST", "/api/tenants", { name: "free", settings: { color: null } });
  assert.deepEqual(free.body.data.settings, { color: null });
});

test("Connect accepts everything that proto3 JSON allows", async () => {
  const headers = { "x-api-key": service.adminKey, "content-type": "application/json" };
  const body = JSON.stringify({ name: "lenient", issueAdminKey: false, plan: null });
  const created = await fetch(`${service.baseUrl}/service.api.TenantService/CreateTenant`, {
    method: "POST",
    headers,
    body,
  });
  assert.equal(created.status, 200, await created.text());
  const listed = await fetch(`${service.baseUrl}/service.api.ApiKeyService/ListApiKeys`, {
    method: "POST",
    headers,
    body: JSON.stringify({ status: 1, pageSize: "2" }),
  });
  assert.equal(listed.status, 200, await listed.text());
});

test("a limit or an offset out of range is clamped", async () => {
  const shape = async (query: string) => {
    const { status, body, text } = await rest.call("GET", `/api/v2/environments?${query}`);
    assert.equal(status, 200, text);
    return [body.limit, body.data.length > 0];
  };
  assert.deepEqual(await shape("limit=2147483648"), [1000, true]);
  assert.deepEqual(await shape(`limit=${"9".repeat(400)}`), [1000, true]);
  assert.deepEqual(await shape("limit=-99999999999&offset=-99999999999"), [50, true]);
  assert.deepEqual(await shape("offset=4294967296"), [50, false]);
  assert.deepEqual(await shape("offset=18446744073709551616"), [50, false]);
});
