import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import Provider from "oidc-provider";
import {
  CreateConnectionRequestSchema,
  RevokeConnectionRequestSchema,
  TestConnectionRequestSchema,
} from "../../../../../gen/service/api/connection_pb.ts";
import { afterFile } from "../../../../../test/harness/after-file.ts";
import { freshTenant, perform } from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { OpenConnection } from "../index.ts";
import { insertConfig, nodesDatabase, oauth2On, providerOn, startNode } from "../testing/connection-nodes.ts";

/** The part of oidc-provider that issues tokens without a browser. */
interface Models {
  readonly Client: { find(id: string): Promise<object> };
  readonly Grant: new (values: object) => { addOIDCScope(scope: string): void; save(): Promise<string> };
  readonly RefreshToken: new (values: object) => { save(): Promise<string> };
}

let refreshes = 0;
const server = createServer((request, response) => handle(request, response));
await once(server.listen(0, "127.0.0.1"), "listening");
afterFile(() => {
  server.close();
  server.closeAllConnections();
});
const { port } = server.address() as AddressInfo;
const issuer = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: "app",
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      redirect_uris: ["https://switchyard.example/connect/callback/1"],
    },
  ],
  cookies: { keys: ["only for tests"] },
  ttl: { AccessToken: 60, RefreshToken: 3600, Grant: 3600, IdToken: 60 },
  rotateRefreshToken: true,
  issueRefreshToken: () => true,
  findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
  features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
});
(issuer as unknown as { on(event: string, listener: () => void): void }).on("grant.success", () => {
  refreshes++;
});
const handle = issuer.callback();
const models = issuer as unknown as Models;

async function issueRefreshToken(): Promise<string> {
  const client = await models.Client.find("app");
  const grant = new models.Grant({ accountId: "ada", clientId: "app" });
  const scope = "openid offline_access";
  grant.addOIDCScope(scope);
  const grantId = await grant.save();
  const iiat = Math.floor(Date.now() / 1000);
  const values = { accountId: "ada", client, grantId, scope, gty: "authorization_code", iiat, rotations: 0 };
  return new models.RefreshToken({ ...values, claims: {} }).save();
}

const base = `http://127.0.0.1:${port}`;
const providers = [
  providerOn(port, {
    auth: {
      oauth2: oauth2On(port, {
        token: { url: `${base}/token`, client_auth: "none" },
        scopes: { default: ["openid"], available: { openid: "Sign in" } },
        revoke: { url: `${base}/token/revocation`, client_auth: "none" },
        account: { method: "GET", path: "/me", id: "/sub" },
      }),
    },
  }),
];
const url = await nodesDatabase();
let nowMs = Date.now();
const options = { url, providers, nowMs: () => nowMs };
const nodes = [await startNode(options), await startNode(options), await startNode(options)];
const { connections, db } = nodes[0]!;

async function connect(tenantId: TenantId, refreshToken: string): Promise<string> {
  const request = {
    ...{ name: "Acme", providerKey: "acme", authMode: "oauth2", credentials: { refresh_token: refreshToken } },
    providerConfigId: await insertConfig(db, tenantId),
  };
  const { createConnection } = connections.handlers;
  return (await perform(db, { tenantId, nowMs }, createConnection, CreateConnectionRequestSchema, request)).connection!
    .id;
}
const testConnection = (tenantId: TenantId, id: string) =>
  perform(db, { tenantId }, connections.handlers.testConnection, TestConnectionRequestSchema, { id });

test("rotating tokens of a live issuer are refreshed again and again, once for all nodes, and name the account", async () => {
  const tenantId = freshTenant();
  const id = await connect(tenantId, await issueRefreshToken());
  const seen = new Set<string>();
  for (let round = 1; round <= 4; round++) {
    const opened = await Promise.all(
      Array.from({ length: 30 }, (_, at) => nodes[at % 3]!.connections.open(tenantId, id)),
    );
    const tokens = new Set(opened.map((each) => (each as OpenConnection).credentials.access_token!));
    assert.equal(tokens.size, 1);
    for (const token of tokens) seen.add(token);
    assert.deepEqual([refreshes, seen.size], [round, round]);
    const { ok, account } = await testConnection(tenantId, id);
    assert.deepEqual([ok, account?.id], [true, "ada"]);
    nowMs += 61_000;
  }
});

test("a refresh token that another tenant has used is refused, and the connection needs reauthorization", async () => {
  const tenantId = freshTenant();
  const token = await issueRefreshToken();
  const id = await connect(tenantId, token);
  const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: token, client_id: "app" });
  assert.equal((await fetch(`${base}/token`, { method: "POST", body })).status, 200);
  assert.equal(await connections.open(tenantId, id), "needs_reauth");
});

test("a revocation ends the grant at the issuer", async () => {
  const tenantId = freshTenant();
  const id = await connect(tenantId, await issueRefreshToken());
  const { credentials } = (await connections.open(tenantId, id)) as OpenConnection;
  const { revokeConnection } = connections.handlers;
  await perform(db, { tenantId, nowMs }, revokeConnection, RevokeConnectionRequestSchema, { id });
  const job = connections.jobs.find(({ kind }) => kind === "connector.revoke_grant")!;
  const signal = new AbortController().signal;
  await job.handler({ tenantId, id: "j", payload: { connectionId: id }, attempt: 1, signal });
  const connection = await connections.find(db.sql, tenantId, id);
  assert.equal(connection!.providerRevocation, "succeeded");
  const headers = { authorization: `Bearer ${credentials.access_token}` };
  assert.equal((await fetch(`${base}/me`, { headers })).status, 401);
});
