import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { beforeEach, test } from "node:test";
import {
  CreateConnectionRequestSchema,
  GetConnectionRequestSchema,
  RefreshConnectionRequestSchema,
} from "../../../../../gen/service/api/connection_pb.ts";
import { failsWith, freshTenant, perform, recordedEvents } from "../../../../../test/harness/context.ts";
import { sized } from "../../../../../test/harness/run-size.ts";
import { until } from "../../../../../test/harness/until.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { createKeyring, reencrypt } from "../../../../platform/crypto/index.ts";
import type { ConnectionFailure, OpenConnection } from "../index.ts";
import {
  type ConnectionNode,
  insertConfig,
  insertProduction,
  keyringOf,
  masterKey,
  nodesDatabase,
  oauth2On,
  providerOn,
  startNode,
} from "../testing/connection-nodes.ts";
import { json, startTokenServer } from "../testing/token-server.ts";
import { leaseStore } from "./lease-store.ts";

const url = await nodesDatabase();
const server = await startTokenServer();
const events = recordedEvents();
let nowMs = Date.now();
const providers = [
  providerOn(server.port),
  providerOn(server.port, { key: "idler", auth: { oauth2: oauth2On(server.port, { refresh: { idle_s: 86_400 } }) } }),
];
const shared = { url, providers, nowMs: () => nowMs, events: events as never };
const node = await startNode(shared);
const { connections, db } = node;

beforeEach(() => {
  Object.assign(server, { script: undefined, graceMs: 0, rotates: true, expiresInS: 3600 });
  server.requests.length = 0;
});

interface Made {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly refreshToken: string;
  readonly providerConfigId: string;
}

/** Creates a connection with a grant of the server. Its access token is valid for this time. */
async function connect(validMs: number, providerKey = "acme"): Promise<Made> {
  const tenantId = freshTenant();
  const providerConfigId = await insertConfig(db, tenantId, providerKey);
  const { accessToken, refreshToken } = server.issue();
  const { connection } = await perform(
    db,
    { tenantId, nowMs },
    connections.handlers.createConnection,
    CreateConnectionRequestSchema,
    {
      ...{ name: "Acme", providerKey, authMode: "oauth2", providerConfigId },
      credentials: { access_token: accessToken, refresh_token: refreshToken },
    },
  );
  const id = connection!.id;
  await db.sql`
    update connector_connections set expires_at = ${new Date(nowMs + validMs)}, last_refreshed_at = ${new Date(nowMs - 3_600_000)}
    where id = ${id}`;
  return { tenantId, id, refreshToken, providerConfigId };
}

const tokenOf = (opened: OpenConnection | ConnectionFailure) =>
  typeof opened === "string" ? opened : opened.credentials.access_token!;
const rowOf = async ({ id }: Made) =>
  (
    await db.sql<{ status: string; statusReason: string; lastRefreshError: string; credentialVersion: number }[]>`
      select status, status_reason, last_refresh_error, credential_version from connector_connections where id = ${id}`
  )[0]!;
const refreshesOf = ({ refreshToken }: Made) =>
  server.requests.filter(({ fields }) => fields.refresh_token === refreshToken).length;
const requestRefresh = ({ tenantId, id }: Made, by: ConnectionNode = node) =>
  perform(db, { tenantId, nowMs }, by.connections.handlers.refreshConnection, RefreshConnectionRequestSchema, { id });

test("an expired token is refreshed when the connection is opened, and the refresh token is not handed out", async () => {
  const made = await connect(-1);
  const opened = (await connections.open(made.tenantId, made.id)) as OpenConnection;
  assert.ok(server.isValid(opened.credentials.access_token!));
  assert.deepEqual([Object.keys(opened.credentials), opened.credentialVersion], [["access_token"], 2]);
  assert.equal(tokenOf(await connections.open(made.tenantId, made.id)), opened.credentials.access_token);
  assert.equal(refreshesOf(made), 1);
  const { connection } = await perform(
    db,
    { tenantId: made.tenantId },
    connections.handlers.getConnection,
    GetConnectionRequestSchema,
    { id: made.id },
  );
  assert.equal(Number(connection!.expiresAt!.seconds), Math.floor((nowMs + 3_600_000) / 1000));
  assert.match(await node.metrics.render(), /connector_refreshes_total\{cause="due",outcome="refreshed"\} [1-9]/);
});

