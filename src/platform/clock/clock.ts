/** The source of the current time; tests provide their own. */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. */
  now(): number;
}

/** The system clock. */
export const systemClock: Clock = { now: () => Date.now() };
