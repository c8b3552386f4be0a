/** The longest delay that a provider may request. */
const waitMsMax = 15 * 60_000;

/** Parses a Retry-After header, in seconds or as a date; undefined when it is absent or invalid. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), waitMsMax);
}
