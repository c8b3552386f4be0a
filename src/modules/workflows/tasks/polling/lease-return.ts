import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { TaskQueue } from "../domain/task.ts";
import { type LeaseRef, releaseLeases } from "../reports/report-store.ts";

/** Returns tasks that no worker received. Their attempts are not counted. */
export type LeaseReturn = ReturnType<typeof createLeaseReturn>;

interface Dependencies {
  readonly db: Database;
  readonly log: Pick<Log, "warn">;
  readonly wake: (queue: TaskQueue) => void;
  readonly onReturned: (count: number) => void;
}

const retryMs = [100, 1000, 5000];
/** A commit with an unknown outcome may still be in progress for a while. */
const laterMs = [1000, 10_000];

/** Creates the return of leases. Returning a lease again has no effect, so it is always safe to repeat. */
export function createLeaseReturn({ db, log, wake, onReturned }: Dependencies) {
  const running = new Set<Promise<void>>();
  const stopped = new AbortController();

  async function release(leases: readonly LeaseRef[]): Promise<void> {
    const released = await releaseLeases(db.sql, leases);
    onReturned(released.length);
    for (const queue of released) wake(queue);
  }

  async function retry(leases: readonly LeaseRef[]): Promise<void> {
    for (const ms of retryMs) {
      await delay(ms, undefined, { signal: stopped.signal, ref: false });
      try {
        return await release(leases);
      } catch (error) {
        log.warn({ err: error, count: leases.length }, "returning workflow tasks failed");
      }
    }
  }

  async function releaseLater(lease: LeaseRef): Promise<void> {
    for (const ms of laterMs) {
      await delay(ms, undefined, { signal: stopped.signal, ref: false });
      await release([lease]).catch((error) => log.warn({ err: error }, "returning a workflow task failed"));
    }
  }

  /** Tracks background work. It only ends early when the node stops; the leases expire then. */
  function track(work: Promise<void>): Promise<void> {
    const tracked = work.catch(() => {}).finally(() => running.delete(tracked));
    running.add(tracked);
    return tracked;
  }

  return {
    /** Returns tasks now; retries in the background if the database fails. */
    async giveBack(leases: readonly LeaseRef[]) {
      if (leases.length === 0) return;
      await track(
        release(leases).catch((error) => {
          log.warn({ err: error, count: leases.length }, "returning workflow tasks failed");
          void track(retry(leases));
        }),
      );
    },
    /** Returns a task that may be committed later, since the outcome of its commit is unknown. */
    giveBackLater: (lease: LeaseRef) => void track(releaseLater(lease)),
    /** Resolves when nothing is being returned. Delayed returns are dropped after `stop`. */
    async idle() {
      while (running.size > 0) await Promise.all(running);
    },
    stop: () => stopped.abort(),
  };
}
