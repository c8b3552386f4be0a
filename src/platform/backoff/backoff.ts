/** How attempts are repeated. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * How long to wait after a number of failures in a row: doubled each time, with up to a fifth more by `random` (0 to 1), so that
 * retries spread.
 */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number, random = 0): number {
  const baseMs = Math.min(firstMs * 2 ** Math.min(Math.max(failures - 1, 0), 30), maxMs);
  return Math.round(baseMs * (1 + random / 5));
}