test("a token that expires soon is used at once and refreshed in the background", async () => {
  const made = await connect(60_000);
  const first = tokenOf(await connections.open(made.tenantId, made.id));
  await until(async () => (await rowOf(made)).credentialVersion === 2);
  await until(async () => tokenOf(await connections.open(made.tenantId, made.id)) !== first);
  assert.equal(refreshesOf(made), 1);
  const later = await connect(600_000);
  await connections.open(later.tenantId, later.id);
  await connections.idle();
  assert.equal(refreshesOf(later), 0);
  assert.notEqual(tokenOf(await connections.open(later.tenantId, later.id, { minValidMs: 700_000 })), first);
  assert.equal(refreshesOf(later), 1);
});

test("an answer without a refresh token leaves the previous one in place", async () => {
  server.rotates = false;
  const made = await connect(-1);
  for (let round = 1; round <= 3; round++) {
    await connections.open(made.tenantId, made.id);
    assert.equal(refreshesOf(made), round);
    nowMs += 3_600_000;
  }
});

test("many callers on three nodes with an expired token cause exactly one refresh", async () => {
  const nodes = [await startNode(shared), await startNode(shared), await startNode(shared)];
  for (let round = 0; round < sized(1, 20); round++) {
    const made = await connect(-1);
    const count = sized(150, 1000);
    const opened = await Promise.all(
      Array.from({ length: count }, (_, at) => nodes[at % 3]!.connections.open(made.tenantId, made.id)),
    );
    assert.equal(new Set(opened.map(tokenOf)).size, 1);
    assert.ok(server.isValid(tokenOf(opened[0]!)));
    assert.equal(refreshesOf(made), 1);
  }
});

test("a node that misses the signal of a refresh elsewhere still uses the new token at once", async () => {
  const deaf = await startNode(shared);
  const made = await connect(600_000);
  await deaf.connections.open(made.tenantId, made.id);
  await deaf.signals.stop();
  nowMs += 600_001;
  const fresh = tokenOf(await connections.open(made.tenantId, made.id));
  assert.equal(tokenOf(await deaf.connections.open(made.tenantId, made.id)), fresh);
  assert.equal(refreshesOf(made), 1);
});

test("a node that was told that its token was rejected opens the token that another node has refreshed", async () => {
  const deaf = await startNode(shared);
  const made = await connect(600_000);
  const { tenantId, id } = made;
  await deaf.connections.open(tenantId, id);
  await deaf.signals.stop();
  await requestRefresh(made);
  assert.equal(await deaf.connections.markRejected(tenantId, id, 1), "renewed");
  assert.ok(server.isValid(tokenOf(await deaf.connections.open(tenantId, id))));
  assert.equal(((await deaf.connections.open(tenantId, id)) as OpenConnection).credentialVersion, 2);
});

test("a refused grant makes the connection need reauthorization, with one event and no further requests", async () => {
  const made = await connect(-1);
  server.invalidate(made.refreshToken);
  assert.equal(await connections.open(made.tenantId, made.id), "needs_reauth");
  assert.equal(await connections.open(made.tenantId, made.id), "needs_reauth");
  assert.equal(refreshesOf(made), 1);
  const { status, statusReason } = await rowOf(made);
  assert.deepEqual([status, statusReason], ["needs_reauth", "grant_rejected"]);
  const recorded = events.recorded.filter(({ subject }) => subject === made.id).slice(1);
  assert.deepEqual(recorded, [
    {
      tenantId: made.tenantId,
      type: "connection.needs_reauth",
      subject: made.id,
      data: {
        ...{ name: "Acme", environment_id: await insertProduction(db, made.tenantId) },
        ...{ provider_key: "acme", provider_config_id: made.providerConfigId },
        ...{ end_user_id: "", reason: "grant_rejected" },
      },
    },
  ]);
  await assert.rejects(requestRefresh(made), failsWith("CONNECTION_UNUSABLE", /grant access again/));
});

