/** Where time comes from, so that tests can bring their own. */
export interface Clock {
  /** Milliseconds since 1970, as the wall shows. */
  now(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };
