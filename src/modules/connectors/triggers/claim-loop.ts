import type { Signals } from "../../../platform/db/index.ts";
import { createSerialTask } from "../../../platform/jobs/index.ts";
import type { Log } from "../../../platform/log/log.ts";

interface Dependencies<T> {
  readonly signals: Signals;
  readonly log: Log;
  /** Signal topic for new work. */
  readonly topic: string;
  readonly pollMs: number;
  readonly concurrency: number;
  /** A tenant with this much work in progress gets no more. */
  readonly perTenant: number;
  /** Claims at most `limit` pieces of work for this node, none of busy tenants. */
  readonly claim: (limit: number, busy: readonly string[]) => Promise<readonly T[]>;
  /** Carries out a piece of work. If it throws, the work is repeated when its claim expires. */
  readonly perform: (work: T, signal: AbortSignal) => Promise<void>;
  /** Names the work in the log. */
  readonly name: string;
}

/** Claims and performs work in the background. */
export interface ClaimLoop {
  start(): void;
  /** Stops claiming, aborts the work in progress and waits for it. */
  stop(): Promise<void>;
  /** Claims work now. */
  wake(): void;
}

/** Creates the loop of this node. */
export function createClaimLoop<T extends { readonly tenantId: string }>(dependencies: Dependencies<T>): ClaimLoop {
  const { signals, log, topic, pollMs, concurrency, perTenant, claim, perform, name } = dependencies;
  const running = new Set<Promise<void>>();
  const countByTenant = new Map<string, number>();
  let stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let stopWaking: (() => void) | undefined;

  function count({ tenantId }: T, change: 1 | -1): void {
    const next = (countByTenant.get(tenantId) ?? 0) + change;
    if (next === 0) countByTenant.delete(tenantId);
    else countByTenant.set(tenantId, next);
  }

  async function fill(): Promise<void> {
    const limit = concurrency - running.size;
    if (limit <= 0) return;
    const { signal } = stopping;
    const busy = [...countByTenant].flatMap(([tenantId, count]) => (count >= perTenant ? [tenantId] : []));
    for (const work of await claim(limit, busy)) {
      count(work, 1);
      const done = perform(work, signal)
        .catch((error) => {
          if (!signal.aborted) log.warn({ err: error }, `${name} failed`);
        })
        .finally(() => {
          running.delete(done);
          count(work, -1);
          // There may be more than one claim returned. Few large claims cost less than many small ones.
          if (running.size <= concurrency / 2) task.run();
        });
      running.add(done);
    }
  }

  const task = createSerialTask(fill, (error) => log.warn({ err: error }, `${name} cannot be claimed`));
  return {
    wake: task.run,
    start() {
      stopping = new AbortController();
      stopWaking = signals.onWake(topic, task.run);
      timer = setInterval(task.run, pollMs);
      task.start();
    },
    async stop() {
      clearInterval(timer);
      stopWaking?.();
      stopping.abort(new Error("The node is stopping."));
      await task.stop();
      await Promise.all(running);
    },
  };
}
