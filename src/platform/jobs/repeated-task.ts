import { createSerialTask, type SerialTask } from "./serial-task.ts";

/** A serial task that runs again by itself. */
export interface RepeatedTask extends SerialTask {
  /** Runs the task after this time, unless it runs earlier. */
  runWithin(ms: number): void;
}

interface Options {
  /** Does the work; returns how long to wait until the next run. */
  readonly work: () => Promise<number>;
  /** The longest wait, also after an error. */
  readonly maxWaitMs: number;
  readonly onError: (error: unknown) => void;
}

/** Creates a repeated task. */
export function createRepeatedTask({ work, maxWaitMs, onError }: Options): RepeatedTask {
  let timer: NodeJS.Timeout | undefined;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let isStopped = true;

  function runWithin(ms: number): void {
    const waitMs = Math.min(ms, maxWaitMs);
    const atMs = performance.now() + waitMs;
    if (isStopped || atMs >= timerAtMs) return;
    clearTimeout(timer);
    timerAtMs = atMs;
    timer = setTimeout(task.run, waitMs);
  }

  const task = createSerialTask(async () => {
    clearTimeout(timer);
    timerAtMs = Number.POSITIVE_INFINITY;
    let waitMs = maxWaitMs;
    try {
      waitMs = await work();
    } finally {
      runWithin(waitMs);
    }
  }, onError);

  return {
    run: task.run,
    runWithin,
    start() {
      isStopped = false;
      task.start();
    },
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      timerAtMs = Number.POSITIVE_INFINITY;
      await task.stop();
    },
  };
}
