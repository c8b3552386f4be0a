import { Connection } from "./connection.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { createSql, type Sql } from "./sql.ts";
import { Catalog } from "./statement/catalog.ts";
import { runTransaction } from "./transaction.ts";

/** A session with its connection, which only sessions use. */
interface OpenSession extends Session {
  readonly connection: Connection;
}

/** One connection that is not replaced when it is lost. */
export interface Session {
  readonly sql: Sql;
  /** Whether a pooler stands before the server. */
  readonly isPooled: boolean;
  /** Runs statements in one transaction; no other statement may run concurrently. */
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>;
  /** Streams the rows of a `copy … to stdout` into a `copy … from stdin` of another session; returns their number. */
  copyTo(target: Session, out: string, into: string): Promise<number>;
  close(): Promise<void>;
}

export async function openSession(url: string, settings: ConnectionSettings): Promise<Session> {
  const connection = await Connection.open(url, settings, new Catalog());
  const session: OpenSession = {
    connection,
    sql: createSql(connection),
    isPooled: connection.isPooled,
    transaction(work) {
      connection.isOwned = true;
      return runTransaction(connection, work, () => {
        connection.isOwned = false;
      });
    },
    copyTo: (target, out, into) => copyRows(connection, (target as OpenSession).connection, out, into),
    close: () => connection.close(),
  };
  return session;
}

async function copyRows(from: Connection, to: Connection, out: string, into: string): Promise<number> {
  const target = to.copyIn(into);
  await target.ready;
  // Fails as soon as one of them does.
  await Promise.race([from.copyOut(out, target.write), target.promise]);
  target.end();
  return (await target.promise).count;
}
