import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  CreateConnectionRequestSchema,
  RevokeConnectionRequestSchema,
  UpdateConnectionRequestSchema,
} from "../../../../gen/service/api/connection_pb.ts";
import { failsWith, freshTenant, perform, recordedEvents } from "../../../../test/harness/context.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { EventRecorder } from "../../operations/index.ts";
import { insertConfig, insertProduction, nodesDatabase, providerOn, startNode } from "./testing/connection-nodes.ts";
import { json, startTokenServer } from "./testing/token-server.ts";

const url = await nodesDatabase();
const server = await startTokenServer();
const events = recordedEvents();
const providers = [
  providerOn(server.port),
  providerOn(server.port, {
    key: "bare",
    auth: {
      api_key: { fields: { token: { title: "Token" } }, apply: { headers: { "x-key": "{credentials.token}" } } },
    },
  }),
];
const node = await startNode({ url, providers, events: events as unknown as EventRecorder });
const other = await startNode({ url, providers });
const { connections, db } = node;

beforeEach(() => {
  Object.assign(server, { script: undefined });
  server.requests.length = 0;
  events.recorded.length = 0;
});

type NewConnection = MessageInitShape<typeof CreateConnectionRequestSchema>;
async function create(tenantId: TenantId, request: NewConnection): Promise<string> {
  const whole = { name: "n", providerKey: "acme", ...request } as NewConnection;
  await insertProduction(db, tenantId);
  const { createConnection } = connections.handlers;
  return (await perform(db, { tenantId }, createConnection, CreateConnectionRequestSchema, whole)).connection!.id;
}

type Change = MessageInitShape<typeof UpdateConnectionRequestSchema>;
const update = async (tenantId: TenantId, id: string, change: Change) =>
  (
    await perform(db, { tenantId }, connections.handlers.updateConnection, UpdateConnectionRequestSchema, {
      id,
      ...change,
    } as Change)
  ).connection!;

async function tokenOf(tenantId: TenantId, id: string, at = connections): Promise<string | undefined> {
  const opened = await at.open(tenantId, id);
  return typeof opened === "string" ? opened : (opened.credentials.token ?? opened.credentials.access_token);
}

const updatedEvents = () => events.recorded.filter(({ type }) => type === "connection.updated");

test("a name and an end user are changed without a request to the provider, and the rest stays", async () => {
  const tenantId = freshTenant();
  const { accessToken } = server.issue();
  const id = await create(tenantId, { credentials: { token: accessToken }, endUser: { id: "u1" } });
  const renamed = await update(tenantId, id, { name: "Main account" });
  assert.deepEqual([renamed.name, renamed.endUser?.id, renamed.recordVersion], ["Main account", "u1", 2n]);
  const moved = await update(tenantId, id, { endUser: { id: "u2", email: "ada@example.com" } });
  assert.deepEqual([moved.name, moved.endUser?.id, moved.endUser?.email], ["Main account", "u2", "ada@example.com"]);
  assert.equal(await tokenOf(tenantId, id), accessToken);
  assert.equal(server.requests.length, 0);
  assert.deepEqual(
    updatedEvents().map(({ data }) => data.fields),
    [["name"], ["end_user"]],
  );
  const unchanged = await update(tenantId, id, {});
  assert.equal(unchanged.recordVersion, 3n);
});

test("a new key is tested, sealed in place and used by every node, and repairs a connection that needs it", async () => {
  const tenantId = freshTenant();
  const [before, after] = [server.issue().accessToken, server.issue().accessToken];
  const id = await create(tenantId, { credentials: { token: before } });
  assert.equal(await tokenOf(tenantId, id, other.connections), before);
  server.invalidate(before);
  await connections.markRejected(tenantId, id, 1);
  assert.equal(await tokenOf(tenantId, id), "needs_reauth");
  const updated = await update(tenantId, id, { credentials: { token: after } });
  assert.deepEqual(
    [updated.id, updated.status, updated.statusReason, updated.lastTestClass, updated.account?.id],
    [id, "active", "", "ok", "42"],
  );
  assert.equal(await tokenOf(tenantId, id), after);
  for (let seen = ""; seen !== after; seen = (await tokenOf(tenantId, id, other.connections))!) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(
    updatedEvents().map(({ data }) => data.fields),
    [["credentials"]],
  );
  assert.ok(!JSON.stringify(events.recorded).includes(after));
  const rows = await db.sql<{ row: string }[]>`
    select row_to_json(c)::text as row from connector_connections c where id = ${id}`;
  assert.ok(!rows[0]!.row.includes(after));
});

