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
import { announcedChanges } from "../../../../test/harness/changes.ts";
import {
  type ContextChoice,
  failsWith,
  freshTenant,
  perform,
  recordedEvents,
  testDatabase,
} from "../../../../test/harness/context.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import { createKeyring, type Keyring } from "../../../platform/crypto/index.ts";
import { createCursors } from "../../../platform/cursor/index.ts";
import { createSignals, createTenantChanges } from "../../../platform/db/index.ts";
import { createSecrets } from "../../tenancy/index.ts";
import { connectionsMax } from "./domain/connection.ts";
import { createConnections, type OpenConnection } from "./index.ts";

const db = await testDatabase(20);
const events = recordedEvents();
const masterKeys = { k1: randomBytes(32).toString("base64"), k2: randomBytes(32).toString("base64") };
const cursors = createCursors(randomBytes(32));
let nowMs = Date.parse("2027-01-31T12:00:00Z");

function nodeWith(keyring: Keyring | undefined) {
  const { changes: announced, standing } = announcedChanges();
  const changes = { ...announced, record: createTenantChanges(db, createSignals(db)).record };
  const connectors = createConnections({
    db,
    side: db,
    clock: { now: () => nowMs },
    cursors,
    changes,
    events,
    keyring,
    check: (providerKey) =>
      providerKey === "mail" ? [] : [{ field: "provider_key", rule: "unknown", message: "is not known" }],
  });
  return { connectors, changes, standing };
}

const { connectors } = nodeWith(createKeyring({ activeKeyId: "k1", keys: { k1: masterKeys.k1 } }));
const { handlers } = connectors;

type Request = MessageInitShape<typeof CreateConnectionRequestSchema>;
const defaults: Request = {
  name: "Mail",
  providerKey: "mail",
  settings: { host: "h" },
  credentials: { password: "hunter2" },
};
async function createConnection(choice: ContextChoice, more: Request = {}, by = handlers) {
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
    [made.name, made.providerKey, made.status, made.settings],
    ["Mail", "mail", "active", { host: "h" }],
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
    data: { name: "Mail", provider_key: "mail" },
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
  ];
  for (const [request, text] of refusals) {
    await assert.rejects(createConnection({ tenantId }, request), failsWith("INVALID_ARGUMENT", text));
  }
  const { totalSize } = await perform(db, { tenantId }, handlers.listConnections, ListConnectionsRequestSchema, {});
  assert.equal(totalSize, 0);
});

test("without a master key no connection can be created", async () => {
  const keyless = nodeWith(undefined).connectors.handlers;
  await assert.rejects(
    createConnection({ tenantId: freshTenant() }, {}, keyless),
    failsWith("FAILED_PRECONDITION", /connector\.encryption_key/),
  );
});

test("opening a connection returns its credentials, and only for its own tenant", async () => {
  const tenantId = freshTenant();
  const { id } = await createConnection({ tenantId });
  assert.deepEqual(await connectors.open(tenantId, id), {
    id,
    providerKey: "mail",
    settings: { host: "h" },
    credentials: { password: "hunter2" },
  });
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
  assert.equal(revoked.status, "revoked");
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
  assert.equal(await connectors.open(tenantId, id), "refresh_failed");
  const other = await createConnection({ tenantId });
  await db.sql`update connector_connections set status = 'needs_reauth' where id = ${other.id}`;
  assert.equal(await connectors.open(tenantId, other.id), "refresh_failed");
});

test("connections are opened from the cache until their tenant changes, and never from a stale cache", async () => {
  const keyring = createKeyring({ activeKeyId: "k1", keys: { k1: masterKeys.k1 } });
  const node = nodeWith(keyring);
  const tenantId = freshTenant();
  const { id } = await createConnection({ tenantId });
  const host = async () => ((await node.connectors.open(tenantId, id)) as OpenConnection).settings.host;
  const change = (value: string) =>
    db.sql`update connector_connections set settings = ${db.sql.json({ host: value })} where id = ${id}`;
  assert.equal(await host(), "h");
  await change("second");
  assert.equal(await host(), "h", "no change was published");
  node.changes.published(tenantId);
  assert.equal(await host(), "second");
  node.standing.fresh = false;
  await change("third");
  assert.equal(await host(), "third");
});

test("lists are filtered by provider and status, and paged", async () => {
  const tenantId = freshTenant();
  const made = [
    await createConnection({ tenantId }),
    await createConnection({ tenantId }),
    await createConnection({ tenantId }),
  ];
  await db.sql`update connector_connections set provider_key = 'other' where id = ${made[1]!.id}`;
  await revoke(tenantId, made[2]!.id);
  const list = (request: object) =>
    perform(db, { tenantId }, handlers.listConnections, ListConnectionsRequestSchema, request);
  const ids = async (request: object) => (await list(request)).connections.map(({ id }) => id);
  assert.deepEqual(
    await ids({}),
    made.map(({ id }) => id),
  );
  assert.deepEqual(await ids({ providerKey: "other" }), [made[1]!.id]);
  assert.deepEqual(await ids({ status: "revoked" }), [made[2]!.id]);
  assert.deepEqual(await ids({ providerKey: "mail", status: "active" }), [made[0]!.id]);
  const first = await list({ pageSize: 2 });
  assert.deepEqual(await ids({ pageSize: 2, pageToken: first.nextPageToken }), [made[2]!.id]);
});

test("the maximum number of connections per tenant holds under concurrent creation", async () => {
  const tenantId = freshTenant();
  await db.sql`
    insert into connector_connections (tenant_id, id, name, provider_key, status, ciphertext, key_id, created_at, updated_at)
    select ${tenantId}, lpad(n::text, 26, '0'), 'c', 'mail', 'active', 'xc1:k9:AAAA', 'k1', now(), now()
    from generate_series(1, ${connectionsMax - 1}) n`;
  // Open the database connections first, so that the calls below really run concurrently.
  await Promise.all(Array.from({ length: 8 }, () => db.sql`select pg_sleep(0.05)`));
  const made = await Promise.allSettled(Array.from({ length: 8 }, () => createConnection({ tenantId })));
  assert.equal(made.filter(({ status }) => status === "fulfilled").length, 1);
  await revoke(tenantId, "1".padStart(26, "0"));
  await createConnection({ tenantId });
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
    cursors,
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
  const rotated = nodeWith(createKeyring({ activeKeyId: "k2", keys: { k2: masterKeys.k2 } })).connectors;
  assert.deepEqual(((await rotated.open(tenantId, id)) as OpenConnection).credentials, { password: "hunter2" });
  const stale = nodeWith(createKeyring({ activeKeyId: "k1", keys: { k1: masterKeys.k1 } })).connectors;
  assert.equal(await stale.open(tenantId, id), "decrypt_failed");
});
