/** The source of the current time; tests provide their own. */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. */
  now(): number;
  /** Whether the node's system clock is so wrong that the node must not own background work. Absent clocks are never fenced. */
  isFenced?(): boolean;
}

/** The system clock of this machine, to measure durations. The time of a node is the database's. */
export const systemClock: Clock = { now: () => Date.now() };
