import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { type Database, openDatabase } from "../../platform/db/index.ts";
import { openSession } from "../../platform/db/sql/session.ts";

/** A database that exists only for a run, on the server of the installation. */
export interface ScratchDatabase {
  readonly name: string;
  readonly url: string;
  drop(): Promise<void>;
}

const prefix = "switchyard_prove_";
/** The name of a database of a run: when it was created, and a random number. */
const namePattern = `^${prefix}[0-9a-z]{8}_[0-9a-f]{8}$`;
/** The name of the connection that shows that the run of a database is alive. */
const ownerName = "switchyard prove";
/** The time in which a run connects to the database that it has created. */
const creationMs = 60_000;
/** The time in which a run connects again after a restart of the server. */
const reconnectMs = 3000;

/** Creates a database on a server. A connection to it marks it as in use until it is dropped. */
export async function createScratchDatabase(serverUrl: string, now = Date.now()): Promise<ScratchDatabase> {
  const name = `${prefix}${now.toString(36)}_${randomBytes(4).toString("hex")}`;
  await administer(serverUrl, (run) => run(`create database ${name}`));
  const url = databaseAt(serverUrl, name);
  const stopHolding = holdConnection(url);
  return {
    ...{ name, url },
    async drop() {
      await stopHolding();
      await dropDatabase(serverUrl, name);
    },
  };
}

/** Drops the databases of runs that ended without dropping them. Returns their names. */
export async function dropLeftDatabases(serverUrl: string, now = Date.now()): Promise<string[]> {
  const names = (await unusedDatabases(serverUrl)).filter((name) => createdAtMs(name) < now - creationMs);
  if (names.length === 0) return [];
  await delay(reconnectMs);
  const unused = new Set(await unusedDatabases(serverUrl));
  const left = names.filter((name) => unused.has(name));
  for (const name of left) await dropDatabase(serverUrl, name);
  return left;
}

/** The databases of runs that nobody is connected to. */
function unusedDatabases(serverUrl: string): Promise<string[]> {
  return administer(serverUrl, async (run) => {
    const rows = await run(`
      select datname::text as name from pg_database d where datname ~ '${namePattern}' and not exists (
        select from pg_stat_activity a where a.datname = d.datname and a.backend_type = 'client backend')`);
    return rows.map((row) => String(row.name));
  });
}

/** Drops a database of a run, with the connections to it. */
export async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  if (!new RegExp(namePattern).test(name)) throw new Error(`${name} is not a database of a run.`);
  await administer(serverUrl, (run) => run(`drop database if exists ${name} with (force)`));
}

/** The URL of another database on the same server. */
function databaseAt(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

function createdAtMs(name: string): number {
  return Number.parseInt(name.slice(prefix.length), 36);
}

type Row = Readonly<Record<string, unknown>>;

async function administer<T>(url: string, work: (run: (statement: string) => Promise<readonly Row[]>) => Promise<T>) {
  const session = await openSession(url, {});
  try {
    return await work((statement) => session.sql.unsafe<Row[]>(statement));
  } finally {
    await session.close();
  }
}

/** Keeps a connection open, also across restarts of the server. */
function holdConnection(url: string): () => Promise<void> {
  const db: Database = openDatabase(url, { maxConnections: 1, applicationName: ownerName });
  const hold = () => void db.ping().catch(() => {});
  hold();
  const timer = setInterval(hold, 1000);
  return async () => {
    clearInterval(timer);
    await db.close();
  };
}
