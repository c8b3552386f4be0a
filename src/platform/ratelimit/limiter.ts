import { fail } from "../../errors/index.ts";

/** The refill rate and the capacity of a bucket. */
export interface Rate {
  /** Tokens per second; above 0. */
  readonly rps: number;
  /** Tokens in a full bucket; 1 or more. */
  readonly burst: number;
}

/** The rate limit decision for one call. */
export interface RateLimitDecision {
  readonly allowed: boolean;
  /** The bucket's size, for `X-RateLimit-Limit`. */
  readonly limit: number;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Whole seconds until the same call would be allowed; 0 for an allowed call. */
  readonly retryAfterS: number;
  /** Milliseconds until the same call would be allowed; 0 for an allowed call. */
  readonly waitMs: number;
  /** Whole seconds until the bucket is full. */
  readonly resetS: number;
  /** Set when the shared store was unavailable, so that the call was not counted. */
  readonly degraded?: true;
}

/** Decides whether a call is within its rate limit. */
export interface RateLimiter {
  /** The part of a limit that this limiter is to enforce: all of it, if it counts the calls of all processes. */
  shareOf(total: number): number;
  /** Takes `cost` tokens from the bucket of `key`, all or none. A cost above the burst takes a full bucket. */
  take(key: string, cost: number, rate: Rate): Promise<RateLimitDecision> | RateLimitDecision;
}

/*
 * A bucket is stored as one number: the time at which it will be full again. A call postpones that time by the refill time
 * of its cost. It is allowed if the new time is no later than the time at which an empty bucket would be full. This is the
 * generic cell rate algorithm (GCRA), which is equivalent to a token bucket. Both limiters use it.
 */

/** The refill times, in milliseconds, of `cost` tokens and of a whole bucket. */
export function toDurations(cost: number, rate: Rate): { cost: number; bucket: number } {
  if (!(rate.rps > 0) || !(rate.burst >= 1) || !(cost >= 0)) {
    const cause = new Error(`Invalid rate limit: ${rate.rps} rps, burst ${rate.burst}, cost ${cost}.`);
    throw fail("INTERNAL", { cause });
  }
  return { cost: (Math.min(cost, rate.burst) * 1000) / rate.rps, bucket: (rate.burst * 1000) / rate.rps };
}

/** Computes the decision from the time until the bucket is full: as it is now, and with the requested cost taken. */
export function toDecision(allowed: boolean, fullInMs: number, wantedFullInMs: number, rate: Rate): RateLimitDecision {
  const bucketMs = (rate.burst * 1000) / rate.rps;
  // A tolerance of a nanosecond, so that floating-point error does not cost a token or a second.
  const tokens = rate.burst - (fullInMs * rate.rps) / 1000;
  return {
    allowed,
    limit: Math.floor(rate.burst),
    remaining: Math.max(0, Math.floor(tokens + 1e-6)),
    retryAfterS: allowed ? 0 : Math.max(1, Math.ceil((wantedFullInMs - bucketMs) / 1000 - 1e-6)),
    waitMs: allowed ? 0 : Math.max(0, Math.floor((wantedFullInMs - bucketMs) * 1000 + 1e-3) / 1000),
    resetS: Math.max(0, Math.ceil(fullInMs / 1000 - 1e-6)),
  };
}
