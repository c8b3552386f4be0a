import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { beforeEach, test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  CreateConnectionRequestSchema,
  RevokeConnectionRequestSchema,
  TestConnectionRequestSchema,
} from "../../../../../gen/service/api/connection_pb.ts";
import { failsWith, freshTenant, perform } from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { leaseStore } from "../refresh/lease-store.ts";
import {
  insertConfig,
  insertProduction,
  keyringOf,
  nodesDatabase,
  oauth2On,
  providerOn,
  startNode,
} from "../testing/connection-nodes.ts";
import { json, type Script, startTokenServer } from "../testing/token-server.ts";

const url = await nodesDatabase();
const server = await startTokenServer();
const { revoke: _, ...withoutRevocation } = oauth2On(server.port);
const providers = [
  providerOn(server.port),
  providerOn(server.port, {
    key: "bare",
    auth: {
      api_key: { fields: { token: { title: "Token" } }, apply: { headers: { "x-key": "{credentials.token}" } } },
    },
  }),
  providerOn(1, { key: "closed" }),
  providerOn(server.port, { key: "keeper", auth: { oauth2: withoutRevocation } }),
];
const poolSize = 8;
const { connections, db } = await startNode({ url, providers, poolSize });

beforeEach(() => {
  Object.assign(server, { script: undefined });
  server.requests.length = 0;
});

type Request = MessageInitShape<typeof CreateConnectionRequestSchema>;
async function create(tenantId: TenantId, request: Request): Promise<string> {
  await insertProduction(db, tenantId);
  const { createConnection } = connections.handlers;
  const { connection } = await perform(db, { tenantId }, createConnection, CreateConnectionRequestSchema, {
    name: "n",
    providerKey: "acme",
    ...request,
  } as Request);
  return connection!.id;
}
async function grant(tenantId: TenantId, providerKey = "acme") {
  const { accessToken, refreshToken } = server.issue();
  const id = await create(tenantId, {
    ...{ providerKey, authMode: "oauth2", providerConfigId: await insertConfig(db, tenantId, providerKey) },
    credentials: { access_token: accessToken, refresh_token: refreshToken },
  });
  return { id, accessToken, refreshToken };
}
const testConnection = (tenantId: TenantId, id: string) =>
  perform(db, { tenantId }, connections.handlers.testConnection, TestConnectionRequestSchema, { id });
const revoke = async (tenantId: TenantId, id: string) =>
  (await perform(db, { tenantId }, connections.handlers.revokeConnection, RevokeConnectionRequestSchema, { id }))
    .connection!;
const runRevocation = (tenantId: TenantId, connectionId: string, attempt = 1, by = connections) =>
  by.jobs
    .find(({ kind }) => kind === "connector.revoke_grant")!
    .handler({ ...{ tenantId, id: "j", payload: { connectionId }, attempt, signal: new AbortController().signal } });
const rowOf = async (id: string) =>
  (
    await db.sql<{ ciphertext: string; keyId: string; providerRevocation: string; status: string }[]>`
      select ciphertext, key_id, provider_revocation, status from connector_connections where id = ${id}`
  )[0]!;

const accept: Script = (_request, response) => {
  json(response, 200, { id: 42, login: "ada" });
  return true;
};

test("a test reports the account that the provider confirms", async () => {
  const tenantId = freshTenant();
  const { id } = await grant(tenantId);
  const { ok, class: answerClass, account, status, code } = await testConnection(tenantId, id);
  assert.deepEqual(
    [ok, answerClass, account?.id, account?.label, status, code],
    [true, "ok", "42", "ada", "active", ""],
  );
  await assert.rejects(testConnection(freshTenant(), id), failsWith("NOT_FOUND"));
  const { lastTestClass, lastTestedAt, account: known } = (await connections.find(db.sql, tenantId, id))!;
  assert.deepEqual([lastTestClass, lastTestedAt instanceof Date, known], ["ok", true, { id: "42", label: "ada" }]);
});

