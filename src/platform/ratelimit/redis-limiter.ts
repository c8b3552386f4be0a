import { Redis } from "ioredis";
import { fail } from "../../errors/index.ts";
import { type Clock, systemClock } from "../clock/clock.ts";
import { type Rate, type RateLimiter, spans, type Verdict, verdictOf } from "./limiter.ts";
import { takeScript } from "./take-script.ts";

/** How to reach Redis, and what to do when it cannot be reached. */
export interface RedisLimiterSettings {
  /** `redis://`, `rediss://`, or the path of a unix socket. */
  readonly url: string;
  /** `open` lets calls pass uncounted; `closed` refuses them with UNAVAILABLE. */
  readonly failMode: "open" | "closed";
  /** Only for the pause after a failure; buckets go by Redis's own clock, which all nodes share. */
  readonly clock?: Clock;
  /** In front of every key, so that several installations can share a Redis. */
  readonly prefix?: string;
  /** How long a call waits for Redis; 100 unless it is given. A connection may take ten times as long. */
  readonly answerMs?: number | undefined;
  /** Told about every failure that was not merely a repeat. */
  readonly onError?: (error: Error) => void;
}

/** A limiter whose buckets all nodes share. */
export interface RedisLimiter extends RateLimiter {
  take(key: string, cost: number, rate: Rate): Promise<Verdict>;
  /** Resolves when Redis answers; waits for a connection that is being made, ten times as long as a call at most. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const answerMsDefault = 100;
// After a failure the next calls do not ask: each would wait its 100 ms in vain, and its command would pile up.
const pauseMs = 500;

type TakeCommand = (key: string, costUs: number, bucketUs: number) => Promise<[allowed: number, fullInUs: string]>;

/** A limiter on Redis or Valkey. A call never waits for it longer than about `answerMs`. */
export function redisLimiter(settings: RedisLimiterSettings): RedisLimiter {
  const clock = settings.clock ?? systemClock;
  const prefix = settings.prefix ?? "rl:";
  const answerMs = settings.answerMs ?? answerMsDefault;
  const connectMs = 10 * answerMs;
  const redis = new Redis(settings.url, {
    connectTimeout: connectMs,
    commandTimeout: answerMs,
    // A connection that stays silent is given up, so that one to a host that vanished does not linger for minutes.
    socketTimeout: 2 * connectMs,
    disconnectTimeout: answerMs,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    retryStrategy: (tries) => Math.min(50 * 2 ** tries, 1000),
    scripts: { takeTokens: { lua: takeScript, numberOfKeys: 1 } },
  });
  const takeTokens = (redis as unknown as { takeTokens: TakeCommand }).takeTokens.bind(redis);
  let pausedUntilMs = 0;

  // Without a listener an error event would end the process.
  redis.on("error", (error) => settings.onError?.(error));

  function withoutRedis(rate: Rate, cause: unknown): Verdict {
    if (settings.failMode === "closed") {
      throw fail("UNAVAILABLE", {
        public: "The rate limit cannot be checked now.",
        headers: { "Retry-After": "1" },
        cause,
      });
    }
    const limit = Math.floor(rate.burst);
    return { allowed: true, limit, remaining: limit, retryAfterS: 0, waitMs: 0, resetS: 0, degraded: true };
  }

  return {
    async take(key, cost, rate) {
      const span = spans(cost, rate);
      if (clock.now() < pausedUntilMs) return withoutRedis(rate, new Error("Redis failed a moment ago."));
      let answer: Awaited<ReturnType<TakeCommand>>;
      try {
        answer = await takeTokens(prefix + key, Math.round(span.cost * 1000), Math.round(span.bucket * 1000));
      } catch (error) {
        // Only silence is worth a pause: a refused or missing connection fails at once and costs nothing.
        if (redis.status === "ready") pausedUntilMs = clock.now() + pauseMs;
        settings.onError?.(error as Error);
        return withoutRedis(rate, error);
      }
      const [allowed, fullInUs] = answer;
      const fullInMs = Number(fullInUs) / 1000;
      return verdictOf(allowed === 1, fullInMs, fullInMs + span.cost, rate);
    },
    async ping() {
      if (redis.status === "connecting" || redis.status === "connect") await connected(redis, connectMs);
      await redis.ping();
    },
    async close() {
      redis.disconnect();
    },
  };
}

function connected(redis: Redis, withinMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (error?: Error): void => {
      clearTimeout(timer);
      redis.off("ready", onReady).off("close", onClose);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onReady = (): void => end();
    const onClose = (): void => end(new Error("The connection to Redis failed."));
    const timer = setTimeout(() => end(new Error("No connection to Redis in time.")), withinMs);
    redis.once("ready", onReady).once("close", onClose);
  });
}
