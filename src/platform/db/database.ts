import type Postgres from "postgres";
import { postgres } from "./driver.ts";
import { socketHost } from "./socket-host.ts";

/** What runs SQL: the pool, or a transaction. */
export type Sql = Postgres.ISql<{ bigint: number }>;

/** A piece of SQL to be put into a statement. */
export type Fragment = Postgres.PendingQuery<Postgres.Row[]>;

/** A pool of connections to one PostgreSQL. */
export interface Database {
  /** Runs single statements, each in a transaction of its own. */
  readonly sql: Sql;
  /** Runs statements in one transaction: committed when the work resolves, rolled back when it throws. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Calls back at every notification on a channel, and once whenever listening starts (anew). */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onListen: () => void,
  ): Promise<{ unlisten(): Promise<void> }>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

// PostgreSQL writes `0001-01-01 00:00:00+00`, which Date takes for a year of this century unless it is put as ISO 8601.
const moments = {
  to: 1184,
  from: [1082, 1114, 1184],
  serialize: (at: Date | string) => (typeof at === "string" ? at : at.toISOString()),
  parse: (text: string) => new Date(text.endsWith("+00") ? `${text.slice(0, 10)}T${text.slice(11, -3)}Z` : text),
};

interface DatabaseOptions {
  readonly maxConnections: number;
  readonly applicationName?: string;
  /** How long a statement may take before it is ended. */
  readonly statementMs?: number;
}

/** Opens a pool; connections are made as they are needed. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const sql = postgres(url, {
    host: socketHost(url),
    max: options.maxConnections,
    idle_timeout: 60,
    connect_timeout: 5,
    // Seconds between attempts: the driver's own grow to 20, and callers would wait that long for a database that is back.
    backoff: () => 0.25,
    onnotice: () => {},
    // Columns are snake_case in SQL and camelCase here; what jsonb holds stays as it is.
    transform: { column: { from: postgres.toCamel } },
    // Whole numbers in jsonb and counters stay far below 2^53.
    types: { bigint: { to: 20, from: [20], serialize: String, parse: Number }, date: moments },
    connection: {
      application_name: options.applicationName ?? "switchyard",
      statement_timeout: options.statementMs ?? 30_000,
      // A node that froze in mid-transaction would hold back everybody who reads in the order of transactions.
      idle_in_transaction_session_timeout: 60_000,
      TimeZone: "UTC",
    },
  });
  return {
    sql,
    transaction: (work) => sql.begin((tx) => work(tx)) as Promise<never>,
    listen: (channel, onNotify, onListen) => sql.listen(channel, onNotify, onListen),
    ping: async () => {
      await sql`select 1`;
    },
    close: () => sql.end({ timeout: 5 }),
  };
}
