import { setTimeout as delay } from "node:timers/promises";
import { type Backoff, backoffMs } from "../backoff/backoff.ts";
import { createBatcher } from "./batcher.ts";
import type { Database, Sql } from "./database.ts";
import { createSql, runnerOf } from "./sql/sql.ts";
import type { Runner } from "./sql/statement/statement.ts";
import { prepareStamps } from "./stamps.ts";

/** Runs reads on a replica of the database, as long as it has everything that was committed before. */
export interface ReadReplica {
  /**
   * Runs a read in one transaction on the replica, which begins with the first statement, once every commit that was acknowledged
   * before, by any node, has arrived there. Runs it again without the replica if they do not arrive soon, or if a statement fails there.
   */
  read<T>(read: (replica: Sql | undefined) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface Options {
  readonly primary: Pick<Database, "sql" | "transaction">;
  readonly replica: Pick<Database, "transaction" | "close">;
  /** Called for each read with the server that answered it; not for one that ran no statement while the replica was in use. */
  readonly onRead: (server: "primary" | "replica") => void;
  /** Called once when the replica fails repeatedly, until it has answered again. */
  readonly onLeftOut: (reason: unknown) => void;
}

/** A position in the log of one server, on one of its timelines. */
interface Position {
  readonly lsn: string;
  /** The row of the stamps: after a failover, the log of another server may hold other commits at the same position. */
  readonly origin: string;
}

/** How long a read waits for the replica to have a connection and all commits. */
const arrivalMs = 50;
const pollMs = 2;
/** How long the replica is left out after failures in a row. */
const leftOut: Backoff = { firstMs: 250, maxMs: 10_000, spread: [1, 1.2] };

export function createReadReplica({ primary, replica, onRead, onLeftOut }: Options): ReadReplica {
  let failures = 0;
  let leftOutUntilMs = 0;

  // A statement that is sent after a read began knows every commit that was acknowledged before the read.
  const positions = createBatcher<undefined, Position>({
    lanes: 2,
    flush: async (readers) => {
      const position = await readPosition(primary);
      return readers.map(() => position);
    },
  });

  /** Begins a transaction on the replica. Resolves with what runs its statements, once all earlier commits have arrived. */
  async function begin(end: Promise<void>): Promise<Runner> {
    const position = await positions.run(undefined);
    const signal = AbortSignal.timeout(arrivalMs);
    const { promise, resolve, reject } = Promise.withResolvers<Runner>();
    // A replica that hangs is not waited for; the pool closes its connections.
    signal.addEventListener("abort", () => reject(signal.reason));
    const work = async (tx: Sql) => {
      await untilArrived(tx, position, signal);
      resolve(runnerOf(tx));
      await end;
    };
    replica.transaction(work, { signal }).catch(reject);
    return promise;
  }

  /** The `sql` of one read, whose first statement begins a transaction on the replica. */
  function startAttempt() {
    const { promise: end, resolve } = Promise.withResolvers<void>();
    let begun: Promise<Runner> | undefined;
    async function run<R>(statement: (runner: Runner) => Promise<R>): Promise<R> {
      attempt.isUsed = true;
      begun ??= begin(end);
      try {
        return await statement(await begun);
      } catch (reason) {
        attempt.failure ??= { reason };
        throw reason;
      }
    }
    const sql = createSql({
      run: (shape, parameters, bytesMax) => run((runner) => runner.run(shape, parameters, bytesMax)),
      runText: (text) => run((runner) => runner.runText(text)),
    });
    /** The failure is that of a statement, also if the read has handled it. */
    const attempt = {
      sql,
      end: resolve,
      isUsed: false,
      failure: undefined as { readonly reason: unknown } | undefined,
    };
    return attempt;
  }

  return {
    async read(read) {
      if (performance.now() >= leftOutUntilMs) {
        const attempt = startAttempt();
        try {
          const result = await read(attempt.sql);
          if (attempt.failure === undefined) {
            if (!attempt.isUsed) return result;
            failures = 0;
            onRead("replica");
            return result;
          }
        } catch (error) {
          if (attempt.failure === undefined) throw error;
        } finally {
          attempt.end();
        }
        leftOutUntilMs = performance.now() + backoffMs(leftOut, ++failures, Math.random());
        // One failure alone means little: after a quiet minute, a read waits too long for a new connection.
        if (failures === 2) onLeftOut(attempt.failure.reason);
      }
      onRead("primary");
      return read(undefined);
    },
    close: () => replica.close(),
  };
}

/** Reads the end of the primary's log. In a new era, the stamps are prepared first, so that a replica of this log shows their row. */
async function readPosition(primary: Options["primary"]): Promise<Position> {
  for (;;) {
    const [{ lsn, origin }] = await primary.sql<[{ lsn: string; origin: string | null }]>`
      select lsn::text,
        (select value::text from instance where name = 'stamps' and (value ->> 'era')::bigint = stamp_base() >> 44) as origin
      from (
        -- Commits are flushed before they are acknowledged, unless the server is set not to. What is not flushed is not sent either.
        select case current_setting('synchronous_commit')
          when 'off' then pg_current_wal_insert_lsn() else pg_current_wal_flush_lsn() end as lsn
      ) log`;
    if (origin !== null) return { lsn, origin };
    await prepareStamps(primary);
  }
}

/** Waits until a replica has replayed the log up to a position. */
async function untilArrived(tx: Sql, { lsn, origin }: Position, signal: AbortSignal): Promise<void> {
  for (;;) {
    const [row] = await tx<[{ hasArrived: boolean | null }]>`
      select pg_is_in_recovery() and pg_last_wal_replay_lsn() >= ${lsn}::pg_lsn
        and exists (select from instance where name = 'stamps' and value = ${origin}::text::jsonb) as has_arrived`;
    signal.throwIfAborted();
    if (row.hasArrived === true) return;
    await delay(pollMs);
  }
}
