import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { type Config, ConfigError } from "../config/index.ts";
import { startEmbedded } from "../platform/db/embedded/embedded.ts";
import { type Database, openDatabase, type Sql } from "../platform/db/index.ts";
import { migrate } from "../platform/db/migrate.ts";
import type { Log } from "../platform/log/log.ts";

/** The database of this node, migrated and open. */
export interface Storage {
  readonly db: Database;
  /**
   * For what is read into memory while a call may hold a connection of its own already: those who wait for it with all
   * connections in their hands would wait for ever.
   */
  readonly side: Database;
  readonly url: string;
  /** Resolves when an embedded PostgreSQL ended without being asked. */
  readonly lost: Promise<string>;
  close(): Promise<void>;
}

const sideConnections = 2;
const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));

/** Starts the embedded PostgreSQL or takes the external one, and brings its schema up to date. */
export async function openStorage(config: Config, log: Log): Promise<Storage> {
  const external = config["database.url"];
  const embedded =
    external === ""
      ? await startEmbedded({ dataDir: config["data.dir"], log: (line) => log.debug({ postgres: line }, "postgres") })
      : undefined;
  const url = embedded?.url ?? external;
  try {
    const { applied } = await migrate(url, migrations).catch((cause: Error & { code?: string }) => {
      if (external === "" || !/^(E[A-Z]+|CONNECT)/.test(cause.code ?? "")) throw cause;
      throw new ConfigError(`database.url: cannot be reached: ${cause.message}`, { cause });
    });
    if (applied.length > 0) log.info({ applied }, "schema migrated");
    const maxConnections = config["database.max_connections"];
    const db = openDatabase(url, {
      maxConnections,
      steadyConnections: Math.floor(maxConnections / 4),
      statementMs: config["api.request_timeout_s"] * 1000,
    });
    const side = openDatabase(url, { maxConnections: sideConnections });
    return {
      db,
      side,
      url,
      lost: embedded?.exited ?? new Promise(() => {}),
      async close() {
        await Promise.all([db.close(), side.close()]);
        await embedded?.stop();
      },
    };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

/** A secret that all nodes of an installation share; made by whichever node asks first. */
export async function instanceSecret(sql: Sql, name: string): Promise<Buffer> {
  await sql`
    insert into instance (name, value) values (${name}, ${sql.json(randomBytes(32).toString("base64"))})
    on conflict do nothing`;
  const [row] = await sql<{ value: string }[]>`select value from instance where name = ${name}`;
  return Buffer.from(row!.value, "base64");
}
