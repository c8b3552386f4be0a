/**
 * Rate limits: token buckets, one a key, filled at a steady rate up to a burst; a call takes as many tokens as it costs.
 *
 * rate      `rps` tokens a second, at most `burst` at once
 * verdict   whether the call may go on, and what its answer's headers say
 * degraded  the verdict was given without the store that counts
 */
export type { Rate, RateLimiter, Verdict } from "./limiter.ts";
export { memoryLimiter } from "./memory-limiter.ts";
export { type RedisLimiter, type RedisLimiterSettings, redisLimiter } from "./redis-limiter.ts";
