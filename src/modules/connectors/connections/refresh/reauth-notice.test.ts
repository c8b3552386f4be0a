import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  CreateConnectionRequestSchema,
  RefreshConnectionRequestSchema,
  RevokeConnectionRequestSchema,
} from "../../../../../gen/service/api/connection_pb.ts";
import { contextFor, freshTenant, perform, recordedEvents } from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import { optionalTime } from "../../../../platform/records/index.ts";
import {
  insertConfig,
  insertProduction,
  nodesDatabase,
  oauth2On,
  providerOn,
  startNode,
} from "../testing/connection-nodes.ts";
import { json, startTokenServer } from "../testing/token-server.ts";

const dayMs = 86_400_000;
const url = await nodesDatabase();
const server = await startTokenServer();
const events = recordedEvents();
let nowMs = Date.now();
const providers = [
  providerOn(server.port),
  providerOn(server.port, {
    key: "yearly",
    auth: { oauth2: oauth2On(server.port, { refresh: { mode: "rotate", lifetime_s: 365 * 86_400 } }) },
  }),
];
const node = await startNode({ url, providers, nowMs: () => nowMs, events: events as never });
const { connections, db } = node;
const sweep = connections.jobs.find(({ kind }) => kind === "connector.refresh_sweep")!;
const run = () =>
  sweep.handler({ tenantId: "", id: "", payload: {}, attempt: 1, signal: new AbortController().signal });

beforeEach(() => {
  events.recorded.length = 0;
});

type Request = MessageInitShape<typeof CreateConnectionRequestSchema>;
async function connect(tenantId: TenantId, request: Request): Promise<string> {
  const whole = { name: "Main", providerKey: "yearly", endUser: { id: "u1" }, ...request } as Request;
  await insertProduction(db, tenantId);
  const { createConnection } = connections.handlers;
  return (await perform(db, { tenantId, nowMs }, createConnection, CreateConnectionRequestSchema, whole)).connection!
    .id;
}

async function connectYearly(tenantId: TenantId): Promise<string> {
  const { accessToken, refreshToken } = server.issue();
  return connect(tenantId, {
    ...{ authMode: "oauth2", providerConfigId: await insertConfig(db, tenantId, "yearly") },
    credentials: { access_token: accessToken, refresh_token: refreshToken },
  });
}

const notices = (id: string) =>
  events.recorded.filter(({ type, subject }) => type === "connection.reauth_due" && subject === id);

test("a grant with a fixed lifetime is announced once, 14 days before it ends, while the connection still works", async () => {
  const tenantId = freshTenant();
  const id = await connectYearly(tenantId);
  const endsAt = new Date(nowMs + 365 * dayMs);
  assert.deepEqual((await connections.find(db.sql, tenantId, id))!.grantExpiresAt, endsAt);
  nowMs += 350 * dayMs;
  await run();
  assert.deepEqual(notices(id), []);
  // A refresh renews the tokens, not the grant.
  await perform(db, { tenantId, nowMs }, connections.handlers.refreshConnection, RefreshConnectionRequestSchema, {
    id,
  });
  nowMs += 1.5 * dayMs;
  await run();
  await run();
  assert.deepEqual(
    notices(id).map(({ tenantId: told, data }) => [told, data]),
    [
      [
        tenantId,
        {
          ...{ name: "Main", provider_key: "yearly", end_user_id: "u1" },
          environment_id: await insertProduction(db, tenantId),
          provider_config_id: (await connections.find(db.sql, tenantId, id))!.providerConfigId,
          grant_expires_at: endsAt.toISOString(),
        },
      ],
    ],
  );
  assert.equal((await connections.find(db.sql, tenantId, id))!.status, "active");
  assert.equal(typeof (await connections.open(tenantId, id)), "object");
});

test("a reconnection starts the time again, and is announced again", async () => {
  const tenantId = freshTenant();
  const id = await connectYearly(tenantId);
  nowMs += 352 * dayMs;
  await run();
  assert.equal(notices(id).length, 1);
  const { accessToken, refreshToken } = server.issue();
  const { manifestVersion, manifestDigest, providerConfigId } = (await connections.find(db.sql, tenantId, id))!;
  await db.transaction((sql) =>
    connections.storeGrant(
      { ...contextFor(db, { tenantId, nowMs }), sql },
      {
        ...{
          connectionId: id,
          environmentId: id,
          environmentKey: "production",
          name: "",
          endUser: undefined,
          providerKey: "yearly",
          providerConfigId,
          authMode: "oauth2",
        },
        ...{ manifestVersion, manifestDigest, scopes: [], settings: {}, captured: {}, account: { id: "", label: "" } },
        ...{ expiresAt: null, idleS: undefined, lifetimeS: 365 * 86_400, accountChoices: [] },
        credentials: { access_token: accessToken, refresh_token: refreshToken },
      },
    ),
  );
  nowMs += 300 * dayMs;
  await run();
  assert.equal(notices(id).length, 1);
  nowMs += 60 * dayMs;
  await run();
  assert.equal(notices(id).length, 2);
});

test("credentials that expire and cannot be renewed are announced in the last fifth of their life", async () => {
  const tenantId = freshTenant();
  const expiresAt = optionalTime(new Date(nowMs + 10 * dayMs))!;
  const key = await connect(tenantId, { providerKey: "acme", credentials: { token: "key-one" }, expiresAt });
  const forever = await connect(tenantId, { providerKey: "acme", credentials: { token: "key-two" } });
  nowMs += 7.9 * dayMs;
  await run();
  assert.deepEqual(notices(key), []);
  nowMs += 0.2 * dayMs;
  await run();
  assert.equal(notices(key).length, 1);
  nowMs += 1000 * dayMs;
  await run();
  assert.deepEqual(notices(forever), []);
});

test("nothing is announced about a connection that is revoked or already needs reauthorization", async () => {
  const tenantId = freshTenant();
  const [revoked, rejected] = [await connectYearly(tenantId), await connectYearly(tenantId)];
  await perform(db, { tenantId, nowMs }, connections.handlers.revokeConnection, RevokeConnectionRequestSchema, {
    id: revoked,
  });
  await db.sql`update connector_connections set last_refreshed_at = ${new Date(nowMs)} where id = ${rejected}`;
  server.script = ({ path }, response) => {
    if (path !== "/me") return undefined;
    json(response, 401, { message: "Bad credentials" });
    return true;
  };
  assert.equal(await connections.markRejected(tenantId, rejected, 1), "needs_reauth");
  nowMs += 364 * dayMs;
  await run();
  assert.deepEqual([notices(revoked), notices(rejected)], [[], []]);
});
