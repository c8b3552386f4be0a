import { camelCase } from "../text/index.ts";
import { Listener } from "./sql/listener.ts";
import { Pool, type PoolLoad, type PoolOptions } from "./sql/pool.ts";
import type { Sql } from "./sql/sql.ts";
import type { Abortable } from "./sql/wait-queue.ts";

export type { Fragment, Sql } from "./sql/sql.ts";

/** Connections that run statements. */
export interface Connections {
  /** Runs single statements, each in its own transaction. */
  readonly sql: Sql;
  /**
   * Runs statements in one transaction: committed when the work resolves, rolled back when it throws. An aborted
   * call stops waiting for a connection.
   */
  transaction<T>(work: (tx: Sql) => Promise<T>, call?: Abortable): Promise<T>;
}

/** A pool of connections to one PostgreSQL. */
export interface Database extends Connections {
  /**
   * Connections with generic plans, for the few frequent statements that take longer to plan than to run. Their plans never read
   * whole tables, because a plan may be older than most of the data that it reads.
   */
  readonly genericPlans: Connections;
  /** The `sql` of one call. When the call is aborted, its statements that wait for a connection are dropped. */
  sqlFor(call: Abortable): Sql;
  /** Calls `onNotify` for every notification on a channel, and `onListen` whenever listening starts or resumes. */
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onListen: () => void,
  ): Promise<{ unlisten(): Promise<void> }>;
  ping(): Promise<void>;
  load(): PoolLoad;
  close(): Promise<void>;
}

interface DatabaseOptions {
  readonly maxConnections: number;
  /** The number of generic-plan connections among them; with 0 the other connections are used instead. */
  readonly genericPlanConnections?: number;
  readonly applicationName?: string;
  /** Where to listen, if that is not possible at the database's URL. */
  readonly listenUrl?: string;
  /** The timeout of a statement, and of its wait for a connection. */
  readonly statementMs?: number;
  /** The time after the statement timeout until a connection to a silent server is closed. */
  readonly silenceGraceMs?: number;
}

/** How long closing waits for statements in flight. */
const closeMs = 5000;

/** Planner settings for generic plans. All others are PostgreSQL's own. */
const genericPlanSettings = {
  // Planning a lease takes as long as running it, and PostgreSQL would plan it for each call.
  plan_cache_mode: "force_generic_plan",
  // PostgreSQL reads a small table as a whole, whatever its indexes, and keeps that plan until it collects statistics again. By
  // then a queue that was empty may have a million items.
  enable_seqscan: "off",
  // While an old snapshot keeps dead rows, the statistics tell of a few rows, and an index that finds them unordered seems as good as the
  // one of their order. It has an entry for each dead row.
  enable_sort: "off",
};

/** Opens a pool; connections are opened on demand. */
export function openDatabase(url: string, options: DatabaseOptions): Database {
  const { maxConnections, genericPlanConnections = 0, listenUrl = url } = options;
  const settings = poolOptions(options, maxConnections - genericPlanConnections);
  const pool = new Pool(url, settings);
  const genericPlans =
    genericPlanConnections === 0
      ? pool
      : new Pool(url, poolOptions(options, genericPlanConnections, genericPlanSettings));
  const listeners = new Set<Listener>();
  return {
    ...connectionsOf(pool),
    genericPlans: connectionsOf(genericPlans),
    sqlFor: (call) => pool.sqlFor(call),
    listen: async (channel, onNotify, onListen) => {
      const listener = await Listener.start(listenUrl, settings, channel, { onNotify, onListen });
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
    load: () => (genericPlans === pool ? pool.load() : addLoads(pool.load(), genericPlans.load())),
    close: async () => {
      const ends = [...listeners].map((listener) => listener.stop());
      await Promise.all([...ends, pool.end(closeMs), genericPlans.end(closeMs)]);
    },
  };
}

function addLoads(one: PoolLoad, other: PoolLoad): PoolLoad {
  return {
    busy: one.busy + other.busy,
    idle: one.idle + other.idle,
    max: one.max + other.max,
    waiting: one.waiting + other.waiting,
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
    // Columns are snake_case in SQL and camelCase here; keys inside jsonb stay unchanged.
    columnName: camelCase,
    silenceMs: statementMs + silenceGraceMs,
    waitMs: statementMs,
    applicationName,
    session: {
      statement_timeout: statementMs,
      // A node that freezes during a transaction would block all readers that follow the transaction order.
      idle_in_transaction_session_timeout: 60_000,
      TimeZone: "UTC",
      ...plans,
    },
  };
}
