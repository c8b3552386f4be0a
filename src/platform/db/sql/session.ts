import { Connection } from "./connection.ts";
import type { ConnectionSettings } from "./connection-settings.ts";
import { createSql, type Sql } from "./sql.ts";
import { Catalog } from "./statement/catalog.ts";
import type { CopySink } from "./statement/copy-execution.ts";
import { runTransaction } from "./transaction.ts";

/** Receives the rows of a `copy … from stdin`. */
export interface RowSink {
  readonly write: CopySink;
  /** Ends the rows; returns their number. */
  end(): Promise<number>;
  /** Gives the rows up. The transaction can only be rolled back then. */
  cancel(): Promise<void>;
}

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
  /** Streams the rows of a `copy … to stdout` into a sink; returns their number. */
  copyOut(out: string, sink: CopySink): Promise<number>;
  /** Begins a `copy … from stdin`. */
  copyIn(into: string): Promise<RowSink>;
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
    async copyTo(target, out, into) {
      const { write, end, failure } = await startCopyIn((target as OpenSession).connection, into);
      // Fails as soon as one of them does.
      await Promise.race([connection.copyOut(out, write), failure]);
      return end();
    },
    copyOut: async (out, sink) => (await connection.copyOut(out, sink)).count,
    copyIn: (into) => startCopyIn(connection, into),
    close: () => connection.close(),
  };
  return session;
}

async function startCopyIn(connection: Connection, into: string): Promise<RowSink & { failure: Promise<unknown> }> {
  const execution = connection.copyIn(into);
  await execution.ready;
  return {
    write: execution.write,
    failure: execution.promise,
    async end() {
      execution.end();
      return (await execution.promise).count;
    },
    async cancel() {
      execution.cancel();
      await execution.promise.catch(() => {});
    },
  };
}
