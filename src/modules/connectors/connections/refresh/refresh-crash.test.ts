import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, test } from "node:test";
import { CreateConnectionRequestSchema } from "../../../../../gen/service/api/connection_pb.ts";
import { freshTenant, perform } from "../../../../../test/harness/context.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { OpenConnection } from "../index.ts";
import {
  insertConfig,
  masterKey,
  nodesDatabase,
  oauth2On,
  providerOn,
  startNode,
} from "../testing/connection-nodes.ts";
import { startTokenServer } from "../testing/token-server.ts";

/** Opens a connection, which starts a refresh, in a process of its own. */
const OPENER = `
  const { url, port, tenantId, id, masterKey } = JSON.parse(process.argv[1]);
  const { keyringOf, providerOn, startNode } = await import(process.argv[2]);
  const options = { url, providers: [providerOn(port)], keyring: keyringOf(masterKey), times: { leaseMs: 1000 } };
  const { connections } = await startNode(options);
  await connections.open(tenantId, id);`;

const url = await nodesDatabase();
const fixture = new URL("../testing/connection-nodes.ts", import.meta.url).href;

interface Crash {
  /** Whether the provider has spent the refresh token when the node dies. */
  readonly isSpent: boolean;
  readonly graceMs: number;
}

/** Kills a node while its token request is in progress, then opens the connection on another node. */
async function crashAndOpen({ isSpent, graceMs }: Crash) {
  const server = await startTokenServer();
  server.graceMs = graceMs;
  const providers = [providerOn(server.port, { auth: { oauth2: oauth2On(server.port) } })];
  const { connections, db } = await startNode({ url, providers });
  const tenantId = freshTenant();
  const { refreshToken } = server.issue();
  const { connection } = await perform(
    db,
    { tenantId },
    connections.handlers.createConnection,
    CreateConnectionRequestSchema,
    {
      ...{ name: "Acme", providerKey: "acme", authMode: "oauth2" },
      providerConfigId: await insertConfig(db, tenantId),
      credentials: { refresh_token: refreshToken },
    },
  );
  const { id } = connection!;
  const { promise: requested, resolve } = Promise.withResolvers<void>();
  server.script = ({ fields }) => {
    server.script = undefined;
    if (isSpent) server.spend(fields.refresh_token!);
    resolve();
    // The answer never comes.
    return true;
  };
  const input = JSON.stringify({ url, port: server.port, tenantId, id, masterKey });
  const child: ChildProcess = spawn(process.execPath, ["--input-type=module", "-e", OPENER, input, fixture], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  await Promise.race([requested, once(child, "exit").then(() => assert.fail("The node ended before its request."))]);
  child.kill("SIGKILL");
  await once(child, "exit");
  const opened = await connections.open(tenantId as TenantId, id);
  const [row] = await db.sql<{ status: string; statusReason: string }[]>`
    select status, status_reason from connector_connections where id = ${id}`;
  const isUsable = typeof opened === "object" && server.isValid((opened as OpenConnection).credentials.access_token!);
  return { ...row!, isUsable, requests: server.requests.length };
}

// All three at once, because starting a process and waiting for its lease takes seconds.
const cases: readonly (readonly [string, Crash, object])[] = [
  [
    "a node killed after the provider has spent the token loses nothing within the provider's grace",
    { isSpent: true, graceMs: 60_000 },
    { status: "active", statusReason: "", isUsable: true, requests: 2 },
  ],
  [
    "a node killed before the provider has spent the token loses nothing, without any grace",
    { isSpent: false, graceMs: 0 },
    { status: "active", statusReason: "", isUsable: true, requests: 2 },
  ],
  [
    "without grace, a node killed after the provider has spent the token leaves a truthful status",
    { isSpent: true, graceMs: 0 },
    { status: "needs_reauth", statusReason: "refresh_interrupted", isUsable: false, requests: 2 },
  ],
];
describe("a crash in the middle of a refresh", { concurrency: true }, () => {
  for (const [name, crash, expected] of cases) {
    test(name, async () => assert.deepEqual(await crashAndOpen(crash), expected));
  }
});
