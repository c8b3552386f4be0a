import { createRepeatedTask } from "../../jobs/repeated-task.ts";
import type { Database, Fragment, Sql } from "../database.ts";
import { pauseAfterScanMs } from "../scan-pause.ts";

/** The earliest time at which a loop has work: a query for one timestamp, or for none. */
export type NextDue = (sql: Sql) => Fragment;

/** Called with the milliseconds until the next work of a loop, by the database's clock, and with its time. */
export type DueListener = (inMs: number, atMs: number) => void;

/** The interval of looks, and the one while nothing is overdue. */
const busyMs = 500;
const idleMs = 1000;

/** Milliseconds until the next work of a loop, by the database's clock; undefined when there is none. */
export async function readMsToNext(sql: Sql, nextDue: NextDue): Promise<number | undefined> {
  const [row] = await sql<{ ms: number | null }[]>`
    select extract(epoch from (${nextDue(sql)}) - now())::float8 * 1000 as ms`;
  return row!.ms ?? undefined;
}

/**
 * Creates the function that subscribes a loop to its due work. All loops of a node share one statement, which runs twice a
 * second, or once while nothing is overdue: an idle node costs next to nothing. A slow look delays the next one. The function
 * returns the unsubscribe function of the loop.
 */
export function createDueWork(db: Pick<Database, "genericPlans">) {
  const loops = new Map<DueListener, NextDue>();

  async function look(): Promise<number> {
    const startedAtMs = performance.now();
    // The statement asks some fifty tables, so that planning it takes far longer than running it.
    const { sql } = db.genericPlans;
    const listeners = [...loops.keys()];
    const times = [...loops.values()]
      .map((nextDue) => sql`extract(epoch from (${nextDue(sql)}))::float8 * 1000`)
      .reduce((all, each) => sql`${all}, ${each}`);
    const [row] = await sql<{ nowMs: number; dueMs: (number | null)[] }[]>`
      select extract(epoch from now())::float8 * 1000 as now_ms, array[${times}] as due_ms`;
    const { nowMs, dueMs } = row!;
    for (const [nth, listener] of listeners.entries()) {
      const atMs = dueMs[nth];
      if (atMs != null) listener(Math.max(0, atMs - nowMs), atMs);
    }
    const intervalMs = dueMs.some((atMs) => atMs != null && atMs < nowMs) ? busyMs : idleMs;
    return Math.max(intervalMs, pauseAfterScanMs(performance.now() - startedAtMs));
  }

  /** After a failed look, each loop looks for itself. */
  function wakeAll(): number {
    for (const listener of loops.keys()) listener(0, 0);
    return idleMs;
  }

  const looks = createRepeatedTask({ work: () => look().catch(wakeAll), onError: () => {} });

  return (nextDue: NextDue, listener: DueListener): (() => void) => {
    loops.set(listener, nextDue);
    void looks.start();
    return () => {
      loops.delete(listener);
      // A look in flight ends with the connections.
      if (loops.size === 0) void looks.stop();
    };
  };
}
