import type { Database } from "../db/index.ts";
import { createRepeatedTask } from "../jobs/index.ts";
import type { Log } from "../log/log.ts";
import type { Clock } from "./clock.ts";

/** The clock of a node: the time of the database, which all nodes share. */
export interface DatabaseClock extends Clock {
  isFenced(): boolean;
  /** How far this machine's clock is ahead of the database's. */
  skewMs(): number;
  stop(): void;
}

/** The database's time at a time of the monotonic clock. */
interface Measurement {
  readonly databaseMs: number;
  readonly monotonicMs: number;
  /** Half of the round trip, in which the database read its clock at an unknown moment. */
  readonly errorMs: number;
}

interface Dependencies {
  readonly db: Pick<Database, "sql">;
  readonly log: Pick<Log, "info" | "warn">;
  readonly measureEveryMs?: number;
}

/** The skew beyond which a node fences itself. */
const skewMsMax = 5000;
/** By how much a monotonic clock may go wrong, per millisecond. */
const driftMax = 0.0002;

/**
 * Starts the clock: it measures the database's time regularly and continues it with the monotonic clock, so that neither a wrong
 * system clock nor a change of it has an effect. A system clock that is wrong by seconds shows that the machine is not under
 * control, or that it slept: then the node is fenced.
 */
export async function startDatabaseClock({ db, log, measureEveryMs = 2500 }: Dependencies): Promise<DatabaseClock> {
  let measured = await measure(db);
  let wasFenced = false;

  function timeAt(monotonicMs: number): number {
    return measured.databaseMs + (monotonicMs - measured.monotonicMs);
  }

  function errorAt(monotonicMs: number): number {
    return measured.errorMs + (monotonicMs - measured.monotonicMs) * driftMax;
  }

  function skewMs(): number {
    return Date.now() - timeAt(performance.now());
  }

  function isFenced(): boolean {
    return Math.abs(skewMs()) - errorAt(performance.now()) > skewMsMax;
  }

  async function measureAgain(): Promise<void> {
    const next = await measure(db);
    const errorMs = errorAt(next.monotonicMs);
    const isContradiction = Math.abs(next.databaseMs - timeAt(next.monotonicMs)) > errorMs + next.errorMs;
    if (isContradiction || next.errorMs <= errorMs) measured = next;
    if (isFenced() === wasFenced) return;
    wasFenced = !wasFenced;
    if (wasFenced)
      log.warn({ skewMs: Math.round(skewMs()) }, "fenced: the clock of this machine is not the database's");
    else log.info("no longer fenced: the clock of this machine is the database's again");
  }

  const task = createRepeatedTask({
    work: measureAgain,
    maxWaitMs: measureEveryMs,
    // The monotonic clock continues the time, and readiness reports that the database does not respond.
    onError: () => {},
  });
  // The first measurement includes the time to connect.
  await measureAgain();
  task.start();

  return {
    now() {
      const monotonicMs = performance.now();
      const [databaseMs, systemMs] = [timeAt(monotonicMs), Date.now()];
      // Within the error there is no difference. The system clock then has no steps between measurements.
      return Math.abs(systemMs - databaseMs) <= errorAt(monotonicMs) + 1 ? systemMs : Math.floor(databaseMs);
    },
    isFenced,
    skewMs,
    // A measurement in flight ends with the connections.
    stop: () => void task.stop(),
  };
}

async function measure({ sql }: Dependencies["db"]): Promise<Measurement> {
  const sentMs = performance.now();
  const [row] = await sql<{ ms: number }[]>`select extract(epoch from clock_timestamp())::float8 * 1000 as ms`;
  const receivedMs = performance.now();
  return {
    databaseMs: row!.ms,
    monotonicMs: (sentMs + receivedMs) / 2,
    errorMs: (receivedMs - sentMs) / 2,
  };
}