test("a test refreshes rejected credentials once, and reports credentials that stay rejected", async () => {
  const tenantId = freshTenant();
  const { id, accessToken } = await grant(tenantId);
  server.invalidate(accessToken);
  assert.equal((await testConnection(tenantId, id)).ok, true);
  const key = await create(tenantId, { credentials: { token: "wrong" } });
  const result = await testConnection(tenantId, key);
  assert.deepEqual(
    [result.ok, result.class, result.message, result.status],
    [false, "auth_expired", "Bad credentials", "needs_reauth"],
  );
});

test("a test asks the provider about rejected credentials too, and what it accepts again can be used again", async () => {
  const tenantId = freshTenant();
  const key = await create(tenantId, { credentials: { token: "token" } });
  assert.equal((await testConnection(tenantId, key)).status, "needs_reauth");
  const again = await testConnection(tenantId, key);
  assert.deepEqual([again.class, again.status, server.requests.length], ["auth_expired", "needs_reauth", 2]);
  server.script = accept;
  const accepted = await testConnection(tenantId, key);
  assert.deepEqual([accepted.ok, accepted.status], [true, "active"]);
  assert.ok(typeof (await connections.open(tenantId, key)) === "object");
});

test("one rejected request does not disable a connection whose account the provider still returns", async () => {
  const tenantId = freshTenant();
  const key = await create(tenantId, { credentials: { token: "token" } });
  const { promise: asked, resolve: proceed } = Promise.withResolvers<void>();
  server.script = async (...exchange) => {
    await asked;
    return accept(...exchange);
  };
  const rejections = Promise.all([1, 2, 3].map(() => connections.markRejected(tenantId, key, 1)));
  // Every connection of the pool is busy with a later transaction at the same time, so all three have read what they need.
  const { promise: full, resolve: fill } = Promise.withResolvers<void>();
  let busy = 0;
  const occupy = () => {
    if (++busy === poolSize) fill();
    return full;
  };
  await Promise.all(Array.from({ length: poolSize }, () => db.transaction(occupy)));
  proceed();
  assert.deepEqual([new Set(await rejections), server.requests.length], [new Set(["accepted"]), 1]);
  server.script = (_request, response) => {
    response.writeHead(503).end();
    return true;
  };
  assert.equal(await connections.markRejected(tenantId, key, 1), "refresh_failed");
  assert.equal((await rowOf(key)).status, "active");
  server.script = undefined;
  assert.equal(await connections.markRejected(tenantId, key, 1), "needs_reauth");
});

test("a test says what failed: no answer, an answer of the wrong form, or an error without secrets", async () => {
  const tenantId = freshTenant();
  const closed = await create(tenantId, { providerKey: "closed", credentials: { token: "token" } });
  const unreachable = await testConnection(tenantId, closed);
  assert.deepEqual(
    [unreachable.class, unreachable.code, unreachable.status],
    ["unreachable", "connect_failed", "active"],
  );
  const key = await create(tenantId, { credentials: { token: "planted-secret" } });
  server.script = (_request, response) => {
    json(response, 200, { name: "nobody" });
    return true;
  };
  assert.deepEqual([(await testConnection(tenantId, key)).code], ["no_account"]);
  server.script = (_request, response) => {
    json(response, 403, { message: "planted-secret may not do that" });
    return true;
  };
  const denied = await testConnection(tenantId, key);
  assert.deepEqual([denied.class, denied.message], ["permission_denied", "[redacted] may not do that"]);
  const bare = await create(tenantId, { providerKey: "bare", credentials: { token: "token" } });
  assert.equal((await testConnection(tenantId, bare)).class, "unverified");
  const mail = await create(tenantId, { providerKey: "mail", credentials: { password: "t" } });
  assert.equal((await testConnection(tenantId, mail)).class, "unverified");
});

test("a revocation revokes the grant at the provider after the commit, then erases the credentials", async () => {
  const tenantId = freshTenant();
  const { id, refreshToken } = await grant(tenantId);
  assert.equal((await revoke(tenantId, id)).providerRevocation, "pending");
  assert.equal(await connections.open(tenantId, id), "revoked");
  assert.equal(server.requests.length, 0);
  const jobs = await db.sql<{ payload: object }[]>`
    select payload from jobs where tenant_id = ${tenantId} and kind = 'connector.revoke_grant'`;
  assert.deepEqual([...jobs], [{ payload: { connectionId: id } }]);
  await runRevocation(tenantId, id);
  assert.deepEqual(
    server.requests.map(({ path, fields }) => [path, fields.token]),
    [["/revoke", refreshToken]],
  );
  assert.deepEqual(await rowOf(id), { ciphertext: "", keyId: "", providerRevocation: "succeeded", status: "revoked" });
  await runRevocation(tenantId, id);
  assert.equal(server.requests.length, 1);
});

