import type { Signals } from "../../../platform/db/index.ts";
import { createSerialTask } from "../../../platform/jobs/index.ts";
import type { Log } from "../../../platform/log/log.ts";

interface Parts<T> {
  readonly signals: Signals;
  readonly log: Log;
  /** Signal topic for new work. */
  readonly topic: string;
  readonly pollMs: number;
  readonly concurrency: number;
  /** Claims at most `limit` pieces of work for this node. */
  readonly claim: (limit: number) => Promise<readonly T[]>;
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
export function createClaimLoop<T>(parts: Parts<T>): ClaimLoop {
  const { signals, log, topic, pollMs, concurrency, claim, perform, name } = parts;
  const running = new Set<Promise<void>>();
  let stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let stopWaking: (() => void) | undefined;

  async function fill(): Promise<void> {
    const limit = concurrency - running.size;
    if (limit <= 0) return;
    const { signal } = stopping;
    const claimed = await claim(limit);
    for (const work of claimed) {
      const done = perform(work, signal)
        .catch((error) => {
          if (!signal.aborted) log.warn({ err: error }, `${name} failed`);
        })
        .finally(() => {
          running.delete(done);
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
