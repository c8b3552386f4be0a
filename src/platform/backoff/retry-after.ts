/** Reads a Retry-After header: seconds or a date. Past dates are 0; undefined if the header is absent or invalid. */
export function retryAfterMs(header: string | undefined, nowMs: number, maxMs = Infinity): number | undefined {
  const text = header?.trim() ?? "";
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), maxMs);
}
