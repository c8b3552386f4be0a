/**
 * Rate limits: token buckets, one a key, filled at a steady rate up to a burst; a call takes as many tokens as it costs.
 *
 * rate      `rps` tokens a second, at most `burst` at once
 * verdict   whether the call may go on, and what its answer's headers say
 * degraded  the verdict was given without the store that counts
 */
import type { RedisLimiter, RedisLimiterSettings } from "./redis-limiter.ts";

export type { Rate, RateLimiter, Verdict } from "./limiter.ts";
export { memoryLimiter } from "./memory-limiter.ts";
export type { RedisLimiter } from "./redis-limiter.ts";

/** A limiter on Redis or Valkey; its client is loaded only here, because it takes as much memory as all the rest. */
export async function openRedisLimiter(settings: RedisLimiterSettings): Promise<RedisLimiter> {
  const { redisLimiter } = await import("./redis-limiter.ts");
  return redisLimiter(settings);
}
