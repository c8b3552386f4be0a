import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  CreateIntegrationRequestSchema,
  DeleteIntegrationRequestSchema,
} from "../../gen/service/api/integration_pb.ts";
import { createIntegrations } from "../../src/modules/notifications/integrations/index.ts";
import { createSignals, createTenantChanges, openDatabase } from "../../src/platform/db/index.ts";
import { freshTenant, perform, recordedEvents } from "../harness/context.ts";
import { freshDatabase } from "../harness/postgres.ts";
import { type RestClient, restClient } from "../harness/rest.ts";
import { startService, type TestService } from "../harness/service.ts";
import { until } from "../harness/until.ts";

const base = "/api/v2/notification/integrations";
const connections = "/api/v2/connector/connections";
let service: TestService;
let admin: RestClient;
before(async () => {
  service = await startService();
  admin = restClient(service.baseUrl, service.adminKey);
});

async function connection(client = admin): Promise<string> {
  const credentials = { webhook_url: "https://hooks.example.com/services/T0/B0/key" };
  const { body, text, status } = await client.call("POST", connections, {
    name: "Slack",
    provider_key: "slack",
    credentials,
  });
  assert.equal(status, 200, text);
  return body.data.id;
}

test("an integration is created, read, replaced, listed and deleted over REST", async () => {
  const connection_id = await connection();
  const wanted = { channel: "chat", name: "Slack", provider_key: "slack", connection_id, casing_override: "sentence" };
  const made = await admin.call("POST", base, { ...wanted, condition: "payload.urgent == true" });
  assert.equal(made.status, 200, made.text);
  const { id, priority, active, casing_override, record_version } = made.body.data;
  assert.deepEqual([priority, active, casing_override, record_version], [100, true, "sentence", 1]);
  assert.deepEqual((await admin.call("GET", `${base}/${id}`)).body.data, made.body.data);
  assert.equal((await admin.call("POST", base, wanted)).body.errorCode, "ALREADY_EXISTS");

  const replacement = { name: "Slack", provider_key: "slack", connection_id, priority: 0 };
  const replaced = await admin.call("PUT", `${base}/${id}`, { ...replacement, record_version: 1 });
  assert.deepEqual([replaced.status, replaced.body.data.priority, replaced.body.data.condition], [200, 0, ""]);
  const stale = await admin.call("PUT", `${base}/${id}`, { ...replacement, record_version: 1 });
  assert.deepEqual([stale.status, stale.body.errorCode], [409, "VERSION_CONFLICT"]);

  const ids = async (query: string) =>
    (await admin.call("GET", base + query)).body.data.map((each: { id: string }) => each.id);
  assert.deepEqual(await ids("?channel=chat"), [id]);
  assert.deepEqual(await ids("?channel=sms"), []);
  const removed = await admin.call("DELETE", `${base}/${id}`);
  assert.deepEqual([removed.status, removed.body.data.id], [200, id]);
  assert.equal((await admin.call("GET", `${base}/${id}`)).status, 404);
  assert.equal((await admin.call("POST", base, wanted)).status, 200, "its name is free again");
});

test("invalid fields are rejected by name", async () => {
  const connection_id = await connection();
  const wanted = { channel: "chat", name: "Refused", provider_key: "slack", connection_id };
  const refusals = [
    [{ channel: "pigeon" }, "channel"],
    [{ channel: "email" }, "provider_key"],
    [{ casing_override: "loud" }, "casing_override"],
    [{ condition: "payload.urgent ==" }, "condition"],
    [{ name: "" }, "name"],
    [{ provider_key: "development" }, "connection_id"],
    [{ connection_id: "" }, "connection_id"],
    [{ metadata: { text: "x".repeat(17_000) } }, "metadata"],
  ] as const;
  for (const [change, field] of refusals) {
    const { status, body, text } = await admin.call("POST", base, { ...wanted, ...change });
    assert.equal(status, 400, text);
    assert.equal(body.violations[0].field, field);
  }
  await admin.call("POST", `${connections}/${connection_id}/revoke`, {});
  assert.equal((await admin.call("POST", base, wanted)).status, 412);
});

test("operators write integrations, viewers read them", async () => {
  const clientWith = async (role: string) => {
    const { body } = await admin.call("POST", "/api/v2/api-keys", { name: role, roles: [role] });
    return restClient(service.baseUrl, body.data.secret);
  };
  const inbox = { channel: "in_app", provider_key: "in_app" };
  const [viewer, operator] = [await clientWith("viewer"), await clientWith("operator")];
  assert.equal((await viewer.call("POST", base, { ...inbox, name: "viewer" })).status, 403);
  assert.equal((await viewer.call("GET", base)).status, 200);
  assert.equal((await operator.call("POST", base, { ...inbox, name: "operator" })).status, 200);
});

test("another tenant's connection cannot be used", async () => {
  const { body } = await admin.call("POST", "/api/tenants", { name: "other", issue_admin_key: true });
  const other = restClient(service.baseUrl, body.data.admin_key);
  const connection_id = await connection(other);
  const wanted = { channel: "chat", name: "Theirs", provider_key: "slack", connection_id };
  assert.equal((await admin.call("POST", base, wanted)).status, 404);
  assert.equal((await other.call("POST", base, wanted)).status, 200);
});

test("an integration removed on one node is soon no longer chosen on another", async () => {
  const { url } = await freshDatabase();
  const events = recordedEvents();
  const startNode = async () => {
    const db = openDatabase(url, { maxConnections: 5 });
    const signals = createSignals(db);
    const changes = createTenantChanges(db, signals);
    await signals.start();
    await changes.start();
    after(async () => {
      changes.stop();
      await signals.stop();
      await db.close();
    });
    const integrations = createIntegrations({
      cacheLoadDb: db,
      changes,
      events,
      connections: { find: async () => undefined },
      providers: {
        find: async () => ({
          channels: ["email"],
          needsConnection: false,
          markup: undefined,
          missingSettings: () => [],
          acceptsAddress: () => true,
        }),
        keysOf: async () => ["development"],
      },
    });
    return { db, integrations };
  };
  const [a, b] = [await startNode(), await startNode()];
  const tenantId = freshTenant();
  const values = { subscriber: {}, payload: {}, workflow_key: "w", channel: "email" } as const;
  const chosen = async (node: typeof a) =>
    node.integrations.choose(tenantId, "email", values, new Set(), async () => true);
  assert.equal(await chosen(b), "none_active");
  const { createIntegration, deleteIntegration } = a.integrations.handlers;
  const request = { channel: "email", name: "Mail", providerKey: "development" };
  const { integration } = await perform(a.db, { tenantId }, createIntegration, CreateIntegrationRequestSchema, request);
  await until(async () => typeof (await chosen(b)) === "object");
  await perform(a.db, { tenantId }, deleteIntegration, DeleteIntegrationRequestSchema, { id: integration!.id });
  assert.equal(await chosen(a), "none_active", "immediately on the node that removed it");
  await until(async () => (await chosen(b)) === "none_active");
});
