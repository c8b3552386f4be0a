import assert from "node:assert/strict";
import { test } from "node:test";
import { RevokeConnectionRequestSchema } from "../../../../gen/service/api/connection_pb.ts";
import { freshTenant, perform, recordedEvents } from "../../../../test/harness/context.ts";
import { until } from "../../../../test/harness/until.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { Grant } from "./grant-service.ts";
import type { Connection, OpenConnection } from "./index.ts";
import { insertConfig, nodesDatabase, providerOn, startNode } from "./testing/connection-nodes.ts";

const url = await nodesDatabase();
const events = recordedEvents();
const nowMs = Date.now();
const options = { url, providers: [providerOn(9)], nowMs: () => nowMs, events: events as never };
const { connections, db } = await startNode(options);

const grant: Grant = {
  ...{ connectionId: undefined, name: "Ada's Acme", endUser: { id: "u1", email: "", displayName: "" } },
  ...{ environmentId: freshTenant(), environmentKey: "production" },
  ...{ providerKey: "acme", providerConfigId: "", authMode: "oauth2", manifestVersion: "1.0.0", manifestDigest: "d1" },
  ...{ scopes: ["read"], settings: { region: "eu" }, captured: { team: "T1" }, account: { id: "42", label: "ada" } },
  accountChoices: [],
  credentials: { access_token: "first", refresh_token: "r1" },
  expiresAt: new Date(nowMs + 3_600_000),
  idleS: 1000,
  lifetimeS: undefined,
};
async function store(tenantId: TenantId, more: Partial<Grant> = {}) {
  const actions: (() => unknown)[] = [];
  const result = await db.transaction((sql) =>
    connections.storeGrant(
      { tenantId, sql, nowMs, afterCommit: (action) => void actions.push(action) },
      { ...grant, ...more },
    ),
  );
  for (const action of actions) await action();
  return result;
}

test("a grant creates a connection that can be opened", async () => {
  const tenantId = freshTenant();
  const made = (await store(tenantId, { providerConfigId: await insertConfig(db, tenantId) })) as Connection;
  assert.deepEqual(
    [made.name, made.authMode, made.account, made.captured, made.status, made.manifestDigest],
    ["Ada's Acme", "oauth2", { id: "42", label: "ada" }, { team: "T1" }, "active", "d1"],
  );
  const opened = (await connections.open(tenantId, made.id)) as OpenConnection;
  assert.deepEqual(
    [opened.mode, opened.credentials, opened.account.id, opened.captured, opened.config],
    ["oauth2", { access_token: "first" }, "42", { team: "T1" }, { client_id: "app" }],
  );
  const { type, subject } = events.recorded.at(-1)!;
  assert.deepEqual([type, subject], ["connection.created", made.id]);
});

test("a reconnection replaces the grant on every node, and keeps the name and the end user", async () => {
  const tenantId = freshTenant();
  const { id } = (await store(tenantId)) as Connection;
  const other = (await startNode(options)).connections;
  const tokenAt = async () => ((await other.open(tenantId, id)) as OpenConnection).credentials.access_token;
  assert.equal(await tokenAt(), "first");
  await db.sql`
    update connector_connections set status = 'needs_reauth', status_reason = 'grant_rejected' where id = ${id}`;
  const again = (await store(tenantId, {
    ...{ connectionId: id, name: "ignored", endUser: undefined, scopes: ["read", "write"] },
    credentials: { access_token: "second", refresh_token: "r2" },
  })) as Connection;
  assert.deepEqual(
    [again.id, again.name, again.endUser?.id, again.scopes, again.status, again.statusReason, again.credentialVersion],
    [id, "Ada's Acme", "u1", ["read", "write"], "active", "", 2],
  );
  await until(tokenAt, (token) => token === "second");
  assert.equal(events.recorded.at(-1)!.type, "connection.reconnected");
});

test("a reconnection with another or an unknown account, or of another provider, changes nothing", async () => {
  const tenantId = freshTenant();
  const { id } = (await store(tenantId)) as Connection;
  const reconnect = (more: Partial<Grant>) =>
    store(tenantId, { connectionId: id, credentials: { access_token: "stolen" }, ...more });
  assert.equal(await reconnect({ account: { id: "43", label: "eve" } }), "account_mismatch");
  assert.equal(await reconnect({ account: { id: "", label: "" } }), "account_mismatch");
  assert.equal(await reconnect({ providerKey: "other" }), "provider_mismatch");
  const archived = await insertConfig(db, tenantId);
  await db.sql`update connector_provider_configs set status = 'archived' where id = ${archived}`;
  assert.equal(await reconnect({ providerConfigId: archived }), "provider_mismatch");
  const { credentials } = (await connections.open(tenantId, id)) as OpenConnection;
  assert.equal(credentials.access_token, "first");
  assert.equal(await store(freshTenant(), { connectionId: id }), "connection_missing");
  await perform(db, { tenantId }, connections.handlers.revokeConnection, RevokeConnectionRequestSchema, { id });
  assert.equal(await reconnect({}), "connection_revoked");
});

test("a connection whose account is not known yet accepts the first one that is", async () => {
  const tenantId = freshTenant();
  const { id } = (await store(tenantId, { account: { id: "", label: "" } })) as Connection;
  const again = (await store(tenantId, { connectionId: id })) as Connection;
  assert.equal(again.account.id, "42");
});

test("a grant is refused when the tenant has the maximum of connections", async () => {
  const tenantId = freshTenant();
  await store(tenantId);
  await db.sql`update connector_connection_counts set live_count = 100000 where tenant_id = ${tenantId}`;
  assert.equal(await store(tenantId), "too_many_connections");
});
