/**
 * Rate limits: one token bucket per key, refilled at a steady rate up to a burst. A call takes as many tokens as it costs.
 *
 * rate      `rps` tokens per second, at most `burst` in the bucket
 * decision  whether the call is allowed, and the values of its rate limit headers
 * degraded  the decision was made without the shared store, because the store was unavailable
 */
import type { RedisLimiter, RedisLimiterSettings } from "./redis-limiter.ts";

export type { Rate, RateLimitDecision, RateLimiter } from "./limiter.ts";
export { createMemoryLimiter } from "./memory-limiter.ts";
export type { RedisLimiter } from "./redis-limiter.ts";

/** Opens a limiter on Redis or Valkey. The client is loaded on demand, because it takes as much memory as the rest of the service. */
export async function openRedisLimiter(settings: RedisLimiterSettings): Promise<RedisLimiter> {
  const { createRedisLimiter } = await import("./redis-limiter.ts");
  return createRedisLimiter(settings);
}
