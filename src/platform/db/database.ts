import { Listener } from "./sql/listener.ts";
import { Pool, type PoolOptions } from "./sql/pool.ts";
import type { Sql } from "./sql/sql.ts";
import type { Abortable } from "./sql/wait-queue.ts";

export type { Fragment, Sql } from "./sql/sql.ts";

/** What statements are run on. */
export interface Connections {
  /** Runs single statements, each in a transaction of its own. */
  readonly sql: Sql;
  /**
   * Runs statements in one transaction: committed when the work resolves, rolled back when it throws. A call that is
   * aborted stops waiting for a connection.
   */
  transaction<T>(work: (tx: Sql) => Promise<T>, call?: Abortable): Promise<T>;
}

/** A pool of connections to one PostgreSQL. */
export interface Database extends Connections {
  /**
   * Connections that plan a statement once and keep to it, for the few that run all the time and take longer to plan
   * than to run. They reach rows by indexes and by nothing else: such a plan is older than most of what it reads.
   */
  readonly steady: Connections;
  /** The `sql` of one call: when the call is aborted, its statements that wait for a connection are not run. */
  sqlFor(call: Abortable): Sql;
  /** Calls back at every notification on a channel, and once whenever listening starts (anew). */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onListen: () => void,
  ): Promise<{ unlisten(): Promise<void> }>;
  ping(): Promise<void>;
  close(): Promise<void>;
}

interface DatabaseOptions {
  readonly maxConnections: number;
  /** How many of them are steady; without any, the others do their work. */
  readonly steadyConnections?: number;
  readonly applicationName?: string;
  /** How long a statement may take before it is ended, and how long it may wait for a connection before that. */
  readonly statementMs?: number;
  /** How much longer than a statement may take the server may be silent before its connection is given up. */
  readonly silenceGraceMs?: number;
}

/** How long closing waits for what is in flight. */
const closeMs = 5000;

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
  const settings = poolOptions(options, maxConnections - steadyConnections);
  const pool = new Pool(url, settings);
  const steady = steadyConnections === 0 ? pool : new Pool(url, poolOptions(options, steadyConnections, steadyPlans));
  const listeners = new Set<Listener>();
  return {
    ...connectionsOf(pool),
    steady: connectionsOf(steady),
    sqlFor: (call) => pool.sqlFor(call),
    listen: async (channel, onNotify, onListen) => {
      const listener = await Listener.start(url, settings, channel, { onNotify, onListen });
      listeners.add(listener);
      return {
        unlisten: async () => {
          listeners.delete(listener);
          await listener.stop();
        },
      };
    },
    ping: async () => {
      await pool.sql`select 1`;
    },
    close: async () => {
      const ends = [...listeners].map((listener) => listener.stop());
      await Promise.all([...ends, pool.end(closeMs), steady.end(closeMs)]);
    },
  };
}

function connectionsOf(pool: Pool): Connections {
  return { sql: pool.sql, transaction: (work, call) => pool.transaction(work, call) };
}

function poolOptions(
  options: DatabaseOptions,
  maxConnections: number,
  plans: Record<string, string> = {},
): PoolOptions {
  const { applicationName = "switchyard", statementMs = 30_000, silenceGraceMs = 5000 } = options;
  return {
    maxConnections,
    // Columns are snake_case in SQL and camelCase here; what jsonb holds stays as it is.
    columnName: toCamelCase,
    silenceMs: statementMs + silenceGraceMs,
    waitMs: statementMs,
    session: {
      application_name: applicationName,
      statement_timeout: statementMs,
      // A node that froze in mid-transaction would hold back everybody who reads in the order of transactions.
      idle_in_transaction_session_timeout: 60_000,
      TimeZone: "UTC",
      ...plans,
    },
  };
}

function toCamelCase(name: string): string {
  return name.replaceAll(/(?!^)_(.)/g, (_, letter: string) => letter.toUpperCase());
}