test("a refused grant changes nothing if another grant was stored in the meantime", async () => {
  const made = await connect(-1);
  server.script = async ({ path }, response) => {
    if (path !== "/token") return undefined;
    const { accessToken, refreshToken } = server.issue();
    const stored = await connections.storeGrant(
      { tenantId: made.tenantId, sql: db.sql, nowMs, afterCommit: (action) => void action() },
      {
        ...{ connectionId: made.id, name: "", endUser: undefined, providerKey: "acme" },
        ...{ environmentId: made.id, environmentKey: "production" },
        providerConfigId: made.providerConfigId,
        ...{ authMode: "oauth2", manifestVersion: "1.0.0", manifestDigest: "", scopes: [], settings: {}, captured: {} },
        ...{ account: { id: "", label: "" }, accountChoices: [] },
        ...{ expiresAt: null, idleS: undefined, lifetimeS: undefined },
        credentials: { access_token: accessToken, refresh_token: refreshToken },
      },
    );
    assert.equal(typeof stored, "object");
    json(response, 400, { error: "invalid_grant" });
    return true;
  };
  assert.ok(server.isValid(tokenOf(await connections.open(made.tenantId, made.id))));
  assert.equal((await rowOf(made)).status, "active");
});

test("a provider that is unavailable is asked again after a back-off, or when a caller requests it", async () => {
  const made = await connect(-1);
  server.script = (_request, response) => {
    response.writeHead(503).end();
    return true;
  };
  assert.equal(await connections.open(made.tenantId, made.id), "refresh_failed");
  assert.equal(await connections.open(made.tenantId, made.id), "refresh_failed");
  assert.equal(refreshesOf(made), 1);
  const failed = await rowOf(made);
  assert.deepEqual([failed.status, failed.lastRefreshError], ["active", "http_503"]);
  await assert.rejects(requestRefresh(made), failsWith("CONNECTOR_UNAVAILABLE", /http_503/));
  assert.equal(refreshesOf(made), 2);
  server.script = undefined;
  const { connection } = (await requestRefresh(made)) as { connection: { status: string; lastRefreshError: string } };
  assert.deepEqual([connection.status, connection.lastRefreshError], ["active", ""]);
  assert.ok(server.isValid(tokenOf(await connections.open(made.tenantId, made.id))));
});

test("a connection shows its last token requests, newest first and without secrets", async () => {
  const made = await connect(-1);
  const log = async () => {
    const { tenantId, id } = made;
    const { getConnection } = connections.handlers;
    const { connection } = await perform(db, { tenantId }, getConnection, GetConnectionRequestSchema, { id });
    return connection!.attempts.map(({ kind, cause, outcome, code }) => [kind, cause, outcome, code].join(" "));
  };
  assert.deepEqual(await log(), []);
  server.script = (_request, response) => {
    response.writeHead(503).end();
    return true;
  };
  await connections.open(made.tenantId, made.id);
  server.script = (_request, response) => {
    response.writeHead(200).end("no token here");
    return true;
  };
  await assert.rejects(requestRefresh(made));
  server.script = undefined;
  await requestRefresh(made);
  const last = await log();
  assert.deepEqual([last[0], last[2]], ["refresh requested succeeded ", "refresh due unavailable http_503"]);
  assert.match(last[1]!, /^refresh requested malformed \w+$/);
  for (let round = 0; round < 20; round++) await requestRefresh(made);
  assert.deepEqual(await log(), Array(20).fill("refresh requested succeeded "));
  const [row] = await db.sql<
    { log: string }[]
  >`select attempts::text as log from connector_connections where id = ${made.id}`;
  for (const { fields } of server.requests) assert.ok(!row!.log.includes(fields.refresh_token!));
});

test("a token that is still valid is used while the provider is unavailable", async () => {
  const made = await connect(10_000);
  server.script = (_request, response) => {
    response.writeHead(500).end();
    return true;
  };
  assert.equal(typeof (await connections.open(made.tenantId, made.id)), "object");
});

test("a refused client is a fault of the provider config, not of the grant", async () => {
  const made = await connect(-1);
  server.script = (_request, response) => {
    json(response, 401, { error: "invalid_client" });
    return true;
  };
  assert.equal(await connections.open(made.tenantId, made.id), "refresh_failed");
  const { status, lastRefreshError } = await rowOf(made);
  assert.deepEqual([status, lastRefreshError], ["active", "invalid_client"]);
});

for (const graceMs of [60_000, 0]) {
  const outcome = graceMs > 0 ? "is repeated within the provider's grace" : "ends truthfully without grace";
  test(`a refresh whose answer is lost after the token was spent ${outcome}`, async () => {
    const made = await connect(-1);
    server.graceMs = graceMs;
    server.script = ({ fields }, response) => {
      // The server spends the token, and the answer never arrives.
      server.script = undefined;
      server.spend(fields.refresh_token!);
      response.destroy();
      return true;
    };
    assert.equal(await connections.open(made.tenantId, made.id), "refresh_failed");
    assert.equal((await rowOf(made)).status, "active");
    await assert.doesNotReject(
      requestRefresh(made).catch((error) => assert.ok(failsWith("CONNECTION_UNUSABLE")(error))),
    );
    const { status, statusReason } = await rowOf(made);
    assert.deepEqual([status, statusReason], graceMs > 0 ? ["active", ""] : ["needs_reauth", "refresh_interrupted"]);
  });
}

