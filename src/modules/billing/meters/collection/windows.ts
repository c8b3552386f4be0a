/** The length of the windows in which the service counts its own usage. */
export const windowMs = 300_000;

/** The length of the windows in which the service measures gauges. */
export const gaugeWindowMs = 86_400_000;

/** How long after its end a window is counted for the first time. */
const firstCountMs = 60_000;

/**
 * How long after its end a window is counted for the last time. A call that was made in the window is committed by then,
 * or failed: calls end after api.request_timeout_s at the latest, and clocks of nodes differ by less.
 */
const settleMs = 900_000;

/** The start of the window that contains a time. */
export function windowStart(atMs: number, lengthMs = windowMs): number {
  return Math.floor(atMs / lengthMs) * lengthMs;
}

/** The end of the last window that can be counted. */
export function countableUntil(nowMs: number): number {
  return windowStart(nowMs - firstCountMs);
}

/** The end of the last window that can be counted for the last time. */
export function settledUntil(nowMs: number): number {
  return windowStart(nowMs - settleMs);
}

/** The end of the window that contains the last moment before a time. */
export function windowEnd(atMs: number): number {
  return windowStart(atMs - 1) + windowMs;
}
