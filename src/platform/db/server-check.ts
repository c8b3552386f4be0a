import { openSession } from "./sql/session.ts";

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

/**
 * Settings whose other values lose work that was acknowledged when the machine crashes, and settings of each session: another
 * value means that something between the service and the server, such as a pooler, drops the options of connections.
 */
const neededSettings = {
  fsync: { value: "on", harm: "a crash of its machine can destroy the database" },
  full_page_writes: { value: "on", harm: "a crash of its machine can destroy the database" },
  synchronous_commit: { notValue: "off", harm: "a crash loses work that was acknowledged" },
  jit: { value: "off", harm: "every statement is compiled, which takes seconds" },
  idle_in_transaction_session_timeout: { notValue: "0", harm: "a node that freezes blocks the others" },
} as const;

/** Reads the major version and everything about a server that harms a node with this many connections. */
export async function checkServer(
  url: string,
  connectionsNeeded: number,
): Promise<{ readonly version: number; readonly problems: readonly ServerFailure[] }> {
  // The settings that a node's connections have.
  const { sql, close } = await openSession(url, { session: { idle_in_transaction_session_timeout: 60_000 } });
  try {
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
    return { version: facts.version, problems: problemsOf(facts, connectionsNeeded) };
  } finally {
    await close();
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
