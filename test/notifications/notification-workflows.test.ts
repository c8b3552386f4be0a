import assert from "node:assert/strict";
import { before, test } from "node:test";
import { connect } from "../harness/postgres-server.ts";
import { startService, type TestService } from "../harness/service.ts";
import { freshName, newTenant, type ResponseData, type TenantFixture } from "../routing/tenant-fixture.ts";

let node: TestService;
let tenant: TenantFixture;
before(async () => {
  node = await startService();
  tenant = await newTenant(node);
});

const workflows = "/api/v2/notification/workflows";
const put = async (key: string, workflow: object = {}) =>
  (await tenant.ok("PUT", `${workflows}/${key}`, workflow)).data;

const content = { subject: "Order {{payload.id}}", body: "<p>{{payload.id}}</p>", text_body: "{{payload.id}}" };

test("a workflow is put, read, listed and deleted by its key, and a second put replaces it completely", async () => {
  const key = `w.${freshName()}`;
  const preferences = { all: false, channels: { email: { enabled: true, read_only: true, condition: "" } } };
  const made = await put(key, { description: "d", channels: { email: content, in_app: { body: "x" } }, preferences });
  assert.deepEqual([made.workflow_key, made.name, made.record_version], [key, key, 1]);
  assert.deepEqual(made.channels.email, { ...made.channels.email, ...content, engine: "handlebars" });
  assert.deepEqual(Object.keys(made.channels), ["email", "in_app"]);
  assert.deepEqual([made.preferences.all, made.preferences.channels], [false, preferences.channels]);
  assert.deepEqual((await tenant.ok("GET", `${workflows}/${key}`)).data, made);
  const listed = (await tenant.ok("GET", `${workflows}?limit=1000`)).data;
  assert.deepEqual(
    listed.find((each: ResponseData) => each.workflow_key === key),
    made,
  );

  const replaced = await put(key, { name: "Shipped", record_version: 1 });
  assert.deepEqual([replaced.name, replaced.record_version, replaced.description], ["Shipped", 2, ""]);
  assert.deepEqual([replaced.channels, replaced.preferences], [{}, undefined]);
  await tenant.refused("VERSION_CONFLICT", "PUT", `${workflows}/${key}`, { record_version: 1 });
  await tenant.refused("VERSION_CONFLICT", "PUT", `${workflows}/${key}`, { record_version: 0 });
  await tenant.refused("VERSION_CONFLICT", "PUT", `${workflows}/${key}.other`, { record_version: 1 });
  assert.equal((await put(`${key}.new`, { record_version: 0 })).record_version, 1);

  assert.deepEqual((await tenant.ok("DELETE", `${workflows}/${key}`)).data, replaced);
  await tenant.refused("NOT_FOUND", "GET", `${workflows}/${key}`);
  await tenant.refused("NOT_FOUND", "DELETE", `${workflows}/${key}`);
});

test("keys are letters and digits with single separators", async () => {
  for (const key of ["-a", "a..b", "a b", "x".repeat(129)]) {
    await tenant.refused("INVALID_ARGUMENT", "PUT", `${workflows}/${encodeURIComponent(key)}`, {});
  }
  await tenant.ok("PUT", `${workflows}/Order-shipped_v2.eu`, {});
});

test("templates and conditions that could not be evaluated are rejected on put, without effect", async () => {
  const key = `w.${freshName()}`;
  const refused = async (field: string, workflow: object) => {
    const { body } = await tenant.refused("INVALID_ARGUMENT", "PUT", `${workflows}/${key}`, workflow);
    assert.equal(body.violations[0].field, field);
    return body.violations[0];
  };
  const email = (fields: object) => ({ channels: { email: { ...content, ...fields } } });
  const { rule, message } = await refused("channels.email.subject", email({ subject: "a\n{{#if b}}" }));
  assert.equal(rule, "template.syntax_error");
  assert.match(message, /^line \d+/);
  await refused("channels.email.text_body", email({ text_body: "{{" }));
  await refused("channels.email.body", email({ engine: "liquid", body: "{% if %}" }));
  await refused("channels.email.body", email({ body: "" }));
  await refused("channels.email.body", email({ body: "x".repeat(65_537) }));
  await refused("channels.email.engine", email({ engine: "mustache" }));
  await refused("channels.email.data", email({ data: { a: "x".repeat(17_000) } }));
  await refused("channels.email.layout_id", email({ layout_id: "01ARZ3NDEKTSV4RRFFQ69G5FAV" }));
  await refused("preferences.condition", { preferences: { condition: "(" } });
  await tenant.refused("NOT_FOUND", "GET", `${workflows}/${key}`);
});

test("a named layout must belong to the tenant and to the channel", async () => {
  const key = `w.${freshName()}`;
  const id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  const sql = connect(node.databaseUrl, 1);
  try {
    await sql`
      insert into notification_layouts (tenant_id, id, name, channel, engine, body, created_at, updated_at)
      values (${tenant.id}, ${id}, 'inbox', 'inapp', 'handlebars', '{{content}}', now(), now())`;
  } finally {
    await sql.end();
  }
  const withLayout = (channel: string) => ({ channels: { [channel]: { body: "x", layout_id: id } } });
  await tenant.refused("INVALID_ARGUMENT", "PUT", `${workflows}/${key}`, withLayout("email"));
  assert.equal((await put(key, withLayout("in_app"))).channels.in_app.layout_id, id);
  const other = await newTenant(node);
  await other.refused("INVALID_ARGUMENT", "PUT", `${workflows}/${key}`, withLayout("in_app"));
});

test("a user's overrides are deleted with the user and with the workflow", async () => {
  const key = `w.${freshName()}`;
  const users = `${workflows}/${key}/users`;
  await tenant.refused("NOT_FOUND", "PUT", `${users}/u1`, {});
  await put(key);
  const made = (await tenant.ok("PUT", `${users}/u1`, { preferences: { all: false } })).data;
  assert.deepEqual([made.user_id, made.preferences.all, made.record_version], ["u1", false, 1]);
  await tenant.ok("PUT", `${users}/a%2Fb%20c`, { preferences: { all: true } });
  const { data } = await tenant.ok("GET", users);
  assert.deepEqual(
    data.map((each: ResponseData) => each.user_id),
    ["a/b c", "u1"],
  );
  await tenant.refused("VERSION_CONFLICT", "PUT", `${users}/u1`, { record_version: 7 });
  await tenant.refused("INVALID_ARGUMENT", "PUT", `${users}/u1`, { preferences: { condition: "nobody" } });
  assert.deepEqual((await tenant.ok("GET", `${users}/u1`)).data, made);
  await tenant.ok("DELETE", `${users}/a%2Fb%20c`);
  await tenant.refused("NOT_FOUND", "DELETE", `${users}/a%2Fb%20c`);
  await tenant.ok("DELETE", `${workflows}/${key}`);
  await put(key);
  await tenant.refused("NOT_FOUND", "GET", `${users}/u1`);
});
