import { createHash, randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Role, type Service, serve } from "../../src/app/serve.ts";
import { loadConfig } from "../../src/config/index.ts";
import { afterFile } from "./after-file.ts";
import { closeIdleConnections } from "./http-client.ts";
import { freshDatabase } from "./postgres.ts";

/** A node for tests, with real listeners and its own database. */
export interface TestService {
  readonly baseUrl: string;
  readonly internalUrl: string;
  readonly metricsUrl: string;
  /** An admin key of the platform tenant. */
  readonly adminKey: string;
  readonly databaseUrl: string;
  readonly service: Service;
  stop(): Promise<void>;
}

/** The service token secret of test nodes. */
export const serviceTokenSecret = "a secret that only tests may ever use";

/** Additional settings by key. */
export type TestSettings = Readonly<Record<string, string>>;

/** Starts a node in this process and stops it after the last test of the file. A test build has other areas. */
export async function startService(
  settings: TestSettings = {},
  databaseUrl?: string,
  role: Role = "all",
  createParts?: Parameters<typeof serve>[2],
): Promise<TestService> {
  const database = databaseUrl === undefined ? await freshDatabase() : undefined;
  const adminKey = settings["auth.bootstrap_api_key"] ?? `sk_test_admin_${randomBytes(16).toString("hex")}`;
  const objectsDir = join(tmpdir(), `switchyard-objects-${randomBytes(8).toString("hex")}`);
  const service = await serve(
    loadConfig({
      overrides: overridesOf({
        "auth.bootstrap_api_key": adminKey,
        "database.url": databaseUrl ?? database!.url,
        "objects.file.dir": objectsDir,
        ...settings,
      }),
    }),
    role,
    createParts,
  );
  const address = (name: string) => `http://${service.planes.listeners[name]?.address}`;
  let stopped: Promise<void> | undefined;
  const stop = () => {
    closeIdleConnections();
    stopped ??= service.stop().then(async () => {
      await rm(objectsDir, { recursive: true, force: true });
      await database?.drop();
    });
    return stopped;
  };
  afterFile(stop);
  return {
    baseUrl: address("http"),
    internalUrl: address("internal"),
    metricsUrl: address("metrics"),
    adminKey,
    databaseUrl: databaseUrl ?? database!.url,
    service,
    stop,
  };
}

/** The settings of a test node in the form that loadConfig accepts. */
export function overridesOf(settings: TestSettings): string[] {
  return Object.entries({ ...defaults(), ...settings }).map(([key, value]) => `${key}=${value}`);
}

function defaults(): TestSettings {
  return {
    // The disk of the machine that runs the tests may be full to any degree.
    ...{ "storage.warn_percent": "99", "storage.full_percent": "100" },
    "server.http_addr": "127.0.0.1:0",
    "server.internal_addr": "127.0.0.1:0",
    "server.metrics_addr": "127.0.0.1:0",
    "api.addr": "127.0.0.1:0",
    "auth.api_key_enabled": "true",
    "auth.bcrypt_cost": "4",
    "auth.service_token_secret": serviceTokenSecret,
    "connector.encryption_key": createHash("sha256").update("only for tests").digest("base64"),
    "dynamic_config.enabled": "true",
    "server.shutdown_grace_s": "2",
    "log.level": "silent",
  };
}
