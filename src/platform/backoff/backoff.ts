/** The delays between repeated attempts. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** The growth of the delay with each failure; 2 unless given. */
  readonly factor?: number;
  /** The shares of the delay between which `random` draws, so that retries spread; without it the delay is exact. */
  readonly spread?: readonly [from: number, to: number];
}

/** The delay after a number of failures in a row. `random` is from 0 to 1. */
export function backoffMs(
  { firstMs, maxMs, factor = 2, spread = [1, 1] }: Backoff,
  failures: number,
  random = 0,
): number {
  const delayMs = Math.min(firstMs * factor ** Math.max(failures - 1, 0), maxMs);
  return Math.round(delayMs * (spread[0] + (spread[1] - spread[0]) * random));
}
