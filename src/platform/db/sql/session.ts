import { Connection } from "./connection.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { createSql, type Sql } from "./sql.ts";
import { Catalog } from "./statement/catalog.ts";
import { runTransaction } from "./transaction.ts";

/** One connection that is not replaced when it is lost, for session state such as advisory locks. */
export interface Session {
  readonly sql: Sql;
  /** Runs statements in one transaction; no other statement may run concurrently. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export async function openSession(url: string, settings: ConnectionSettings): Promise<Session> {
  const connection = await Connection.open(url, settings, new Catalog());
  connection.isOwned = true;
  return {
    sql: createSql(connection),
    transaction: (work) => runTransaction(connection, work),
    close: () => connection.close(),
  };
}
