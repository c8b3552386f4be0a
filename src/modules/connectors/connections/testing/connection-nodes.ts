import { randomBytes } from "node:crypto";
import { afterFile } from "../../../../../test/harness/after-file.ts";
import { recordedEvents } from "../../../../../test/harness/context.ts";
import { freshDatabase } from "../../../../../test/harness/postgres.ts";
import { createKeyring, type Keyring } from "../../../../platform/crypto/index.ts";
import { createSignals, createTenantChanges, type Database, openDatabase } from "../../../../platform/db/index.ts";
import { createEgress } from "../../../../platform/egress/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { createLog, type Log } from "../../../../platform/log/log.ts";
import { createMetrics } from "../../../../platform/telemetry/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import { compileManifest, createGuardedHttp, type Provider } from "../../manifests/index.ts";
import { createProviderConfigs } from "../../provider-configs/index.ts";
import { createConnections } from "../index.ts";

/** A node with the modules of connections. */
export type ConnectionNode = Awaited<ReturnType<typeof startNode>>;

export interface NodeOptions {
  readonly url: string;
  readonly providers: readonly Provider[];
  readonly nowMs?: () => number;
  readonly keyring?: Keyring;
  /** Whether the node has a master key; true by default. */
  readonly hasKeyring?: boolean;
  readonly events?: EventRecorder;
  readonly times?: { readonly leaseMs?: number; readonly waitMs?: number };
  readonly log?: Log;
  readonly poolSize?: number;
}

export const masterKey = randomBytes(32).toString("base64");

export function keyringOf(key = masterKey, id = "k1"): Keyring {
  return createKeyring({ activeKeyId: id, keys: { [id]: key } });
}

/** A migrated database for the nodes of a test file; returns its URL. */
export async function nodesDatabase(): Promise<string> {
  const database = await freshDatabase();
  afterFile(() => database.drop());
  return database.url;
}

/** Starts a node of its own: with its own pools, signals and caches. */
export async function startNode(options: NodeOptions) {
  const { url, providers, nowMs = Date.now, log = createLog("silent"), poolSize = 8, hasKeyring = true } = options;
  const keyring = hasKeyring ? (options.keyring ?? keyringOf()) : undefined;
  const db = openDatabase(url, { maxConnections: poolSize });
  const signals = createSignals(db);
  await signals.start();
  const changes = createTenantChanges(db, signals);
  await changes.start();
  const clock = { now: nowMs };
  const metrics = createMetrics();
  const events = options.events ?? (recordedEvents() as unknown as EventRecorder);
  const egress = createEgress({
    mode: "enforce",
    allowedDomains: [],
    allowedIpNets: ["127.0.0.0/8"],
    ...{ log, metrics, clock },
  });
  const catalogue = { provider: async (_tenantId: string, key: string) => providers.find((each) => each.key === key) };
  const parts = { db, cacheLoadDb: db, signals, changes, clock, keyring, events, log, metrics, catalogue };
  const configs = createProviderConfigs({ ...parts, publicUrl: () => "https://switchyard.example" });
  const connections = createConnections({
    ...parts,
    configs,
    http: createGuardedHttp(egress),
    jobs: { wake() {} },
    platformTenantId: () => "",
    check: (providerKey) =>
      providerKey === "mail" ? [] : [{ field: "provider_key", rule: "unknown", message: "is not known" }],
    ...(options.times !== undefined && { times: options.times }),
  });
  afterFile(async () => {
    await connections.idle();
    changes.stop();
    await signals.stop();
    egress.close();
    await db.close();
  });
  return { connections, configs, db, signals, metrics };
}

/** Members of a manifest that differ from the default ones. */
interface Members {
  readonly key?: string;
  readonly [member: string]: unknown;
}

/** Compiles a manifest whose endpoints are on a local server. */
export function providerOn(port: number, members: Members = {}): Provider {
  const { provider, violations } = compileManifest(providerDocument(port, members));
  if (provider === undefined) throw new Error(violations.map(({ path, message }) => `${path}: ${message}`).join("\n"));
  return provider;
}

/** A manifest whose endpoints are on a local server. */
export function providerDocument(port: number, { key = "acme", ...more }: Members = {}) {
  const base = `http://127.0.0.1:${port}`;
  return {
    ...{ manifest: 1, key, version: "1.0.0", name: "Acme", category: "generic", description: "A test provider." },
    docs_url: "https://acme.example/docs",
    hosts: ["127.0.0.1"],
    base_url: base,
    auth: {
      oauth2: oauth2On(port),
      oauth2_cc: {
        token: { url: `${base}/token`, client_auth: "basic" },
        fields: { client_id: { title: "Client id", secret: false }, client_secret: { title: "Client secret" } },
        account: { method: "GET", path: "/me", id: "/id", label: "/login" },
      },
      two_step: {
        fields: { user: { title: "User", secret: false }, password: { title: "Password" } },
        token: {
          method: "POST",
          url: `${base}/login`,
          json: { user: "{credentials.user}", password: "{credentials.password}" },
          token: "/access_token",
        },
        apply: { headers: { authorization: "Bearer {credentials.access_token}" } },
        account: { method: "GET", path: "/me", id: "/id", label: "/login" },
      },
      api_key: {
        fields: { token: { title: "Token" } },
        apply: { headers: { authorization: "Bearer {credentials.token}" } },
        account: { method: "GET", path: "/me", id: "/id", label: "/login" },
      },
    },
    actions: {
      "account.get": {
        ...{ title: "Get the account", description: "Returns the account.", mutation: { effect: "read" } },
        request: { method: "GET", path: "/me" },
      },
    },
    ...more,
  };
}

/** The oauth2 mode of a provider on a local server. */
export function oauth2On(port: number, more: Readonly<Record<string, unknown>> = {}) {
  const base = `http://127.0.0.1:${port}`;
  return {
    authorize: { url: `${base}/authorize` },
    token: { url: `${base}/token`, client_auth: "body" },
    scopes: { default: ["read"], available: { read: "Read" } },
    refresh: { mode: "rotate" },
    revoke: { url: `${base}/revoke`, client_auth: "body" },
    account: { method: "GET", path: "/me", id: "/id", label: "/login" },
    ...more,
  };
}

/** Gives a tenant its production environment; returns the id. */
export async function insertProduction(db: Database, tenantId: string): Promise<string> {
  const [known] = await db.sql<{ id: string }[]>`select id from environments where tenant_id = ${tenantId}`;
  if (known !== undefined) return known.id;
  const id = ulid(Date.now());
  await db.sql`
    insert into environments (tenant_id, id, key, name, mode, status, created_at, updated_at)
    values (${tenantId}, ${id}, 'production', 'Production', 'live', 'active', now(), now())`;
  return id;
}

/** Stores an active provider config of a public client; returns its id. */
export async function insertConfig(db: Database, tenantId: string, providerKey = "acme"): Promise<string> {
  const id = ulid(Date.now());
  await db.sql`
    insert into connector_provider_configs (tenant_id, id, environment_id, environment_key, provider_key, name, status,
      client_id, activated_at, created_at, updated_at)
    values (${tenantId}, ${id}, ${await insertProduction(db, tenantId)}, 'production', ${providerKey}, 'App', 'active', 'app', now(), now(), now())`;
  return id;
}
