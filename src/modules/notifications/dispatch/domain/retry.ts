/** The longest waits before the second, third … attempt: eight attempts over about half an hour. */
const ceilingsMs = [5_000, 15_000, 45_000, 120_000, 300_000, 600_000, 900_000];

const retryAfterMsMax = 15 * 60_000;

/**
 * How long to wait after so many attempts. The wait is drawn from its whole range, so that what failed together does not
 * come back together; a provider that says how long to wait is listened to, up to a quarter of an hour.
 */
export function retryWaitMs(attempts: number, retryAfterMs: number | undefined, random: number): number {
  const ceilingMs = ceilingsMs[Math.min(attempts, ceilingsMs.length) - 1]!;
  const drawnMs = Math.round(ceilingMs * random);
  return Math.max(drawnMs, Math.min(retryAfterMs ?? 0, retryAfterMsMax));
}
