/** The maximum delays before the second, third … attempt: eight attempts over about half an hour. */
const ceilingsMs = [5_000, 15_000, 45_000, 120_000, 300_000, 600_000, 900_000];

const retryAfterMsMax = 15 * 60_000;

/**
 * The delay after a number of attempts. Full jitter spreads deliveries that failed together. A provider's Retry-After is
 * honoured up to 15 minutes.
 */
export function retryWaitMs(attempts: number, retryAfterMs: number | undefined, random: number): number {
  const ceilingMs = ceilingsMs[Math.min(attempts, ceilingsMs.length) - 1]!;
  const drawnMs = Math.round(ceilingMs * random);
  return Math.max(drawnMs, Math.min(retryAfterMs ?? 0, retryAfterMsMax));
}
