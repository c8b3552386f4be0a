import { BoundedCache } from "../../../platform/cache/bounded-cache.ts";

/** Delays refusals, so that callers that retry immediately cost no more than others. Undefined means no delay. */
export type RefusalThrottle = (tenant: string) => Promise<void> | undefined;

interface Limits {
  /** Refusals per second that one tenant gets without delay. */
  readonly perSecond: number;
  /** The longest delay of a refusal. */
  readonly delayMsMax: number;
  /** The largest number of delayed refusals at a time. */
  readonly delayedMax: number;
}

const tenantsMax = 10_000;

/**
 * Creates a throttle of each tenant's refusals. Without it, a caller that retries immediately could keep a node busy with
 * refusals: reading a request and writing a response is most of the cost of a short call.
 */
export function createRefusalThrottle({ perSecond, delayMsMax, delayedMax }: Limits): RefusalThrottle {
  const gapMs = 1000 / perSecond;
  /** When each tenant's latest refusal is due if refusals are sent one by one at the allowed rate. */
  const dueAtMs = new BoundedCache<string, number>(tenantsMax);
  let delayed = 0;

  return (tenant) => {
    const nowMs = performance.now();
    const dueMs = Math.max(dueAtMs.get(tenant) ?? Number.NEGATIVE_INFINITY, nowMs - 1000) + gapMs;
    dueAtMs.set(tenant, Math.min(dueMs, nowMs + delayMsMax));
    const delayMs = Math.min(dueMs - nowMs, delayMsMax);
    if (delayMs <= 0 || delayed >= delayedMax) return undefined;
    delayed++;
    return new Promise((resolve) => {
      setTimeout(() => {
        delayed--;
        resolve();
      }, delayMs);
    });
  };
}
