/** A task that never runs concurrently with itself. A run requested during a run follows it, once. */
export interface SerialTask {
  /** Runs the task now, or once more after the current run. Does nothing before `start` and after `stop`. */
  run(): void;
  /** Enables the task and runs it, unless it is enabled; resolves after that run. */
  start(): Promise<void>;
  /** Disables the task and waits for the current run. */
  stop(): Promise<void>;
}

/** Creates a serial task. */
export function createSerialTask(work: () => Promise<void>, onError: (error: unknown) => void): SerialTask {
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = true;
  const run = (): void => {
    again = running !== undefined;
    if (again || stopped) return;
    running = work()
      .catch(onError)
      .finally(() => {
        running = undefined;
        if (again) run();
      });
  };
  return {
    run,
    async start() {
      if (!stopped) return;
      stopped = false;
      run();
      await running;
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}
