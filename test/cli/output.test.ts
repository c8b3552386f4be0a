import assert from "node:assert/strict";
import test from "node:test";
import { cli } from "./cli-run.ts";
import { startStub } from "./stub-service.ts";

const stub = await startStub();
const at = ["--address", stub.address];
const tenant = {
  id: "01J00000000000000000000001",
  name: "Acme",
  slug: "acme",
  status: "STATUS_ACTIVE",
  plan: "",
  settings: { a: 1 },
  quotas: {},
  platform: false,
  created_at: "2027-01-01T00:00:00Z",
  updated_at: "2027-01-02T00:00:00Z",
  record_version: 3,
};
const page = { data: [tenant], next_cursor: "abc", total: 7, limit: 1, offset: 0, has_more: true, metadata: {} };

test("output to a program is the exact response", async () => {
  const text = '{"data": [ ],   "metadata":{}}';
  stub.answers({ text });
  assert.equal((await cli([...at, "tenant", "list"])).out, `${text}\n`);
  assert.equal((await cli([...at, "tenant", "list", "--json"], { terminal: true })).out, `${text}\n`);
});

test("output to a terminal is a table with the most useful columns, and how to get the next page", async () => {
  stub.answers({ json: page });
  const { out, err } = await cli([...at, "tenant", "list"], { terminal: true, columns: 120 });
  const [head, row] = out.split("\n");
  assert.match(head!, /^ID +NAME +STATUS +SLUG +PLATFORM +CREATED_AT$/);
  assert.match(row!, /^01J00000000000000000000001 +Acme +active +acme +false +2027-01-01T00:00:00Z$/);
  assert.match(err, /1 of 7\n.*--cursor abc/);
});

test("a table is never wider than the terminal: long texts are truncated, then the last columns are dropped", async () => {
  const named = { ...tenant, name: "A name of more than thirty letters, at least" };
  stub.answers({ json: { ...page, data: [named, tenant] } });
  for (const columns of [130, 100, 80, 60, 45]) {
    const { out } = await cli([...at, "tenant", "list"], { terminal: true, columns });
    for (const line of out.split("\n")) assert.ok(line.length <= columns, `${line.length} of ${columns}: ${line}`);
    assert.match(out, /^01J00000000000000000000001 {2}/m);
  }
  const shortened = await cli([...at, "tenant", "list"], { terminal: true, columns: 100 });
  assert.match(shortened.out, /^ID +NAME +STATUS +SLUG +PLATFORM +CREATED_AT$/m);
  assert.match(shortened.out, /A name of more.*… {2}active/);
  const fewer = await cli([...at, "tenant", "list"], { terminal: true, columns: 60 });
  assert.match(fewer.out, /^ID +NAME +STATUS +SLUG$/m);
});

test("--wide shows everything, regardless of the terminal's width", async () => {
  const named = { ...tenant, name: "A name of more than thirty letters, at least" };
  stub.answers({ json: { ...page, data: [named] } });
  const { out } = await cli([...at, "tenant", "list", "--wide"], { terminal: true, columns: 45 });
  assert.match(out, /^ID +NAME +STATUS +SLUG +PLATFORM +CREATED_AT$/m);
  assert.ok(out.includes(named.name));
});

test("when not even the ids fit, each record is printed separately", async () => {
  stub.answers({ json: { ...page, data: [tenant, tenant] } });
  const { out } = await cli([...at, "tenant", "list"], { terminal: true, columns: 20 });
  assert.equal(out.match(/^id +01J00000000000000000000001$/gm)?.length, 2);
  assert.match(out, /^status +active$/m);
});

test("a worker at a terminal sees the complete lease token and payload of each item", async () => {
  const item = {
    queue_item_id: "01J00000000000000000000002",
    pool_id: "01J00000000000000000000003",
    recipient_id: "",
    type: "lead",
    key: "customer-7",
    attributes: {},
    payload: { phone: "+49 30 1234" },
    priority: 0,
    attempt: 1,
    max_attempts: 5,
    lease_token: "b1946ac92492d2347c6235b4d2611184b1946ac92492d2347c6235b4d2611184",
    lease_expires_at: "2027-01-01T00:00:30Z",
    enqueued_at: "2027-01-01T00:00:00Z",
  };
  stub.answers({ json: { data: { items: [item, { ...item, queue_item_id: "second" }] }, metadata: {} } });
  const { out } = await cli([...at, "items", "lease", item.pool_id], { terminal: true, columns: 80 });
  assert.equal(out.split(item.lease_token).length, 3);
  assert.match(out, /^ +queue_item_id +01J00000000000000000000002$/m);
  assert.match(out, /^ +payload +\{"phone":"\+49 30 1234"\}$/m);
});

