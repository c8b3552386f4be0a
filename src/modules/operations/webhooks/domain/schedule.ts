const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** The delays before the first, second, … attempt. */
const waitsMs: readonly number[] = [
  0,
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

/** The jitter of delays, so that receivers that failed together are not retried together. */
const spread = 0.2;

/**
 * The delay after a number of attempts; undefined after the last one. `random` is from 0 to 1. The endpoint's own delays replace the
 * default schedule.
 */
export function nextWaitMs(attempts: number, random: number, retryDelaysS: readonly number[] = []): number | undefined {
  const delaysMs = retryDelaysS.length === 0 ? waitsMs : [0, ...retryDelaysS.map((seconds) => seconds * secondMs)];
  const waitMs = delaysMs[attempts];
  return waitMs === undefined ? undefined : Math.round(waitMs * (1 - spread + 2 * spread * random));
}
