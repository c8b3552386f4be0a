import { randomUUID } from "node:crypto";
import { isDatabaseAway } from "./classify.ts";
import { Listener } from "./sql/listener.ts";
import { openSession } from "./sql/session.ts";
import type { Sql } from "./sql/sql.ts";

/** Why a PostgreSQL server does not suit the service, and what to do about it. */
export interface ServerFailure {
  /** Whether the service cannot work with it. */
  readonly isFatal: boolean;
  readonly message: string;
  readonly remedy: string;
}

/** The oldest supported major version. */
const oldestVersion = 15;

interface ServerFacts {
  readonly version: number;
  readonly connections: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly role: string;
  readonly schema: string | null;
  readonly canCreate: boolean;
  readonly foreignTable: string | null;
}

/** Settings whose other values lose work that was acknowledged when the machine crashes. */
const neededSettings = {
  fsync: { value: "on", harm: "a crash of its machine can destroy the database" },
  full_page_writes: { value: "on", harm: "a crash of its machine can destroy the database" },
  synchronous_commit: { notValue: "off", harm: "a crash loses work that was acknowledged" },
} as const;

/** The time in which a signal arrives, however busy the server is. */
const signalMs = 5000;

/** Reads the major version and everything about a server that harms a node with this many connections. */
export async function checkServer(
  url: string,
  connectionsNeeded: number,
  listenUrl?: string,
): Promise<{ readonly version: number; readonly problems: readonly ServerFailure[] }> {
  const { sql, isPooled, close } = await openSession(url, {});
  try {
    // A pooler that mixes up prepared statements gives the second connection the session of the first one.
    if (isPooled) await openSession(url, {}).then((second) => second.close());
    const [facts] = await sql<[ServerFacts]>`
      select current_setting('server_version_num')::int / 10000 as version,
        least(
          current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
            - coalesce(current_setting('reserved_connections', true)::int, 0),
          (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user),
          (select nullif(datconnlimit, -1) from pg_database where datname = current_database())) as connections,
        (select json_object_agg(name, setting) from pg_settings where name = any(${Object.keys(neededSettings)}::text[]))
          as settings,
        current_user::text as role, current_schema()::text as schema,
        coalesce(has_schema_privilege(current_schema()::text, 'create'), false) as "canCreate",
        (select min(relname)::text from pg_class where relnamespace = to_regnamespace(current_schema()::text)
          and relkind in ('r', 'p') and not pg_has_role(relowner, 'usage')) as "foreignTable"`;
    const problems = problemsOf(facts, connectionsNeeded);
    // A connection to the server itself hears every signal.
    const mayBeDeaf = listenUrl !== undefined && (isPooled || listenUrl !== url);
    const deafness = mayBeDeaf ? await findDeafness(sql, listenUrl) : undefined;
    if (deafness !== undefined) problems.push({ isFatal: true, message: deafness, remedy: listeningRemedy });
    return { version: facts.version, problems };
  } finally {
    await close();
  }
}

const listeningRemedy =
  "Set database.listen_url to the URL of the same database without the pooler, or let the pooler keep sessions (pool_mode = session).";

/** Sends a signal to a listener; returns why it does not arrive, if it does not. */
async function findDeafness(sql: Sql, listenUrl: string): Promise<string | undefined> {
  const channel = `switchyard_check_${randomUUID()}`;
  const { promise: heard, resolve } = Promise.withResolvers<string | undefined>();
  const timer = setTimeout(
    resolve,
    signalMs,
    "a notification does not arrive at the connection that listens for signals",
  );
  try {
    const calls = { onNotify: () => resolve(undefined), onListen: () => {} };
    const listener = await Listener.start(listenUrl, {}, channel, calls);
    await sql`select pg_notify(${channel}, '')`;
    return await heard.finally(() => listener.stop());
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    return `listening for signals fails: ${(error as Error).message}`;
  } finally {
    clearTimeout(timer);
  }
}

function problemsOf(facts: ServerFacts, connectionsNeeded: number): ServerFailure[] {
  const { version, connections, settings, role, schema, canCreate, foreignTable } = facts;
  const problems: ServerFailure[] = [];
  const report = (isFatal: boolean, message: string, remedy: string) => problems.push({ isFatal, message, remedy });
  if (version < oldestVersion) {
    report(true, `PostgreSQL ${version} is too old`, `Use PostgreSQL ${oldestVersion} or newer.`);
  }
  if (!canCreate) {
    const where = schema === null ? "it has no schema to create tables in" : `it may not create tables in ${schema}`;
    report(true, `the role ${role} lacks a privilege: ${where}`, `Make ${role} the owner of the database.`);
  } else if (foreignTable !== null) {
    const message = `the role ${role} lacks a privilege: it does not own the table ${foreignTable}`;
    report(true, message, `Make ${role} the owner of all tables, or connect as their owner.`);
  }
  if (connections < connectionsNeeded) {
    const message = `it allows ${connections} connections, and a node may open ${connectionsNeeded}`;
    report(false, message, "Raise max_connections of the server, or lower database.max_connections.");
  }
  for (const [name, { harm, ...needed }] of Object.entries(neededSettings)) {
    const actual = settings[name]!;
    if ("value" in needed ? actual === needed.value : actual !== needed.notValue) continue;
    report(false, `${name} is ${actual}: ${harm}`, `Set ${name} to another value than ${actual}.`);
  }
  return problems;
}
