import { fail } from "../../errors/index.ts";

/** How fast a bucket fills, and how much it holds. */
export interface Rate {
  /** Tokens a second; above 0. */
  readonly rps: number;
  /** Tokens in a full bucket; 1 or more. */
  readonly burst: number;
}

/** The answer to one call. */
export interface Verdict {
  readonly allowed: boolean;
  /** The bucket's size, for `X-RateLimit-Limit`. */
  readonly limit: number;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Whole seconds until the same call would be allowed; 0 when it was. */
  readonly retryAfterS: number;
  /** Milliseconds until the same call would be allowed; 0 when it was. */
  readonly waitMs: number;
  /** Whole seconds until the bucket is full. */
  readonly resetS: number;
  /** Set when the store that counts could not be asked. */
  readonly degraded?: true;
}

/** Decides whether a call may go on. */
export interface RateLimiter {
  /** Takes `cost` tokens from the bucket of `key`, all or none. A cost above the burst takes a full bucket. */
  take(key: string, cost: number, rate: Rate): Promise<Verdict> | Verdict;
}

/*
 * A bucket is one number: the time when it will be full again. A take pushes that time back by what it cost; it is
 * allowed while the bucket would be full again within the time that an empty one takes. (This is the token bucket
 * seen from its other end, known as GCRA.) Both limiters count this way.
 */

/** Time that `cost` tokens take to flow in, and that a whole bucket takes. */
export function spans(cost: number, rate: Rate): { cost: number; bucket: number } {
  if (!(rate.rps > 0) || !(rate.burst >= 1) || !(cost >= 0)) {
    const cause = new Error(`A rate limit of ${rate.rps} rps, burst ${rate.burst}, cost ${cost} makes no sense.`);
    throw fail("INTERNAL", { cause });
  }
  return { cost: (Math.min(cost, rate.burst) * 1000) / rate.rps, bucket: (rate.burst * 1000) / rate.rps };
}

/** The verdict, from how long the bucket takes to be full again: now, and if the take were granted. */
export function verdictOf(allowed: boolean, fullInMs: number, wantedFullInMs: number, rate: Rate): Verdict {
  const bucketMs = (rate.burst * 1000) / rate.rps;
  // Rounded to a nanosecond first: a binary fraction must not cost a token or a second.
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
