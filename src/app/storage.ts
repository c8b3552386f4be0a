import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { type Config, ConfigError } from "../config/index.ts";
import {
  createReadReplica,
  type Database,
  isDatabaseAway,
  openDatabase,
  type ReadReplica,
  type Sql,
} from "../platform/db/index.ts";
import { migrate } from "../platform/db/migrate.ts";
import { movedTo } from "../platform/db/move/moved-mark.ts";
import { checkServer } from "../platform/db/server-check.ts";
import { prepareStamps } from "../platform/db/stamps.ts";
import type { Log } from "../platform/log/log.ts";
import {
  createStorageWatch,
  databaseVolume,
  diskVolume,
  estimateTenantBytes,
  type StorageWatch,
  type Volume,
} from "../platform/storage/index.ts";
import type { Metrics } from "../platform/telemetry/index.ts";
import { startEmbeddedDatabase } from "./embedded-database.ts";
import type { SupervisingProcess } from "./processes/supervising-process.ts";
import { release } from "./version.ts";

/** This node's database, open and migrated. */
export interface Storage {
  readonly db: Database;
  /**
   * A separate connection pool for cache loads during calls. Such a call may already hold a connection of `db`. If all
   * holders waited for another one, they would deadlock.
   */
  readonly cacheLoadDb: Database;
  readonly url: string;
  /** Resolves with the reason if the embedded PostgreSQL exits unexpectedly. */
  readonly lost: Promise<string>;
  close(): Promise<void>;
}

const cacheLoadConnections = 2;
/** The connection that listens for signals. */
const listeningConnections = 1;
/** Codes of connections that other settings would open: addresses, TLS, users and databases. */
const refusedSettings = /^(E[A-Z]+|CONNECT|28|3D)/;
const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));

/**
 * Starts the embedded PostgreSQL, unless a supervisor has, or connects to the external one. Migrates the schema.
 */
