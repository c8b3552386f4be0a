import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  CreateConnectionRequestSchema,
  GetConnectionRequestSchema,
  ListConnectionsRequestSchema,
  RevokeConnectionRequestSchema,
} from "../../../../gen/service/api/connection_pb.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
} from "../../../../test/harness/context.ts";
import { sized } from "../../../../test/harness/run-size.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createKeyring } from "../../../platform/crypto/index.ts";
import { createSecrets } from "../../tenancy/index.ts";
import { connectionsMax } from "./domain/connection.ts";
import type { OpenConnection } from "./index.ts";
import {
  insertProduction,
  keyringOf,
  masterKey,
  nodesDatabase,
  providerOn,
  startNode,
} from "./testing/connection-nodes.ts";

const url = await nodesDatabase();
const events = recordedEvents();
const masterKeys = { k1: masterKey, k2: randomBytes(32).toString("base64") };
let nowMs = Date.parse("2027-01-31T12:00:00Z");
// No request is sent in this file.
const provider = providerOn(9, { settings: { region: { title: "Region", pattern: "^[a-z]{2}$", default: "eu" } } });
const shared = { url, providers: [provider], nowMs: () => nowMs, events: events as never };

const { connections: connectors, db } = await startNode({ ...shared, poolSize: 20 });
const { handlers } = connectors;

type Request = MessageInitShape<typeof CreateConnectionRequestSchema>;
const defaults: Request = {
  name: "Mail",
  providerKey: "mail",
  settings: { host: "h" },
  credentials: { password: "hunter2" },
};
async function createConnection(choice: ContextChoice, more: Request = {}, by = handlers) {
  if (choice.tenantId !== undefined) await insertProduction(db, choice.tenantId);
  const request = { ...defaults, ...more } as Request;
  return (await perform(db, { nowMs, ...choice }, by.createConnection, CreateConnectionRequestSchema, request))
    .connection!;
}
async function revoke(tenantId: TenantId, id: string) {
  const { connection } = await perform(
    db,
    { tenantId, nowMs },
    handlers.revokeConnection,
    RevokeConnectionRequestSchema,
    { id },
  );
  return connection!;
}
const sealedOf = async (id: string) =>
  (
    await db.sql<{ ciphertext: string; keyId: string }[]>`
    select ciphertext, key_id from connector_connections where id = ${id}`
  )[0]!;

test("a connection is returned without its credentials, which are stored sealed and absent from events", async () => {
  const tenantId = freshTenant();
  const endUser = { id: "u1", email: "ada@example.com", displayName: "Ada" };
  const made = await createConnection({ tenantId }, { endUser, scopes: ["send"] });
  assert.deepEqual(
    [made.name, made.providerKey, made.status, made.settings, made.authMode],
    ["Mail", "mail", "active", { host: "h" }, ""],
  );
  assert.deepEqual([made.endUser?.id, made.endUser?.displayName, made.scopes], ["u1", "Ada", ["send"]]);
  const read = await perform(db, { tenantId }, handlers.getConnection, GetConnectionRequestSchema, { id: made.id });
  assert.deepEqual(read.connection, made);
  assert.match((await sealedOf(made.id)).ciphertext, /^xc1:k1:/);
  const [row] =
    await db.sql`select connector_connections::text as line from connector_connections where id = ${made.id}`;
  assert.ok(!row!.line.includes("hunter2"));
  assert.deepEqual(events.recorded.at(-1), {
    tenantId,
    type: "connection.created",
    subject: made.id,
    data: {
      ...{ name: "Mail", environment_id: made.environmentId, provider_key: "mail", provider_config_id: "" },
      end_user_id: "u1",
    },
  });
  assert.ok(!JSON.stringify(events.recorded).includes("hunter2"));
});

test("fields that the provider rejects, that are too large or that have expired are invalid", async () => {
  const tenantId = freshTenant();
  const past = timestampFromMs(nowMs - 1);
  const refusals: readonly (readonly [Request, RegExp])[] = [
    [{ providerKey: "pigeon" }, /^provider_key: is not known/],
    [{ settings: { text: "x".repeat(17_000) } }, /^settings:/],
    [{ credentials: Object.fromEntries([..."abcde"].map((name) => [name, "x".repeat(16_000)])) }, /^credentials:/],
    [{ expiresAt: past }, /^expires_at:/],
    [{ authMode: "api_key" }, /^auth_mode: must be empty/],
  ];
  for (const [request, text] of refusals) {
    await assert.rejects(createConnection({ tenantId }, request), failsWith("INVALID_ARGUMENT", text));
  }
  const { totalSize } = await perform(db, { tenantId }, handlers.listConnections, ListConnectionsRequestSchema, {});
  assert.equal(totalSize, 0);
});

