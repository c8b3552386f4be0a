import { existsSync, globSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { startEmbedded } from "../../src/platform/db/embedded/embedded.ts";
import { runProgram, startServer } from "../../src/platform/db/embedded/embedded-process.ts";
import { serverUser } from "../../src/platform/db/embedded/embedded-user.ts";
import { migrate } from "../../src/platform/db/migrate.ts";
import { Pool } from "../../src/platform/db/sql/pool.ts";
import type { Sql } from "../../src/platform/db/sql/sql.ts";

/** Environment variable with the URL of the shared test server. */
export const SERVER_URL = "SWITCHYARD_TEST_POSTGRES_URL";

/** The migrated database that tests clone. */
export const TEMPLATE = "switchyard_template";

/** A PostgreSQL server for tests, with the template database. */
export interface TestServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** The connections that nodes and tests of several concurrent files need. */
const maxConnections = 150 * (availableParallelism() + 1);

/** Starts a server in a temporary folder, without durability. Tests about durability start their own server. */
export function startTestServer(): Promise<TestServer> {
  // Databases live for seconds, so vacuuming them is wasted.
  const settings = { autovacuum: "off", max_wal_size: "256MB" };
  return withTemplate((dataDir) => startEmbedded({ dataDir, durable: false, maxConnections, settings }));
}

/** The newest PostgreSQL that is installed on this machine: a folder with `bin`; undefined if there is none. */
export function installedPostgres(): string | undefined {
  return globSync("/usr/lib/postgresql/*/bin/postgres").sort().at(-1)?.replace("/bin/postgres", "");
}

/**
 * Starts the server of an installed PostgreSQL like `startTestServer`, but with the defaults of its version for everything that
 * is not about durability or the number of connections.
 */
export function startInstalledServer(folder: string): Promise<TestServer> {
  return withTemplate((dataDir) => startInstalled(folder, join(dataDir, "cluster")));
}

/** Starts the server of an installed PostgreSQL on a folder, which is initialised unless it exists. */
export async function startInstalled(folder: string, cluster: string): Promise<TestServer> {
  const user = serverUser(cluster, { userNamespaces: true });
  const common = { folder: cluster, user };
  if (!existsSync(cluster)) {
    await mkdir(cluster, { mode: 0o700 });
    const access = ["--username=switchyard", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"];
    await runProgram({ ...common, file: join(folder, "bin/initdb"), args: ["-D", user.nameOf(cluster), ...access] });
  }
  const settings = ["listen_addresses=", "unix_socket_directories=.", "fsync=off", `max_connections=${maxConnections}`];
  const server = await startServer({
    ...common,
    file: join(folder, "bin/postgres"),
    args: ["-D", user.nameOf(cluster), ...settings.flatMap((setting) => ["-c", setting])],
  });
  return { url: `postgres://switchyard@${encodeURIComponent(cluster)}/postgres`, stop: server.stop };
}

async function withTemplate(start: (dataDir: string) => Promise<TestServer>): Promise<TestServer> {
  const dataDir = await newServerFolder();
  let stop = async () => {};
  try {
    const server = await start(dataDir);
    stop = server.stop;
    await administer(server.url, `create database ${TEMPLATE}`);
    await migrate(databaseUrl(server.url, TEMPLATE), join(import.meta.dirname, "../../migrations"));
    // A template with open connections cannot be cloned.
    await administer(server.url, `alter database ${TEMPLATE} with is_template true allow_connections false`);
    return { url: server.url, stop: () => end() };
  } catch (error) {
    await end();
    throw error;
  }

  async function end() {
    await stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const memory = "/dev/shm";
const folderPrefix = "switchyard-test-";
/** Databases of several concurrent files, and of one with many nodes, take some hundred megabytes. */
const bytesMin = 4 * 2 ** 30;

/** Creates a folder in memory, if there is enough: creating a database on a disk takes ten times the CPU time. */
export async function newServerFolder(): Promise<string> {
  const room = await statfs(memory).catch(() => undefined);
  if (room === undefined || room.bavail * room.bsize < bytesMin) return mkdtemp(join(tmpdir(), folderPrefix));
  await removeLeftFolders();
  return mkdtemp(join(memory, `${folderPrefix}${process.pid}-`));
}

/** Removes the folders of this user's runs that were killed, because they would occupy memory. */
async function removeLeftFolders(): Promise<void> {
  for (const name of await readdir(memory)) {
    const pid = new RegExp(`^${folderPrefix}(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || isRunning(Number(pid))) continue;
    // Folders of other users cannot be removed.
    await rm(join(memory, name), { recursive: true, force: true }).catch(() => {});
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The URL of another database on the same server. */
export function databaseUrl(serverUrl: string, name: string): string {
  return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href;
}

/** A connection pool for a test. Columns keep their SQL names. */
export interface TestSql extends Sql {
  begin<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Closes the pool after at most this many seconds. */
  end(options?: { readonly timeout: number }): Promise<void>;
}

/** Opens a connection pool for a test. */
export function connect(url: string, maxConnections: number): TestSql {
  const pool = new Pool(url, { maxConnections });
  return Object.assign(pool.sql, {
    begin: <T>(work: (tx: Sql) => Promise<T>) => pool.transaction(work),
    end: ({ timeout } = { timeout: 5 }) => pool.end(timeout * 1000),
  });
}

/** Runs a statement on the server's maintenance database. */
export async function administer(serverUrl: string, statement: string): Promise<void> {
  const sql = connect(databaseUrl(serverUrl, "postgres"), 1);
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 1 });
  }
}
