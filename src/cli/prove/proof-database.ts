import { exec } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { Config } from "../../config/index.ts";
import { startEmbedded } from "../../platform/db/embedded/embedded.ts";
import { openSession } from "../../platform/db/sql/session.ts";
import { withRunningDatabase } from "../local/database-access.ts";
import { createScratchDatabase, dropLeftDatabases } from "./scratch-database.ts";
import type { Watchdog } from "./watchdog.ts";

/** The time in which a restarted server accepts connections. */
const restartMs = 60_000;

/** Where a run works. */
export interface ProofPlace {
  readonly databaseUrl: string;
  /** The database for people, for example `PostgreSQL 18.4 (embedded)`. */
  readonly database: string;
  /** A folder for the files of the nodes. */
  readonly folder: string;
  /** Ends the server as in a crash, starts it again and returns the URL of the database; undefined if the run may not. */
  readonly restartDatabase: (() => Promise<string>) | undefined;
}

interface PlaceOptions {
  readonly config: Config;
  readonly isEmbedded: boolean;
  /** The command that restarts the server of the settings. */
  readonly restartCommand: string | undefined;
  readonly watchdog: Watchdog;
}

/** Runs work on a database of its own, on the server of the settings or on a new one, and removes it afterwards. */
export async function withProofPlace<T>(options: PlaceOptions, work: (place: ProofPlace) => Promise<T>): Promise<T> {
  const { config, isEmbedded, watchdog } = options;
  const folder = await mkdtemp(join(tmpdir(), "switchyard-prove-"));
  watchdog.guard({ folder });
  try {
    if (isEmbedded) return await onNewServer(folder, work);
    return await withServer(config, (serverUrl) => onServer(serverUrl, folder, options, work));
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    watchdog.dismiss();
  }
}

/** Removes what killed runs have left on the server of the settings. Returns the names of the databases. */
export function cleanUp(config: Config): Promise<string[]> {
  return withServer(config, dropLeftDatabases);
}

/** Runs work with the URL of the server of the settings. Poolers are passed by. */
function withServer<T>(config: Config, work: (serverUrl: string) => Promise<T>): Promise<T> {
  const { "database.listen_url": directUrl } = config;
  return directUrl === "" ? withRunningDatabase(config, work) : work(directUrl);
}

async function onNewServer<T>(folder: string, work: (place: ProofPlace) => Promise<T>): Promise<T> {
  let embedded = await startEmbedded({ dataDir: folder });
  try {
    return await work({
      databaseUrl: embedded.url,
      database: await describeServer(embedded.url, "new, embedded"),
      folder,
      async restartDatabase() {
        process.kill(embedded.pid, "SIGKILL");
        await embedded.exited;
        embedded = await startEmbedded({ dataDir: folder });
        return embedded.url;
      },
    });
  } finally {
    await embedded.stop();
  }
}

async function onServer<T>(
  serverUrl: string,
  folder: string,
  { watchdog, restartCommand }: PlaceOptions,
  work: (place: ProofPlace) => Promise<T>,
): Promise<T> {
  await dropLeftDatabases(serverUrl);
  const scratch = await createScratchDatabase(serverUrl);
  watchdog.guard({ folder, serverUrl, database: scratch.name });
  try {
    const database = await describeServer(serverUrl, "of the settings");
    const restartDatabase = restartCommand === undefined ? undefined : () => restart(restartCommand, scratch.url);
    return await work({ databaseUrl: scratch.url, database, folder, restartDatabase });
  } finally {
    await scratch.drop();
  }
}

/** Restarts a server with a command, and waits until it accepts connections to a database. */
async function restart(command: string, databaseUrl: string): Promise<string> {
  await promisify(exec)(command);
  const untilMs = performance.now() + restartMs;
  for (;;) {
    try {
      const session = await openSession(databaseUrl, {});
      await session.close();
      return databaseUrl;
    } catch (error) {
      if (performance.now() > untilMs) throw error;
      await delay(200);
    }
  }
}

async function describeServer(url: string, which: string): Promise<string> {
  const session = await openSession(url, {});
  try {
    const [row] = await session.sql<{ version: string }[]>`select current_setting('server_version') as version`;
    return `PostgreSQL ${row!.version.split(" ")[0]} (${which})`;
  } finally {
    await session.close();
  }
}