test("the fields of a provider of the catalogue are checked against its manifest, and their mode is found", async () => {
  const tenantId = freshTenant();
  const acme: Request = { providerKey: "acme", settings: {}, credentials: { token: "token" } };
  const made = await createConnection({ tenantId }, acme);
  assert.deepEqual([made.authMode, made.settings], ["api_key", { region: "eu" }]);
  const login = { user: "ada", password: "pass" };
  assert.equal((await createConnection({ tenantId }, { ...acme, credentials: login })).authMode, "two_step");
  const refusals: readonly (readonly [Request, RegExp])[] = [
    [{ ...acme, settings: { region: "Europe" } }, /^settings\.region: must have the format/],
    [{ ...acme, authMode: "api_key", credentials: { tokn: "t" } }, /^credentials\.tokn: is unknown; known are token/],
    [{ ...acme, authMode: "api_key", credentials: {} }, /^credentials\.token: is required: Token/],
    [{ ...acme, authMode: "oauth2", credentials: {} }, /^credentials: must have access_token or refresh_token/],
    [{ ...acme, authMode: "jwt" }, /^auth_mode: must be a mode of the provider: oauth2, oauth2_cc/],
  ];
  for (const [request, text] of refusals) {
    await assert.rejects(createConnection({ tenantId }, request), failsWith("INVALID_ARGUMENT", text));
  }
});

test("without a master key no connection can be created", async () => {
  const keyless = (await startNode({ ...shared, hasKeyring: false })).connections.handlers;
  await assert.rejects(
    createConnection({ tenantId: freshTenant() }, {}, keyless),
    failsWith("FAILED_PRECONDITION", /connector\.encryption_key/),
  );
});

test("opening a connection returns its credentials, and only for its own tenant", async () => {
  const tenantId = freshTenant();
  const { id } = await createConnection({ tenantId });
  const opened = (await connectors.open(tenantId, id)) as OpenConnection;
  assert.deepEqual(
    [opened.id, opened.tenantId, opened.providerKey, opened.mode, opened.settings, opened.credentials],
    [id, tenantId, "mail", "none", { host: "h" }, { password: "hunter2" }],
  );
  const other = freshTenant();
  assert.equal(await connectors.open(other, id), "connection_missing");
  assert.equal(await connectors.find(db.sql, other, id), undefined);
  assert.equal(await connectors.open(tenantId, "no id"), "connection_missing");
  await assert.rejects(
    perform(db, { tenantId: other }, handlers.revokeConnection, RevokeConnectionRequestSchema, { id }),
    failsWith("NOT_FOUND", /^No such connection\.$/),
  );
});

test("a ciphertext moved to another record cannot be decrypted", async () => {
  const tenantId = freshTenant();
  const [first, second] = [await createConnection({ tenantId }), await createConnection({ tenantId })];
  await db.sql`
    update connector_connections set ciphertext = (select ciphertext from connector_connections where id = ${first.id})
    where id = ${second.id}`;
  assert.equal(await connectors.open(tenantId, second.id), "decrypt_failed");
  assert.equal(typeof (await connectors.open(tenantId, first.id)), "object");
});

test("revocation erases the credentials, takes effect immediately and is idempotent", async () => {
  const tenantId = freshTenant();
  const { id } = await createConnection({ tenantId });
  await connectors.open(tenantId, id);
  const revoked = await revoke(tenantId, id);
  assert.deepEqual([revoked.status, revoked.providerRevocation], ["revoked", "not_offered"]);
  assert.ok(revoked.revokedAt);
  assert.deepEqual(await sealedOf(id), { ciphertext: "", keyId: "" });
  assert.equal(await connectors.open(tenantId, id), "revoked");
  assert.deepEqual(await revoke(tenantId, id), revoked);
  const revocations = events.recorded.filter(({ subject, type }) => subject === id && type === "connection.revoked");
  assert.equal(revocations.length, 1);
});

test("a connection that has expired or needs reauthorization cannot be opened", async () => {
  const tenantId = freshTenant();
  const { id } = await createConnection({ tenantId }, { expiresAt: timestampFromMs(nowMs + 1000) });
  assert.equal(typeof (await connectors.open(tenantId, id)), "object");
  nowMs += 1000;
  assert.equal(await connectors.open(tenantId, id), "expired");
  const other = await createConnection({ tenantId });
  await db.sql`update connector_connections set status = 'needs_reauth' where id = ${other.id}`;
  assert.equal(await connectors.open(tenantId, other.id), "needs_reauth");
});

