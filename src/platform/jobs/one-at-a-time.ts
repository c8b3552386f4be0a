/** Work that is done one at a time; asked for meanwhile, it is done once more after that. */
export interface Turns {
  /** Has the work done now, or once more when it is being done; nothing before the start and after the stop. */
  run(): void;
  /** Begins, and has the work done for the first time. */
  start(): void;
  /** Starts nothing any more, and waits for what is being done. */
  stop(): Promise<void>;
}

/** Makes the turns of a piece of work. */
export function oneAtATime(work: () => Promise<void>, onError: (error: unknown) => void): Turns {
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
    start() {
      stopped = false;
      run();
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}