test("a node that holds the lease is waited for, and no refresh starts without the lease", async () => {
  const impatient = await startNode({ ...shared, times: { waitMs: 300 } });
  const made = await connect(-1);
  const held = await leaseStore(db.sql).claim(made, 60_000, false);
  assert.ok("fence" in held);
  assert.equal(await impatient.connections.open(made.tenantId, made.id), "refresh_failed");
  assert.equal(refreshesOf(made), 0);
  const waiting = connections.open(made.tenantId, made.id);
  await leaseStore(db.sql).release(made, held.fence);
  assert.ok(server.isValid(tokenOf(await waiting)));
  assert.equal(refreshesOf(made), 1);
});

test("an answer that comes after the lease has ended never replaces newer credentials", async () => {
  const slow = await startNode({ ...shared, times: { leaseMs: 200 } });
  const made = await connect(-1);
  server.graceMs = 60_000;
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  server.script = async ({ path }) => {
    if (path !== "/token") return undefined;
    server.script = undefined;
    await answered;
    return undefined;
  };
  const late = slow.connections.open(made.tenantId, made.id);
  await until(() => refreshesOf(made) === 1);
  // The other node takes over as soon as the lease ends.
  const fresh = tokenOf(await connections.open(made.tenantId, made.id));
  assert.ok(server.isValid(fresh));
  answer();
  assert.equal(tokenOf(await late), fresh);
  assert.equal((await rowOf(made)).credentialVersion, 2);
});

test("an answer that comes after the lease has ended is stored if nobody has newer credentials", async () => {
  const slow = await startNode({ ...shared, times: { leaseMs: 200 } });
  const made = await connect(-1);
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  server.script = async ({ fields }) => {
    if (fields.refresh_token !== made.refreshToken) return undefined;
    server.script = (_request, response) => {
      json(response, 400, { error: "invalid_grant" });
      return true;
    };
    await answered;
    return undefined;
  };
  const late = slow.connections.open(made.tenantId, made.id);
  await until(() => refreshesOf(made) === 1);
  // The other node uses the token that the slow request spends, and the provider refuses it.
  assert.equal(await connections.open(made.tenantId, made.id), "needs_reauth");
  assert.equal((await rowOf(made)).statusReason, "refresh_interrupted");
  server.script = undefined;
  answer();
  assert.ok(server.isValid(tokenOf(await late)));
  assert.equal((await rowOf(made)).status, "active");
});

test("without a refresh token an expired connection needs reauthorization, and a valid one cannot be refreshed", async () => {
  const made = await connect(600_000);
  const { connection } = await perform(
    db,
    { tenantId: made.tenantId, nowMs },
    connections.handlers.createConnection,
    CreateConnectionRequestSchema,
    { name: "n", providerKey: "acme", authMode: "oauth2", credentials: { access_token: "access" } },
  );
  const single = { ...made, id: connection!.id };
  await assert.rejects(requestRefresh(single), failsWith("FAILED_PRECONDITION", /cannot be refreshed/));
  assert.equal((await rowOf(single)).status, "active");
  await db.sql`update connector_connections set expires_at = ${new Date(nowMs - 1)} where id = ${single.id}`;
  assert.equal(await (await startNode(shared)).connections.open(made.tenantId, single.id), "needs_reauth");
  assert.equal((await rowOf(single)).statusReason, "refresh_token_missing");
});

test("rejected credentials are refreshed once; if the provider rejects fresh ones too, the end user is needed", async () => {
  const made = await connect(600_000);
  server.script = ({ path }, response) => {
    if (path !== "/me") return undefined;
    json(response, 401, { message: "Bad credentials" });
    return true;
  };
  const { tenantId, id } = made;
  assert.equal(await connections.markRejected(tenantId, id, 1), "renewed");
  assert.equal(await connections.markRejected(tenantId, id, 1), "renewed");
  assert.equal(refreshesOf(made), 1);
  assert.equal(await connections.markRejected(tenantId, id, 2), "needs_reauth");
  assert.equal((await rowOf(made)).statusReason, "credentials_rejected");
  assert.equal(await connections.markRejected(tenantId, id, 2), "needs_reauth");
  assert.equal(await connections.markRejected(freshTenant(), id, 2), "connection_missing");
});