test("a revocation is repeated while the provider is unavailable, and in the end erases the credentials anyway", async () => {
  const tenantId = freshTenant();
  const { id } = await grant(tenantId);
  await revoke(tenantId, id);
  server.script = (_request, response) => {
    response.writeHead(503).end();
    return true;
  };
  await assert.rejects(runRevocation(tenantId, id), /unavailable: http_503/);
  assert.notEqual((await rowOf(id)).ciphertext, "");
  await runRevocation(tenantId, id, 6);
  assert.deepEqual(await rowOf(id), { ciphertext: "", keyId: "", providerRevocation: "failed", status: "revoked" });
});

test("a revocation is left to other nodes by one that lacks the master key", async () => {
  const tenantId = freshTenant();
  const { id, refreshToken } = await grant(tenantId);
  await revoke(tenantId, id);
  const keyless = await startNode({ url, providers, keyring: keyringOf(randomBytes(32).toString("base64")) });
  await assert.rejects(runRevocation(tenantId, id, 1, keyless.connections), /cannot be decrypted/);
  assert.equal((await rowOf(id)).providerRevocation, "pending");
  await runRevocation(tenantId, id, 2);
  assert.deepEqual(
    server.requests.map(({ path, fields }) => [path, fields.token]),
    [["/revoke", refreshToken]],
  );
  assert.equal((await rowOf(id)).providerRevocation, "succeeded");
});

test("a provider that offers no revocation is not called", async () => {
  const tenantId = freshTenant();
  const { id } = await grant(tenantId, "keeper");
  assert.equal((await revoke(tenantId, id)).providerRevocation, "not_offered");
  assert.deepEqual(await rowOf(id), {
    ciphertext: "",
    keyId: "",
    providerRevocation: "not_offered",
    status: "revoked",
  });
});

test("a refresh that ends after the revocation hands its new tokens to it", async () => {
  const tenantId = freshTenant();
  const { id } = await grant(tenantId);
  const ref = { tenantId, id };
  await db.sql`update connector_connections set expires_at = now() - interval '1 second' where id = ${id}`;
  const { promise: revoked, resolve: proceed } = Promise.withResolvers<void>();
  const { promise: started, resolve: start } = Promise.withResolvers<void>();
  server.script = async ({ path }) => {
    if (path !== "/token") return undefined;
    start();
    await revoked;
    return undefined;
  };
  const opening = connections.open(tenantId, id);
  await started;
  await revoke(tenantId, id);
  const revoking = runRevocation(tenantId, id);
  proceed();
  assert.equal(await opening, "revoked");
  await revoking;
  const { fields } = server.requests.at(-1)!;
  assert.equal((await rowOf(id)).providerRevocation, "succeeded");
  assert.equal(server.requests.at(-1)!.path, "/revoke");
  const sent = server.requests.find(({ path }) => path === "/token")!;
  assert.notEqual(fields.token, sent.fields.refresh_token);
  assert.ok("fence" in (await leaseStore(db.sql).claim(ref, 1, false)));
});

test("a sweep erases the credentials of revocations that never ended", async () => {
  const tenantId = freshTenant();
  const { id } = await grant(tenantId);
  await revoke(tenantId, id);
  await db.sql`update connector_connections set revoked_at = now() - interval '2 hours' where id = ${id}`;
  const sweep = connections.jobs.find(({ kind }) => kind === "connector.refresh_sweep")!;
  await sweep.handler({ tenantId: "", id: "", payload: {}, attempt: 1, signal: new AbortController().signal });
  assert.deepEqual(await rowOf(id), { ciphertext: "", keyId: "", providerRevocation: "failed", status: "revoked" });
});
