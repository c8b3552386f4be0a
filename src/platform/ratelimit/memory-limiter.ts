import type { Clock } from "../clock/clock.ts";
import { type Rate, type RateLimiter, spans, type Verdict, verdictOf } from "./limiter.ts";

/** A limiter of this process alone. It holds only buckets that are not full. */
export interface MemoryLimiter extends RateLimiter {
  take(key: string, cost: number, rate: Rate): Verdict;
  /** Buckets held now. */
  readonly size: number;
}

/** A limiter in memory: answers at once, forgets buckets as they fill up. */
export function memoryLimiter(clock: Clock): MemoryLimiter {
  const fullAt = new Map<string, number>();
  let sweep = fullAt.entries();

  // Each take looks at two buckets in turn: faster than takes can add any, so full ones cannot pile up.
  function forgetFull(nowMs: number): void {
    for (let step = 0; step < 2; step++) {
      const { value, done } = sweep.next();
      if (done) {
        sweep = fullAt.entries();
        return;
      }
      if (value[1] <= nowMs) fullAt.delete(value[0]);
    }
  }

  return {
    get size() {
      return fullAt.size;
    },
    take(key, cost, rate) {
      const nowMs = clock.now();
      const span = spans(cost, rate);
      let fullInMs = Math.max(0, (fullAt.get(key) ?? 0) - nowMs);
      // Emptier than empty means that the clock was set back or the rate raised: fill from now on.
      if (fullInMs > span.bucket) {
        fullInMs = span.bucket;
        fullAt.set(key, nowMs + fullInMs);
      }
      const wantedMs = fullInMs + span.cost;
      const allowed = wantedMs <= span.bucket + 1e-6;
      if (allowed && span.cost > 0) fullAt.set(key, nowMs + wantedMs);
      forgetFull(nowMs);
      return verdictOf(allowed, allowed ? wantedMs : fullInMs, wantedMs, rate);
    },
  };
}
