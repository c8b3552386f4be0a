import { Redis } from "ioredis";
import { fail } from "../../errors/index.ts";
import { type Clock, systemClock } from "../clock/clock.ts";
import { redisOptions } from "../redis/redis-options.ts";
import { type Rate, type RateLimitDecision, type RateLimiter, toDecision, toDurations } from "./limiter.ts";
import { takeScript } from "./take-script.ts";

/** How to connect to Redis, and what to do when it is unavailable. */
export interface RedisLimiterSettings {
  /** A `redis://` or `rediss://` URL, or the path of a Unix socket. */
  readonly url: string;
  /** `open` allows calls without counting them; `closed` rejects them with UNAVAILABLE. */
  readonly failMode: "open" | "closed";
  /** Times only the pause after a failure. Buckets use the clock of Redis, which all nodes share. */
  readonly clock?: Clock;
  /** Prefix of every key, so that several installations can share a Redis. */
  readonly prefix?: string;
  /** How long a call waits for Redis; 100 by default. Connecting may take ten times as long. */
  readonly commandTimeoutMs?: number | undefined;
  /** Receives every failed command or connection. Calls during the pause after a failure are not reported. */
  readonly onError?: (error: Error) => void;
}

/** A limiter whose buckets are shared by all nodes. */
export interface RedisLimiter extends RateLimiter {
  take(key: string, cost: number, rate: Rate): Promise<RateLimitDecision>;
  /** Resolves when Redis responds. Waits for a connection in progress, for at most ten times the command timeout. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const commandTimeoutMsDefault = 100;
// After a timeout, calls skip Redis for a while. Each would wait for 100 ms in vain, and unanswered commands would accumulate.
const pauseMs = 500;

type TakeCommand = (key: string, costUs: number, bucketUs: number) => Promise<[allowed: number, fullInUs: string]>;

/** Creates a limiter on Redis or Valkey. A call waits for it no longer than about `commandTimeoutMs`. */
export function createRedisLimiter(settings: RedisLimiterSettings): RedisLimiter {
  const clock = settings.clock ?? systemClock;
  const prefix = settings.prefix ?? "rl:";
  const commandTimeoutMs = settings.commandTimeoutMs ?? commandTimeoutMsDefault;
  const options = redisOptions(commandTimeoutMs);
  const redis = new Redis(settings.url, {
    ...options,
    scripts: { takeTokens: { lua: takeScript, numberOfKeys: 1 } },
  });
  const takeTokens = (redis as unknown as { takeTokens: TakeCommand }).takeTokens.bind(redis);
  let pausedUntilMs = 0;

  // An error event without a listener would end the process.
  redis.on("error", (error) => settings.onError?.(error));

  function decideWithoutRedis(rate: Rate, cause: unknown): RateLimitDecision {
    if (settings.failMode === "closed") {
      throw fail("UNAVAILABLE", {
        public: "The rate limit cannot be checked at the moment. Retry after the time in Retry-After.",
        headers: { "Retry-After": "1" },
        cause,
      });
    }
    const limit = Math.floor(rate.burst);
    return { allowed: true, limit, remaining: limit, retryAfterS: 0, waitMs: 0, resetS: 0, degraded: true };
  }

  return {
    shareOf: (total) => total,
    async take(key, cost, rate) {
      const span = toDurations(cost, rate);
      if (clock.now() < pausedUntilMs)
        return decideWithoutRedis(rate, new Error("Redis is skipped because a recent command timed out."));
      let answer: Awaited<ReturnType<TakeCommand>>;
      try {
        answer = await takeTokens(prefix + key, Math.round(span.cost * 1000), Math.round(span.bucket * 1000));
      } catch (error) {
        // Only a timeout causes a pause. A refused or missing connection fails immediately and costs nothing.
        if (redis.status === "ready") pausedUntilMs = clock.now() + pauseMs;
        settings.onError?.(error as Error);
        return decideWithoutRedis(rate, error);
      }
      const [allowed, fullInUs] = answer;
      const fullInMs = Number(fullInUs) / 1000;
      return toDecision(allowed === 1, fullInMs, fullInMs + span.cost, rate);
    },
    async ping() {
      if (redis.status === "connecting" || redis.status === "connect")
        await waitUntilReady(redis, options.connectTimeout);
      await redis.ping();
    },
    async close() {
      redis.disconnect();
    },
  };
}

function waitUntilReady(redis: Redis, withinMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: Error): void => {
      clearTimeout(timer);
      redis.off("ready", onReady).off("close", onClose);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onReady = (): void => end();
    const onClose = (): void => end(new Error("The connection to Redis failed."));
    const timer = setTimeout(() => end(new Error("The connection to Redis timed out.")), withinMs);
    redis.once("ready", onReady).once("close", onClose);
  });
}