test("rejected keys cannot be refreshed: the connection needs reauthorization", async () => {
  const tenantId = freshTenant();
  await insertProduction(db, tenantId);
  const request = { name: "n", providerKey: "acme", credentials: { token: "token" } };
  const { createConnection } = connections.handlers;
  const { connection } = await perform(
    db,
    { tenantId, nowMs },
    createConnection,
    CreateConnectionRequestSchema,
    request,
  );
  assert.equal(await connections.markRejected(tenantId, connection!.id, 1), "needs_reauth");
  assert.equal(await connections.open(tenantId, connection!.id), "needs_reauth");
});

test("a sweep uses refresh tokens before they end for lack of use, and repeats interrupted refreshes", async () => {
  const sweep = connections.jobs.find(({ kind }) => kind === "connector.refresh_sweep")!;
  const run = () =>
    sweep.handler({ tenantId: "", id: "", payload: {}, attempt: 1, signal: new AbortController().signal });
  const idle = await connect(600_000, "idler");
  await run();
  assert.equal(refreshesOf(idle), 0);
  nowMs += 0.8 * 86_400_000;
  await run();
  assert.equal(refreshesOf(idle), 1);
  await run();
  assert.equal((await rowOf(idle)).credentialVersion, 2);

  const interrupted = await connect(-1);
  const lease = await leaseStore(db.sql).claim(interrupted, 1, false);
  assert.ok("fence" in lease);
  await db.sql`
    update connector_refresh_leases set attempted_version = 1 where connection_id = ${interrupted.id}`;
  await until(async () => {
    await run();
    return (await rowOf(interrupted)).credentialVersion === 2;
  });
});

test("refreshes and a re-encryption at the same time lose nothing", async () => {
  const keys = { k1: masterKey, k2: randomBytes(32).toString("base64") };
  const keyring = createKeyring({ activeKeyId: "k2", keys });
  const rotated = await startNode({ ...shared, keyring });
  const made = await Promise.all(Array.from({ length: 6 }, () => connect(-1)));
  const { signal } = new AbortController();
  for (let round = 0; round < sized(3, 30); round++) {
    const [, ...opened] = await Promise.all([
      reencrypt(keyring, rotated.connections.sealed, signal),
      ...made.map(({ tenantId, id }, at) => (at % 2 ? rotated : node).connections.open(tenantId, id)),
    ]);
    // A node without the new key cannot read what was sealed with it, and must not break it.
    for (const [at, each] of opened.entries())
      if (at % 2 === 1) assert.ok(server.isValid(tokenOf(each)), tokenOf(each));
    nowMs += 3_600_001;
  }
  await reencrypt(keyring, rotated.connections.sealed, signal);
  for (const { tenantId, id } of made) {
    assert.ok(server.isValid(tokenOf(await rotated.connections.open(tenantId, id))));
  }
});

test("a node that lacks the master key does not hide that a refresh was interrupted", async () => {
  const keyless = await startNode({ ...shared, keyring: keyringOf(randomBytes(32).toString("base64")) });
  const made = await connect(-1);
  server.script = ({ fields }, response) => {
    server.script = undefined;
    server.spend(fields.refresh_token!);
    response.destroy();
    return true;
  };
  assert.equal(await connections.open(made.tenantId, made.id), "refresh_failed");
  await assert.rejects(requestRefresh(made, keyless), failsWith("CONNECTOR_UNAVAILABLE", /decrypt_failed/));
  await assert.rejects(requestRefresh(made), failsWith("CONNECTION_UNUSABLE"));
  assert.equal((await rowOf(made)).statusReason, "refresh_interrupted");
});

test("a sweep does not try a refresh token without pause while the provider is unavailable", async () => {
  const sweep = connections.jobs.find(({ kind }) => kind === "connector.refresh_sweep")!;
  const made = await connect(600_000, "idler");
  nowMs += 0.8 * 86_400_000;
  server.script = (_request, response) => {
    response.writeHead(503).end();
    return true;
  };
  for (let round = 0; round < 3; round++) {
    await sweep.handler({ tenantId: "", id: "", payload: {}, attempt: 1, signal: new AbortController().signal });
  }
  assert.equal(refreshesOf(made), 1);
  assert.equal((await rowOf(made)).status, "active");
});
