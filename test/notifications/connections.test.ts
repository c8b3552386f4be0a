import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { connect } from "../harness/postgres-server.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";

const base = "/api/v2/connector/connections";
const password = "correct-horse-battery-staple";
const mail = {
  name: "Mail",
  provider_key: "smtp",
  settings: { host: "mail.example.org", from: "Acme <news@example.org>" },
  credentials: { username: "acme", password },
};
const auditPath = join(mkdtempSync(join(tmpdir(), "switchyard-audit-")), "audit.log");

let service: TestService;
let admin: RestClient;
before(async () => {
  service = await startService({ "egress.mode": "enforce", "audit.sink": "file", "audit.path": auditPath });
  admin = restClient(service.baseUrl, service.adminKey);
});

async function clientWith(grants: object): Promise<RestClient> {
  const { body } = await admin.call("POST", "/api/v2/api-keys", { name: "connections", ...grants });
  return restClient(service.baseUrl, body.data.secret);
}

test("a connection is created, read, listed and revoked, and its credentials are never shown", async () => {
  const key = { "idempotency-key": "make-mail" };
  const made = await admin.call("POST", base, mail, key);
  assert.equal(made.status, 200, made.text);
  const { id } = made.body.data;
  const repeated = await admin.call("POST", base, mail, key);
  assert.equal(repeated.headers.get("idempotency-replayed"), "true");
  assert.equal(repeated.body.data.id, id);
  const responses = [
    made,
    repeated,
    await admin.call("GET", `${base}/${id}`),
    await admin.call("GET", `${base}?provider_key=smtp&status=active`),
    await admin.call("GET", `/api/events?limit=1000`),
    await admin.call("POST", `${base}/${id}/revoke`, {}),
    await admin.call("GET", `${base}?status=revoked`),
  ];
  for (const { status, text } of responses) {
    assert.equal(status, 200, text);
    assert.ok(!text.includes(password));
  }
  const { data } = responses[2]!.body;
  assert.deepEqual(
    [data.name, data.provider_key, data.status, data.settings],
    ["Mail", "smtp", "active", mail.settings],
  );
  assert.equal("credentials" in data, false);
  assert.deepEqual(
    responses[6]!.body.data.map((each: { id: string; status: string }) => [each.id, each.status]),
    [[id, "revoked"]],
  );
  const sql = connect(service.databaseUrl, 1);
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`;
  for (const { name } of tables) {
    const found = await sql`select from ${sql(name)} t where t::text like ${`%${password}%`}`;
    assert.equal(found.length, 0, name);
  }
  await sql.end();
  assert.ok(!readFileSync(auditPath, "utf8").includes(password));
});

test("fields that the provider does not accept are rejected by name, and the error does not repeat secrets", async () => {
  const settings = { ...mail.settings, host: "10.1.2.3", colour: "red" };
  const response = await admin.call("POST", base, { ...mail, settings, credentials: { pass: password } });
  assert.equal(response.status, 400);
  assert.equal(response.body.errorCode, "INVALID_ARGUMENT");
  const fields = response.body.violations.map(({ field }: { field: string }) => field).sort();
  assert.deepEqual(fields, ["credentials.pass", "settings.colour", "settings.host"]);
  assert.ok(!response.text.includes(password));
  const unknown = await admin.call("POST", base, { ...mail, provider_key: "pigeon" });
  assert.deepEqual([unknown.status, unknown.body.violations[0].field], [400, "provider_key"]);
});

test("viewers read connections, and only admins create and revoke them", async () => {
  const { body } = await admin.call("POST", base, mail);
  const path = `${base}/${body.data.id}`;
  for (const role of ["viewer", "operator"]) {
    const client = await clientWith({ roles: [role] });
    assert.equal((await client.call("GET", path)).status, 200);
    assert.equal((await client.call("POST", base, mail)).status, 403);
    assert.equal((await client.call("POST", `${path}/revoke`, {})).status, 403);
  }
  const scoped = await clientWith({ scopes: ["connection:write"] });
  assert.equal((await scoped.call("GET", path)).status, 403);
  assert.equal((await scoped.call("POST", `${path}/revoke`, {})).status, 200);
});

test("a subscriber's address must name an active connection", async () => {
  const made = await admin.call("POST", base, mail);
  const connection_id = made.body.data.id;
  const subscribers = "/api/v2/notification/subscribers";
  const { body } = await admin.call("POST", subscribers, { external_id: "ada" });
  const add = () =>
    admin.call("POST", `${subscribers}/${body.data.id}/endpoints`, {
      channel: "email",
      identity: "ada@example.com",
      connection_id,
    });
  assert.equal((await add()).status, 200);
  await admin.call("POST", `${base}/${connection_id}/revoke`, {});
  assert.equal((await add()).status, 404);
});