test("a key that the provider refuses is not stored, and the current one stays in use", async () => {
  const tenantId = freshTenant();
  const { accessToken } = server.issue();
  const id = await create(tenantId, { credentials: { token: accessToken } });
  await assert.rejects(update(tenantId, id, { credentials: { token: "wrong-key" }, name: "x" }), (error: Error) => {
    assert.match(error.message, /credentials: were refused by the provider/);
    assert.ok(!error.message.includes("wrong-key"));
    return failsWith("INVALID_ARGUMENT")(error);
  });
  server.script = (_request, response) => {
    json(response, 503, {});
    return true;
  };
  const { accessToken: good } = server.issue();
  await assert.rejects(update(tenantId, id, { credentials: { token: good } }), failsWith("CONNECTOR_UNAVAILABLE"));
  assert.equal(await tokenOf(tenantId, id), accessToken);
  const { name, recordVersion } = (await connections.find(db.sql, tenantId, id))!;
  assert.deepEqual([name, recordVersion, updatedEvents().length], ["n", 1, 0]);
});

test("credentials of another account are refused", async () => {
  const tenantId = freshTenant();
  const [first, second] = [server.issue().accessToken, server.issue().accessToken];
  const id = await create(tenantId, { credentials: { token: first } });
  await update(tenantId, id, { credentials: { token: first } });
  server.script = ({ path }, response) => {
    if (path !== "/me") return undefined;
    json(response, 200, { id: 43, login: "bob" });
    return true;
  };
  await assert.rejects(update(tenantId, id, { credentials: { token: second } }), failsWith("FAILED_PRECONDITION"));
  assert.equal(await tokenOf(tenantId, id), first);
});

test("new client credentials are tested with a token, which is used at once", async () => {
  const tenantId = freshTenant();
  const fields = (secret: string) => ({ client_id: "app", client_secret: secret });
  const id = await create(tenantId, { authMode: "oauth2_cc", credentials: fields("secret-one") });
  const updated = await update(tenantId, id, { credentials: fields("secret-two") });
  assert.ok(updated.expiresAt !== undefined);
  const sent = server.requests.filter(({ path }) => path === "/token");
  assert.equal(sent.length, 1);
  assert.equal(Buffer.from(sent[0]!.authorization.slice(6), "base64").toString(), "app:secret-two");
  assert.ok(server.isValid((await tokenOf(tenantId, id))!));
  assert.equal(server.requests.filter(({ path }) => path === "/token").length, 1);
});

test("credentials that nothing can test are stored as unverified, after a check of their fields", async () => {
  const tenantId = freshTenant();
  const bare = await create(tenantId, { providerKey: "bare", credentials: { token: "token-one" } });
  assert.equal((await update(tenantId, bare, { credentials: { token: "token-two" } })).lastTestClass, "unverified");
  assert.equal(await tokenOf(tenantId, bare), "token-two");
  await assert.rejects(update(tenantId, bare, { credentials: { tokn: "token-two" } }), failsWith("INVALID_ARGUMENT"));
  const mail = await create(tenantId, { providerKey: "mail", credentials: { token: "password" } });
  await update(tenantId, mail, { credentials: { token: "another" } });
  assert.equal(await tokenOf(tenantId, mail), "another");
});

test("grants of OAuth, revoked connections, other tenants and old versions are refused", async () => {
  const tenantId = freshTenant();
  const { accessToken, refreshToken } = server.issue();
  const grant = { access_token: accessToken, refresh_token: refreshToken };
  const providerConfigId = await insertConfig(db, tenantId);
  const oauth = await create(tenantId, { authMode: "oauth2", providerConfigId, credentials: grant });
  await assert.rejects(update(tenantId, oauth, { credentials: grant }), failsWith("FAILED_PRECONDITION"));
  assert.equal((await update(tenantId, oauth, { name: "still renamed" })).name, "still renamed");
  await assert.rejects(update(freshTenant(), oauth, { name: "x" }), failsWith("NOT_FOUND"));
  await assert.rejects(update(tenantId, oauth, { name: "x", recordVersion: 1n }), failsWith("VERSION_CONFLICT"));
  const revocation = { id: oauth };
  await perform(db, { tenantId }, connections.handlers.revokeConnection, RevokeConnectionRequestSchema, revocation);
  await assert.rejects(update(tenantId, oauth, { name: "x" }), failsWith("CONNECTION_UNUSABLE"));
});

test("credentials that were replaced during the test of others are tested again, and the last caller wins", async () => {
  const tenantId = freshTenant();
  const tokens = [1, 2, 3].map(() => server.issue().accessToken) as [string, string, string];
  const id = await create(tenantId, { credentials: { token: tokens[0] } });
  let replaced: Promise<unknown> | undefined;
  server.script = async ({ authorization }) => {
    if (!authorization.endsWith(tokens[1])) return undefined;
    replaced ??= update(tenantId, id, { credentials: { token: tokens[2] } });
    await replaced;
    return undefined;
  };
  await update(tenantId, id, { credentials: { token: tokens[1] } });
  assert.equal(await tokenOf(tenantId, id), tokens[1]);
  assert.equal(server.requests.filter(({ authorization }) => authorization.endsWith(tokens[1])).length, 2);
  assert.equal((await connections.find(db.sql, tenantId, id))!.credentialVersion, 3);
});