test("lists are filtered by provider, status, end user and provider config, and paged", async () => {
  const tenantId = freshTenant();
  const endUser = { id: "u1" };
  const made = [
    await createConnection({ tenantId }, { endUser }),
    await createConnection({ tenantId }, { endUser }),
    await createConnection({ tenantId }),
  ];
  await db.sql`update connector_connections set provider_key = 'other' where id = ${made[1]!.id}`;
  await db.sql`update connector_connections set provider_config_id = 'config' where id = ${made[0]!.id}`;
  await revoke(tenantId, made[2]!.id);
  const list = (request: object) =>
    perform(db, { tenantId }, handlers.listConnections, ListConnectionsRequestSchema, request);
  const ids = async (request: object) => (await list(request)).connections.map(({ id }) => id);
  const all = made.map(({ id }) => id);
  assert.deepEqual(await ids({}), all);
  assert.deepEqual(await ids({ providerKey: "other" }), [all[1]]);
  assert.deepEqual(await ids({ status: "revoked" }), [all[2]]);
  assert.deepEqual(await ids({ providerKey: "mail", status: "active" }), [all[0]]);
  assert.deepEqual(await ids({ endUserId: "u1" }), [all[0], all[1]]);
  assert.deepEqual(await ids({ endUserId: "u1", providerKey: "other", status: "active" }), [all[1]]);
  assert.deepEqual(await ids({ endUserId: "u2" }), []);
  assert.deepEqual(await ids({ providerConfigId: "config" }), [all[0]]);
  assert.deepEqual(await ids({ providerConfigId: "config", status: "revoked" }), []);
  const first = await list({ pageSize: 2 });
  assert.deepEqual(await ids({ pageSize: 2, pageToken: first.nextPageToken }), [all[2]]);
  const user = await list({ pageSize: 1, endUserId: "u1", status: "active" });
  assert.deepEqual(await ids({ pageSize: 1, endUserId: "u1", status: "active", pageToken: user.nextPageToken }), [
    all[1],
  ]);
});

test("the maximum number of connections per tenant holds under concurrent creation, without a count of rows", async () => {
  const tenantId = freshTenant();
  const first = await createConnection({ tenantId });
  await db.sql`
    update connector_connection_counts set live_count = ${connectionsMax - 1} where tenant_id = ${tenantId}`;
  // Open the database connections first, so that the calls below really run concurrently.
  await Promise.all(Array.from({ length: 8 }, () => db.sql`select pg_sleep(0.05)`));
  const made = await Promise.allSettled(Array.from({ length: 8 }, () => createConnection({ tenantId })));
  assert.equal(made.filter(({ status }) => status === "fulfilled").length, 1);
  const [refused] = made.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
  assert.ok(failsWith("FAILED_PRECONDITION", /at most 100000 connections/)(refused!.reason));
  await revoke(tenantId, first.id);
  await revoke(tenantId, first.id);
  await createConnection({ tenantId });
  await assert.rejects(createConnection({ tenantId }), failsWith("FAILED_PRECONDITION"));
});

test("filtered lists of many connections read no more rows than they return", async () => {
  const tenantId = freshTenant();
  await db.sql`
    insert into connector_connections (tenant_id, id, environment_id, environment_key, name, provider_key, end_user, status,
      ciphertext, key_id, created_at, updated_at)
    select ${tenantId}, lpad(n::text, 26, '0'), ${tenantId}, 'production', 'c', case when n % 500 = 0 then 'rare' else 'mail' end,
      jsonb_build_object('id', 'u' || n), case when n % 5000 = 0 then 'needs_reauth' else 'active' end, '', 'k1', now(), now()
    from generate_series(1, ${sized(10_000, 100_000)}) n`;
  await db.sql`analyze connector_connections`;
  const plan = async (condition: string) => {
    const rows = await db.transaction((tx) =>
      tx.unsafe(`explain (analyze, format json)
        select id from connector_connections where tenant_id = '${tenantId}' and ${condition} order by id limit 51`),
    );
    const text = JSON.stringify(rows);
    return [...text.matchAll(/Actual Rows\\?": (\d+)/g)].map(([, count]) => Number(count));
  };
  for (const condition of ["provider_key = 'rare'", "status = 'needs_reauth'", "end_user ->> 'id' = 'u777'"]) {
    assert.ok(Math.max(...(await plan(condition))) <= 51, condition);
  }
  await db.sql`delete from connector_connections where tenant_id = ${tenantId}`;
});

test("credentials are re-encrypted when the master key changes and still open; those of revoked connections stay erased", async () => {
  const tenantId = freshTenant();
  const [{ id }, gone] = [await createConnection({ tenantId }), await createConnection({ tenantId })];
  await revoke(tenantId, gone.id);
  const rotation = createSecrets({
    db,
    keyring: createKeyring({ activeKeyId: "k2", keys: masterKeys }),
    events,
    platformTenantId: () => "",
    otherTables: [connectors.sealed],
  });
  const { signal } = new AbortController();
  const { reencrypted } = await rotation.reencryptAll(signal);
  assert.ok(reencrypted > 0);
  const { ciphertext, keyId } = await sealedOf(id);
  assert.equal(keyId, "k2");
  assert.match(ciphertext, /^xc1:k2:/);
  assert.deepEqual(await sealedOf(gone.id), { ciphertext: "", keyId: "" });
  const left = await connectors.sealed.next("k2", undefined, 1000);
  assert.equal(
    left.some((each) => each.id === gone.id),
    false,
  );
  assert.equal((await rotation.reencryptAll(signal)).reencrypted, 0);
  const rotated = (await startNode({ ...shared, keyring: keyringOf(masterKeys.k2, "k2") })).connections;
  assert.deepEqual(((await rotated.open(tenantId, id)) as OpenConnection).credentials, { password: "hunter2" });
  const stale = (await startNode({ ...shared, keyring: keyringOf() })).connections;
  assert.equal(await stale.open(tenantId, id), "decrypt_failed");
});
