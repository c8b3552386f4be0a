/** Background work that repeats: the periodic loop. It never runs concurrently with itself. */
export interface RepeatedTask {
  /** Runs the task now, or once more after the current run. Does nothing before `start` and after `stop`. */
  run(): void;
  /** Runs the task after this time, unless it runs earlier; at once if the time has passed. */
  runWithin(ms: number): void;
  /** Runs the task when its last run began this long ago; at once if the time has passed. For polls that have something to find. */
  runEvery(ms: number): void;
  /** Enables the task and runs it, unless it is enabled; resolves after that run. */
  start(): Promise<void>;
  /** Disables the task and waits for the current run. */
  stop(): Promise<void>;
}

/** What may make a task run. */
export type TaskWakes = Pick<RepeatedTask, "run" | "runWithin" | "runEvery">;

interface Options {
  /** Does the work; returns how long to wait until the next run, by default `maxWaitMs`. */
  readonly work: () => Promise<number | undefined> | Promise<void>;
  /** The longest wait, also after an error. By default 13 to 15 seconds, for tasks that learn otherwise when their work is due. */
  readonly maxWaitMs?: number;
  readonly onError: (error: unknown) => void;
  /** Subscribes the task to what may cause work; returns the unsubscribe functions. */
  readonly subscribe?: (task: TaskWakes) => readonly (() => void)[];
  /** Whether `stop` does the work a last time: for work that stores what is in memory. */
  readonly runsAtStop?: boolean;
}

/** The shortest wait of a task that learns otherwise when its work is due. */
export const loopMsMin = 13_000;

export function createRepeatedTask(options: Options): RepeatedTask {
  // Random, because tasks that start together would need a connection each, every time.
  const { work, maxWaitMs = loopMsMin + 2000 * Math.random(), onError, subscribe, runsAtStop } = options;
  let running: Promise<void> | undefined;
  let again = false;
  let timer: NodeJS.Timeout | undefined;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let ranAtMs = Number.NEGATIVE_INFINITY;
  let isStopped = true;
  let unsubscribe: readonly (() => void)[] = [];

  function run(): void {
    again = running !== undefined;
    if (again || isStopped) return;
    clear();
    ranAtMs = performance.now();
    running = runOnce().finally(() => {
      running = undefined;
      if (again) run();
    });
  }

  async function runOnce(): Promise<void> {
    let waitMs: number | undefined;
    try {
      waitMs = (await work()) ?? undefined;
    } catch (error) {
      onError(error);
    }
    runWithin(waitMs ?? maxWaitMs);
  }

  function runWithin(ms: number): void {
    const waitMs = Math.max(0, Math.min(ms, maxWaitMs));
    const atMs = performance.now() + waitMs;
    if (isStopped || atMs >= timerAtMs) return;
    clearTimeout(timer);
    timerAtMs = atMs;
    timer = setTimeout(run, waitMs);
  }

  function runEvery(ms: number): void {
    runWithin(ranAtMs + ms - performance.now());
  }

  function clear(): void {
    clearTimeout(timer);
    timerAtMs = Number.POSITIVE_INFINITY;
  }

  return {
    run,
    runWithin,
    runEvery,
    async start() {
      if (!isStopped) return;
      isStopped = false;
      unsubscribe = subscribe?.({ run, runWithin, runEvery }) ?? [];
      run();
      await running;
    },
    async stop() {
      isStopped = true;
      for (const each of unsubscribe) each();
      clear();
      await running;
      if (runsAtStop) await Promise.resolve(work()).catch(onError);
    },
  };
}
