import type Postgres from "postgres";
import { postgres } from "./driver.ts";
import { socketHost } from "./socket-host.ts";

/** What runs SQL: the pool, or a transaction. */
export type Sql = Postgres.ISql<{ bigint: number }>;

/** A piece of SQL to be put into a statement. */
export type Fragment = Postgres.PendingQuery<Postgres.Row[]>;

/** What statements are run on. */
export interface Connections {
  /** Runs single statements, each in a transaction of its own. */
  readonly sql: Sql;
  /** Runs statements in one transaction: committed when the work resolves, rolled back when it throws. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
}

/** A pool of connections to one PostgreSQL. */
export interface Database extends Connections {
  /**
   * Connections that plan a statement once and keep to it, for the few that run all the time and take longer to plan
   * than to run. They reach rows by indexes and by nothing else: such a plan is older than most of what it reads.
   */
  readonly steady: Connections;
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

/** Runs a part of a transaction that can fail alone: when it throws, what it did and locked is undone, and nothing else. */
export function savepoint<T>(tx: Sql, work: (tx: Sql) => Promise<T>): Promise<T> {
  return (tx as Postgres.TransactionSql<{ bigint: number }>).savepoint((inner) => work(inner)) as Promise<T>;
}

interface DatabaseOptions {
  readonly maxConnections: number;
  /** How many of them are steady; without any, the others do their work. */
  readonly steadyConnections?: number;
  readonly applicationName?: string;
  /** How long a statement may take before it is ended. */
  readonly statementMs?: number;
}

/** What a plan goes by that is made without knowing the values or how large the tables will be. */
const steadyPlans = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  enable_sort: "off",
};

/** Opens a pool; connections are made as they are needed. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const { maxConnections, steadyConnections = 0 } = options;
  const sql = connect(url, options, maxConnections - steadyConnections);
  const steady = steadyConnections === 0 ? sql : connect(url, options, steadyConnections, steadyPlans);
  return {
    ...connectionsOf(sql),
    steady: connectionsOf(steady),
    listen: (channel, onNotify, onListen) => sql.listen(channel, onNotify, onListen),
    ping: async () => {
      await sql`select 1`;
    },
    close: async () => {
      await Promise.all([...new Set([sql, steady])].map((each) => each.end({ timeout: 5 })));
    },
  };
}

function connectionsOf(sql: Postgres.Sql<{ bigint: number }>): Connections {
  return { sql, transaction: (work) => sql.begin((tx) => work(tx)) as Promise<never> };
}

function connect(url: string, options: DatabaseOptions, max: number, more: Record<string, string> = {}) {
  return postgres(url, {
    host: socketHost(url),
    max,
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
      ...more,
    },
  });
}
