import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import {
  CreateConnectionRequestSchema,
  RevokeConnectionRequestSchema,
} from "../../../../../gen/service/api/connection_pb.ts";
import { freshTenant, perform } from "../../../../../test/harness/context.ts";
import { until } from "../../../../../test/harness/until.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { OpenConnection } from "../index.ts";
import { insertConfig, nodesDatabase, oauth2On, providerOn, startNode } from "../testing/connection-nodes.ts";
import { json, startTokenServer } from "../testing/token-server.ts";

const url = await nodesDatabase();
const server = await startTokenServer();
const oauth2 = oauth2On(server.port, { captured: { team: "/team" } });
const { connections, db } = await startNode({ url, providers: [providerOn(server.port, { auth: { oauth2 } })] });

beforeEach(() => {
  Object.assign(server, { script: undefined, expiresInS: 3600 });
});

interface Made {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly refreshToken: string;
}

/** Creates a connection whose first use needs a refresh. */
async function connect(): Promise<Made> {
  const tenantId = freshTenant();
  const providerConfigId = await insertConfig(db, tenantId);
  const { refreshToken } = server.issue();
  const { connection } = await perform(
    db,
    { tenantId },
    connections.handlers.createConnection,
    CreateConnectionRequestSchema,
    {
      ...{ name: "Acme", providerKey: "acme", authMode: "oauth2", providerConfigId },
      credentials: { refresh_token: refreshToken },
    },
  );
  return { tenantId, id: connection!.id, refreshToken };
}

const open = ({ tenantId, id }: Made) => connections.open(tenantId, id) as Promise<OpenConnection>;
const rowOf = async ({ id }: Made) =>
  (
    await db.sql<{ status: string; credentialVersion: number; scopes: string[]; expiresAt: Date }[]>`
      select status, credential_version, scopes, expires_at from connector_connections where id = ${id}`
  )[0]!;

/** Answers the next token request with new tokens and further members. */
function answerWith(members: object): void {
  server.script = (_request, response) => {
    server.script = undefined;
    const { accessToken, refreshToken } = server.issue();
    json(response, 200, { access_token: accessToken, refresh_token: refreshToken, expires_in: 3600, ...members });
    return true;
  };
}

/** Resolves when this many sessions of the database wait for locks. */
const waitForLocks = (count: number) =>
  until(async () => {
    const rows = await db.sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return rows.length >= count;
  });

test("new tokens are not lost when the database fails while they are stored", async () => {
  await db.sql`create sequence lost_writes`;
  await db.sql`
    create function lose_write() returns trigger language plpgsql as $$
    begin
      if nextval('lost_writes') <= 2 then raise exception 'lost' using errcode = '08006'; end if;
      return new;
    end $$`;
  await db.sql`
    create trigger lose_write before update of ciphertext on connector_connections
    for each row execute function lose_write()`;
  try {
    const made = await connect();
    assert.ok(server.isValid((await open(made)).credentials.access_token!));
    const { status, credentialVersion } = await rowOf(made);
    assert.deepEqual([status, credentialVersion], ["active", 2]);
  } finally {
    await db.sql`drop trigger lose_write on connector_connections`;
  }
});

test("a lifetime without measure is stored as a long one", async () => {
  // The time in milliseconds instead of a lifetime.
  server.expiresInS = 1_800_000_000_000;
  const made = await connect();
  assert.ok(server.isValid((await open(made)).credentials.access_token!));
  const { expiresAt } = await rowOf(made);
  assert.ok(expiresAt.getUTCFullYear() > 2100 && expiresAt.getUTCFullYear() < 2200, expiresAt.toISOString());
});

test("tokens are stored although their answer contains text that no column can store", async () => {
  const made = await connect();
  answerWith({ team: "blue\0 \ud83d", scope: "read\0 write" });
  const opened = await open(made);
  assert.ok(server.isValid(opened.credentials.access_token!));
  assert.deepEqual(opened.captured, { team: "blue  \ufffd" });
  assert.deepEqual((await rowOf(made)).scopes, ["read", "write"]);
});

for (const isRefused of [true, false]) {
  test(`a revocation during a refresh that is ${isRefused ? "refused" : "granted"} succeeds`, async () => {
    const made = await connect();
    const { tenantId, id } = made;
    if (isRefused) server.invalidate(made.refreshToken);
    const requested = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<void>();
    server.script = async () => {
      server.script = undefined;
      requested.resolve();
      await answered.promise;
      return undefined;
    };
    const opening = open(made);
    await requested.promise;
    // The lock stops the revocation between the connection and its lease.
    const locked = Promise.withResolvers<void>();
    const unlock = Promise.withResolvers<void>();
    const locking = db.transaction(async (sql) => {
      await sql`select from connector_connection_counts where tenant_id = ${tenantId} for update`;
      locked.resolve();
      await unlock.promise;
    });
    await locked.promise;
    const { revokeConnection } = connections.handlers;
    const revoking = perform(db, { tenantId }, revokeConnection, RevokeConnectionRequestSchema, { id });
    await waitForLocks(1);
    answered.resolve();
    await waitForLocks(2);
    unlock.resolve();
    await Promise.all([locking, revoking]);
    assert.equal(await opening, "revoked");
    // The new tokens are kept until they are revoked at the provider.
    const { status, credentialVersion } = await rowOf(made);
    assert.deepEqual([status, credentialVersion], ["revoked", isRefused ? 1 : 2]);
  });
}
