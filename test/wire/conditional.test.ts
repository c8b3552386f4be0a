import assert from "node:assert/strict";
import { before, test } from "node:test";
import { connect } from "../harness/postgres-server.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";

let service: TestService;
let rest: RestClient;
before(async () => {
  service = await startService();
  rest = restClient(service.baseUrl, service.adminKey);
});

let serial = 0;
async function made(path: string, fields: object = {}): Promise<{ id: string; record_version: number }> {
  const { status, body, text } = await rest.call("POST", path, { name: `conditional ${serial++}`, ...fields });
  assert.equal(status, 200, text);
  return body.data;
}

async function etagOf(path: string): Promise<string> {
  const { headers } = await rest.call("GET", path);
  return headers.get("etag")!;
}

async function statusSince(path: string, etag: string): Promise<number> {
  return (await rest.call("GET", path, undefined, { "if-none-match": etag })).status;
}

test("a pool with a new recipient or rule does not return 304, though its version is unchanged", async () => {
  const pool = await made("/api/pools");
  const path = `/api/pools/${pool.id}`;
  let seen = await etagOf(path);
  assert.equal(await statusSince(path, seen), 304);

  await made(`${path}/recipients`);
  assert.equal(await statusSince(path, seen), 200);
  seen = await etagOf(path);
  assert.equal(await statusSince(path, seen), 304);

  await made(`${path}/rules`, { action: { type: "require" } });
  assert.equal(await statusSince(path, seen), 200);
  assert.equal((await rest.call("GET", path)).body.data.record_version, pool.record_version);
});

test("a recipient with newly assigned work does not return 304", async () => {
  const pool = await made("/api/pools", { strategy: "round_robin" });
  const recipient = await made(`/api/pools/${pool.id}/recipients`);
  const path = `/api/recipients/${recipient.id}`;
  const seen = await etagOf(path);
  const routed = await rest.call("POST", "/api/route", { pool_id: pool.id, type: "call" });
  assert.equal(routed.status, 200, routed.text);
  const leased = await rest.call("POST", `/api/queues/${pool.id}/lease`, { max_items: 1, wait_s: 5 });
  assert.equal(leased.body.data.items.length, 1, leased.text);
  const again = await rest.call("GET", path, undefined, { "if-none-match": seen });
  assert.equal(again.status, 200);
  assert.equal(again.body.data.in_flight, 1);
});

test("an ETag starts with the record's version, and If-Match compares only that part", async () => {
  const pool = await made("/api/pools");
  const path = `/api/pools/${pool.id}`;
  const seen = await etagOf(path);
  assert.match(seen, /^"1-[A-Za-z0-9_-]{16,}"$/);

  // A recipient changes the pool's representation, but not the fields that an update replaces.
  await made(`${path}/recipients`);
  const renamed = await rest.call("PATCH", path, { description: "a" }, { "if-match": seen });
  assert.equal(renamed.status, 200, renamed.text);
  assert.match(renamed.headers.get("etag")!, /^"2-/);
  assert.equal(renamed.headers.get("etag"), await etagOf(path));

  assert.equal((await rest.call("PATCH", path, { description: "b" }, { "if-match": seen })).status, 409);
  assert.equal((await rest.call("PATCH", path, { description: "b" }, { "if-match": '"2"' })).status, 200);
  const unquoted = await rest.call("PATCH", path, { description: "c" }, { "if-match": "3" });
  assert.equal(unquoted.status, 400);
  assert.match(unquoted.body.detail, /record_version in quotes \(for example: "3"\)/);
});

test("PUT with If-None-Match: * creates a missing record, and returns 412 without effect for an existing one", async () => {
  const content = { name: "First", channels: {} };
  const cases = [
    { path: "/api/config/values/events.retention_days", first: { value: 20 }, second: { value: 21 } },
    { path: "/api/v2/notification/workflows/put.once", first: content, second: { ...content, name: "Second" } },
  ];
  for (const { path, first, second } of cases) {
    const created = await rest.call("PUT", path, first, { "if-none-match": "*" });
    assert.equal(created.status, 200, created.text);
    const before = await rest.call("GET", path);
    const refused = await rest.call("PUT", path, second, { "if-none-match": "*" });
    assert.equal(refused.status, 412, refused.text);
    assert.equal(refused.body.errorCode, "FAILED_PRECONDITION");
    assert.deepEqual((await rest.call("GET", path)).body.data, before.body.data);
    assert.equal((await rest.call("PUT", path, second)).status, 200);
  }

  // When PUT only replaces, an existing record is 412 and a missing one is 404.
  const subscriber = await rest.call("POST", "/api/v2/notification/subscribers", { external_id: "put-once" });
  const at = (id: string) => `/api/v2/notification/subscribers/${id}`;
  const replace = (id: string) => rest.call("PUT", at(id), { first_name: "Ada" }, { "if-none-match": "*" });
  assert.equal((await replace(subscriber.body.data.id)).status, 412);
  assert.equal((await replace("01HWS6KRG00000000000000000")).status, 404);
});

test("a condition that an operation cannot check is rejected, without effect", async () => {
  const pool = await made("/api/pools");
  const path = `/api/pools/${pool.id}`;
  const cases = [
    await rest.call("PATCH", path, { description: "x" }, { "if-none-match": "*" }),
    await rest.call("POST", "/api/pools", { name: "never" }, { "if-none-match": "*" }),
    await rest.call("PUT", "/api/config/values/events.retention_days", { value: 9 }, { "if-none-match": '"1"' }),
    await rest.call("DELETE", path, undefined, { "if-none-match": "*" }),
  ];
  for (const { status, body } of cases) {
    assert.equal(status, 400);
    assert.equal(body.violations[0].field, "If-None-Match");
  }
  const sql = connect(service.databaseUrl, 1);
  const [row] = await sql`select count(*)::int as pools from pools where name = 'never'`;
  await sql.end();
  assert.equal(row!.pools, 0);
  assert.equal((await rest.call("GET", path)).body.data.description, "");
});
