import { BoundedCache } from "../../../platform/cache/bounded-cache.ts";
import type { RateLimitDecision } from "../../../platform/ratelimit/index.ts";

/** A bucket that refused a call. */
interface ExhaustedBucket {
  readonly cost: number;
  readonly rps: number;
  readonly atMs: number;
  readonly untilMs: number;
  readonly verdict: RateLimitDecision;
}

const bucketsMax = 10_000;

/**
 * Creates a cache of buckets that cannot grant a cost before a known time.
 *
 * A bucket never refills faster than its rate. A call that costs at least as much as a refused one is therefore refused
 * until then, without a request to the limiter.
 */
export function createExhaustedBuckets() {
  const buckets = new BoundedCache<string, ExhaustedBucket>(bucketsMax);
  return {
    get size(): number {
      return buckets.size;
    },
    /** Records that a bucket refused a cost. */
    add(key: string, cost: number, rps: number, verdict: RateLimitDecision): void {
      const atMs = Date.now();
      buckets.set(key, { cost, rps, atMs, untilMs: atMs + verdict.waitMs, verdict });
    },
    /** The refusal that a call of this cost would get now; undefined if only the limiter can decide. */
    find(key: string, cost: number): { readonly verdict: RateLimitDecision; readonly rps: number } | undefined {
      const bucket = buckets.get(key);
      if (bucket === undefined) return undefined;
      const nowMs = Date.now();
      // A clock that was set back must not keep a bucket exhausted.
      if (nowMs >= bucket.untilMs || nowMs < bucket.atMs) {
        buckets.delete(key);
        return undefined;
      }
      if (cost < bucket.cost) return undefined;
      return { verdict: verdictAt(bucket, cost, nowMs), rps: bucket.rps };
    },
  };
}

/** The verdict about a call of another cost, with its times and remaining tokens adjusted to now. */
function verdictAt(
  { verdict, cost: refusedCost, atMs, untilMs, rps }: ExhaustedBucket,
  cost: number,
  nowMs: number,
): RateLimitDecision {
  const missingTokens = Math.min(cost, verdict.limit) - Math.min(refusedCost, verdict.limit);
  const waitMs = untilMs - nowMs + (missingTokens * 1000) / rps;
  return {
    ...verdict,
    remaining: verdict.remaining + Math.floor(((nowMs - atMs) * rps) / 1000),
    waitMs,
    retryAfterS: Math.max(1, Math.ceil(waitMs / 1000)),
    resetS: Math.max(0, verdict.resetS - Math.floor((nowMs - atMs) / 1000)),
  };
}
