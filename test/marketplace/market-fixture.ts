import assert from "node:assert/strict";
import { signPack, writeSignedPack } from "../../src/modules/connectors/index.ts";
import { createStatementKey, readPrivateKey } from "../../src/platform/crypto/index.ts";
import { type Database, openDatabase } from "../../src/platform/db/index.ts";
import type { JsonObject } from "../../src/platform/document/index.ts";
import { afterFile } from "../harness/after-file.ts";
import { restClient } from "../harness/rest.ts";
import { startService, type TestService, type TestSettings } from "../harness/service.ts";

// biome-ignore lint/suspicious/noExplicitAny: responses have many shapes.
export type Json = any;

/** A tenant with an admin key. */
export interface Tenant {
  readonly id: string;
  readonly key: string;
  /** Calls the API; returns the data of a successful response. */
  ok(method: string, path: string, body?: object): Promise<Json>;
  /** Calls the API; returns the problem of a refused request. */
  refused(code: string, method: string, path: string, body?: object): Promise<Json>;
  /** Calls the API; returns the whole body of a response. */
  call(method: string, path: string, body?: object): Promise<Json>;
}

/** A publisher with a key pair. */
export interface Publisher {
  readonly name: string;
  readonly keyId: string;
  readonly publicKey: string;
  sign(document: object): JsonObject;
}

/** A node with tenants and publishers. */
export interface Market {
  readonly service: TestService;
  readonly db: Database;
  newTenant(): Promise<Tenant>;
  newPublisher(name?: string): Publisher;
}

let serial = 0;

/** Starts a node. */
export async function startMarket(settings: TestSettings = {}): Promise<Market> {
  const service = await startService(settings);
  const db = openDatabase(service.databaseUrl, { maxConnections: 2 });
  afterFile(() => db.close());
  const platform = clientOf(service.baseUrl, service.adminKey);
  return {
    service,
    db,
    async newTenant() {
      const { id, admin_key: key } = await platform.ok("POST", "/api/tenants", {
        name: `tenant ${serial++}`,
        issue_admin_key: true,
      });
      return { id, key, ...clientOf(service.baseUrl, key) };
    },
    newPublisher(name = `acme-${serial++}`) {
      const { privateKeyPem, key } = createStatementKey();
      const { privateKey } = readPrivateKey(privateKeyPem);
      return {
        name,
        keyId: key.id,
        publicKey: key.publicKey,
        sign: (document) => writeSignedPack(signPack(document as JsonObject, privateKey, key)),
      };
    },
  };
}

/** A client of the API with a key. */
export function clientOf(baseUrl: string, key: string): Pick<Tenant, "ok" | "refused" | "call"> {
  const rest = restClient(baseUrl, key);
  return {
    async ok(method, path, body) {
      const response = await rest.call(method, path, body);
      assert.equal(response.status, 200, `${method} ${path}: ${response.text}`);
      return response.body.data;
    },
    async refused(code, method, path, body) {
      const response = await rest.call(method, path, body);
      assert.equal(response.body?.errorCode, code, `${method} ${path}: ${response.status} ${response.text}`);
      return response.body;
    },
    async call(method, path, body) {
      return (await rest.call(method, path, body)).body;
    },
  };
}

/** Registers the key of a publisher and publishes signed packs. */
export async function publish(tenant: Tenant, publisher: Publisher, ...packs: object[]): Promise<void> {
  const { total } = await tenant.call("GET", `/api/v2/marketplace/publisher-keys?publisher=${publisher.name}`);
  if (total === 0) {
    const key = { publisher: publisher.name, public_key: publisher.publicKey };
    await tenant.ok("POST", "/api/v2/marketplace/publisher-keys", key);
  }
  for (const pack of packs) {
    await tenant.ok("POST", "/api/v2/marketplace/packs", { pack: publisher.sign(pack) });
  }
}

/** Installs a pack; returns the installation. */
export async function install(tenant: Tenant, pack: string, slots: object = {}, version = ""): Promise<Json> {
  const [publisher, name] = pack.split("/");
  return tenant.ok("POST", "/api/v2/marketplace/installations", { publisher, name, version, slots });
}

/**
 * All rows of a tenant as text, by table. Left out are logs (audit, events, idempotency, evidence of entitlements, the log of
 * installations, the versions that pools had), usage that background work counts at any time, and the counters that only tell
 * nodes to reload (tenant_versions, the revision of a pool).
 */
export async function dumpTenant({ sql }: Database, tenantId: string): Promise<Record<string, string[]>> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> all(${logs}) order by 1`;
  const dump: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows = await sql<{ row: string }[]>`
      select row_to_json(t)::text as row from ${sql(name)} t where tenant_id = ${tenantId} order by 1`;
    const texts = rows.map(({ row }) => (name === "pools" ? row.replace(/"revision":\d+/, "") : row));
    if (texts.length > 0) dump[name] = texts.map((text) => text.replace(/"last_used_at":("[^"]*"|null)/, ""));
  }
  return dump;
}

const logs = [
  "pool_versions",
  ...["events", "idempotency_records", "tenant_versions", "jobs", "workflow_trigger_cursors"],
  ...["marketplace_installation_changes", "workflow_withdrawn_versions", "entitlement_evidence"],
  "billing_service_usage",
];