test("--field prints one field of the response, or of each record of a list", async () => {
  stub.answers({ json: { data: { tenant, admin_key: "sk_live_1_x" }, metadata: {} } });
  const create = [...at, "tenant", "create", "--name", "Acme"];
  assert.equal((await cli([...create, "--field", "admin_key"])).out, "sk_live_1_x\n");
  assert.equal((await cli([...create, "--field", "tenant.record_version"])).out, "3\n");
  assert.equal((await cli([...create, "--field", "tenant.settings"])).out, '{"a":1}\n');
  const missing = await cli([...create, "--field", "tenant.nmae"]);
  assert.equal(missing.exitCode, 1);
  assert.match(missing.err, /has no field tenant\.nmae.*id, name, slug/);
  stub.answers({ json: { ...page, data: [tenant, { ...tenant, id: "second" }] } });
  assert.equal((await cli([...at, "tenant", "list", "--field", "id"])).out, `${tenant.id}\nsecond\n`);
  assert.equal((await cli([...at, "tenant", "list", "--field", "1.id"])).out, "second\n");
});

test("an empty list is reported on standard error", async () => {
  stub.answers({ json: { ...page, data: [], total: 0, has_more: false } });
  const { out, err } = await cli([...at, "tenant", "list", "--table"]);
  assert.equal(out, "");
  assert.equal(err, "0 of 0\n");
});

test("a record is printed as names and values, a nested one under its own name", async () => {
  const delivery = { mode: "MODE_PUSH", url: "https://example.com/a" };
  const recipient = { id: tenant.id, name: "Ada", status: "STATUS_ACTIVE", attributes: { a: 1 }, delivery };
  stub.answers({ json: { data: recipient, metadata: {} } });
  const { out } = await cli([...at, "recipient", "get", tenant.id, "--table"]);
  assert.match(out, /^id +01J00000000000000000000001$/m);
  assert.match(out, /^status +active$/m);
  assert.match(out, /^delivery\n {2}mode +push$/m);
  assert.match(out, /^ {2}url +https:\/\/example\.com\/a$/m);
  assert.match(out, /^attributes +\{"a":1\}$/m);
});

test("a nested list of records is printed as a table", async () => {
  const capabilities = [{ id: "secrets", name: "Secrets", mode: "active", settings: ["a", "b"] }];
  stub.answers({ json: { data: { capabilities }, metadata: {} } });
  const { out } = await cli([...at, "capability", "list-postures", "--table"]);
  assert.match(out, /^capabilities\n {2}ID +NAME +MODE +SETTINGS\n {2}secrets +Secrets +active +a, b\n$/);
});

test("an empty nested list or record is printed as none, without a heading", async () => {
  stub.answers({ json: { data: { items: [], results: [] }, metadata: {} } });
  const { out } = await cli([...at, "item", "lease", tenant.id, "--table"]);
  assert.equal(out, "items    none\nresults  none\n");
  stub.answers({ json: { data: { id: tenant.id, config: { admission: {} } }, metadata: {} } });
  const pool = await cli([...at, "pool", "get", tenant.id, "--table"]);
  assert.match(pool.out, /^config\n {2}admission +none\n$/m);
});

test("response text cannot inject terminal control sequences", async () => {
  stub.answers({ json: { ...page, data: [{ ...tenant, name: "\u001b[2Jgone\nline" }] } });
  const { out } = await cli([...at, "tenant", "list", "--table"]);
  assert.match(out, /\\u001b\[2Jgone\\u000aline/);
  assert.ok(!out.includes("\u001b"));
});

test("a document that is not JSON is printed unchanged", async () => {
  stub.answers({ text: "a: 1\n", headers: { "content-type": "application/yaml" } });
  assert.equal((await cli([...at, "config", "export"], { terminal: true })).out, "a: 1\n");
});

test("--verbose prints the request without the key", async () => {
  stub.answers({ json: { data: { tenant }, metadata: {} }, headers: { "x-request-id": "r1" } });
  const { err } = await cli([...at, "tenant", "create", "--name", "A", "--verbose", "--key", "sk_a_b_topsecret"]);
  assert.match(err, /idempotency key [0-9A-Z]{26}\n> POST http:.*\/api\/tenants\n< 200 in \d+ ms, request r1\n/);
  assert.ok(!err.includes("topsecret"));
});
