import { createSerialTask, type SerialTask } from "./serial-task.ts";

/** A serial task that runs again by itself: the periodic loop of all background work. */
export interface RepeatedTask extends SerialTask {
  /** Runs the task after this time, unless it runs earlier. */
  runWithin(ms: number): void;
}

interface Options {
  /** Does the work; returns how long to wait until the next run, by default `maxWaitMs`. */
  readonly work: () => Promise<number> | Promise<void>;
  /** The longest wait, also after an error. */
  readonly maxWaitMs: number;
  readonly onError: (error: unknown) => void;
  /** Calls `run` whenever there may be work; returns the unsubscribe function. */
  readonly subscribe?: ((run: () => void) => () => void) | undefined;
  /** Whether `stop` does the work a last time: for work that stores what is in memory. */
  readonly runsAtStop?: boolean;
}

/** Creates a repeated task. */
export function createRepeatedTask({ work, maxWaitMs, onError, subscribe, runsAtStop }: Options): RepeatedTask {
  let timer: NodeJS.Timeout | undefined;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let isStopped = true;
  let unsubscribe: (() => void) | undefined;

  function runWithin(ms: number): void {
    const waitMs = Math.min(ms, maxWaitMs);
    const atMs = performance.now() + waitMs;
    if (isStopped || atMs >= timerAtMs) return;
    clearTimeout(timer);
    timerAtMs = atMs;
    timer = setTimeout(task.run, waitMs);
  }

  function clear(): void {
    clearTimeout(timer);
    timerAtMs = Number.POSITIVE_INFINITY;
  }

  const task = createSerialTask(async () => {
    clear();
    let waitMs: number | undefined;
    try {
      waitMs = (await work()) ?? undefined;
    } finally {
      runWithin(waitMs ?? maxWaitMs);
    }
  }, onError);

  return {
    run: task.run,
    runWithin,
    start() {
      if (isStopped) unsubscribe = subscribe?.(task.run);
      isStopped = false;
      return task.start();
    },
    async stop() {
      isStopped = true;
      unsubscribe?.();
      clear();
      await task.stop();
      if (runsAtStop) await Promise.resolve(work()).catch(onError);
    },
  };
}