export async function openStorage(config: Config, log: Log, supervisor?: SupervisingProcess): Promise<Storage> {
  const embedded = supervisor === undefined ? await startEmbeddedDatabase(config, log) : undefined;
  const url = embedded?.url ?? (supervisor?.databaseUrl || config["database.url"]);
  try {
    const { applied } = await prepare(url, config, log, supervisor).catch((cause: Error & { code?: string }) => {
      if (config["database.url"] === "" || isDatabaseAway(cause) || !refusedSettings.test(cause.code ?? ""))
        throw cause;
      throw new ConfigError(`database.url: cannot connect to the database: ${cause.message}`, { cause });
    });
    // A first start applies all of them, and a list of their names would hide the message of the start.
    if (applied.length > 0) log.info({ migrations: applied.length, newest: applied.at(-1) }, "schema migrated");
    const maxConnections = config["database.max_connections"];
    const db = openDatabase(url, {
      maxConnections,
      genericPlanConnections: Math.floor(maxConnections / 4),
      statementMs: config["api.request_timeout_s"] * 1000,
      listenUrl: listenUrlOf(config, url) ?? url,
    });
    try {
      await prepareRows(db, log);
    } catch (error) {
      await db.close();
      throw error;
    }
    const cacheLoadDb = openDatabase(url, { maxConnections: cacheLoadConnections });
    return {
      db,
      cacheLoadDb,
      url,
      lost: embedded?.exited ?? new Promise(() => {}),
      async close() {
        await Promise.all([db.close(), cacheLoadDb.close()]);
        await embedded?.stop();
      },
    };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

/** The most connections that the processes of one machine open, from the settings of the first of them. */
export function connectionsOf(config: Config, processCount: number): number {
  return processCount * (config["database.max_connections"] + cacheLoadConnections + listeningConnections);
}

/** Where a node listens for signals; undefined if they travel over Redis. */
export function listenUrlOf(config: Config, url: string): string | undefined {
  return config["signals.backend"] === "redis" ? undefined : config["database.listen_url"] || url;
}

/** Checks an external server once on this machine, and migrates the schema. */
async function prepare(
  url: string,
  config: Config,
  log: Log,
  supervisor: SupervisingProcess | undefined,
): Promise<{ applied: string[] }> {
  const isChecked = url === config["database.url"] && (supervisor?.isFirst ?? true);
  const connections = connectionsOf(config, supervisor?.place.count ?? 1);
  const { problems } = isChecked ? await checkServer(url, connections, listenUrlOf(config, url)) : { problems: [] };
  for (const { isFatal, message, remedy } of problems) {
    if (isFatal) throw new ConfigError(`database.url: ${message}. ${remedy}`);
    log.warn({ remedy }, `the PostgreSQL server harms this node: ${message}`);
  }
  return migrate(url, migrations, {
    release,
    onBlocked: (migration, waitMs) =>
      log.warn({ migration, waitMs }, "the migration waits for transactions that use its tables"),
  });
}

/** Opens the replica for reads that grow with the data; undefined if there is none. */
export function openReadReplica({ config, log, metrics, db }: ReplicaParts): ReadReplica | undefined {
  const url = config["database.read_url"];
  if (url === "") return undefined;
  const reads = metrics.counter({
    name: "replicable_reads_total",
    help: "Reads that the replica of the database may answer, by the server that answered.",
    labels: ["server"],
  });
  return createReadReplica({
    primary: db,
    replica: openDatabase(url, {
      maxConnections: config["database.max_connections"],
      // A read that the replica cuts short still has time on the primary.
      statementMs: Math.ceil((config["api.request_timeout_s"] * 1000) / 3),
      silenceGraceMs: 0,
    }),
    onRead: (server) => reads.inc({ server }),
    onLeftOut: (reason) =>
      log.warn({ err: reason }, "everything is read from the primary: the replica (database.read_url) fails or lags"),
  });
}

interface ReplicaParts {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly db: Database;
}

/** Watches how full the places are in which this node stores. */
export function watchStorage(config: Config, { cacheLoadDb }: Storage, log: Log, metrics: Metrics): StorageWatch {
  const { "data.dir": dataDir, "objects.file.dir": objectsDir, "storage.database_bytes_max": bytesMax } = config;
  const isEmbedded = config["database.url"] === "";
  const volumes: Volume[] = isEmbedded ? [diskVolume("data", dataDir)] : [];
  // By default, the objects are on the disk of the embedded database.
  if (config["objects.backend"] === "file" && (!isEmbedded || objectsDir !== ""))
    volumes.push(diskVolume("objects", objectsDir || dataDir));
  if (!isEmbedded && bytesMax > 0) volumes.push(databaseVolume(cacheLoadDb.sql, bytesMax));
  return createStorageWatch({
    ...{ volumes, metrics, log },
    warnPercent: config["storage.warn_percent"],
    fullPercent: config["storage.full_percent"],
    tenantBytesMax: config["storage.tenant_bytes_max"],
    estimateTenantBytes: () => estimateTenantBytes(cacheLoadDb.sql),
  });
}

/** Prepares what depends on the server that the rows are on, before anything is written. */
async function prepareRows(db: Database, log: Log): Promise<void> {
  const moved = await movedTo(db.sql);
  if (moved !== undefined) throw new ConfigError(moved);
  if ((await prepareStamps(db)).isMoved)
    log.info("the rows were restored from another server: the order of events continues");
}

/** Reads a secret that all nodes of an installation share. The first node to read it creates it. */
export async function readInstanceSecret(sql: Sql, name: string): Promise<Buffer> {
  await sql`
    insert into instance (name, value) values (${name}, ${sql.json(randomBytes(32).toString("base64"))})
    on conflict do nothing`;
  const [row] = await sql<{ value: string }[]>`select value from instance where name = ${name}`;
  return Buffer.from(row!.value, "base64");
}
