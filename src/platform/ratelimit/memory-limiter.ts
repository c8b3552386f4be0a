import type { Clock } from "../clock/clock.ts";
import { shareOf } from "../process-share/process-share.ts";
import { type Rate, type RateLimitDecision, type RateLimiter, toDecision, toDurations } from "./limiter.ts";

/** A limiter local to this process. It stores only buckets that are not full. */
export interface MemoryLimiter extends RateLimiter {
  take(key: string, cost: number, rate: Rate): RateLimitDecision;
  /** The number of stored buckets. */
  readonly size: number;
}

/** Creates an in-memory limiter. It decides synchronously and deletes buckets once they are full. */
export function createMemoryLimiter(clock: Clock): MemoryLimiter {
  const fullAt = new Map<string, number>();
  let sweep = fullAt.entries();

  // A take adds at most one bucket and checks two, so full buckets cannot accumulate.
  function deleteFullBuckets(nowMs: number): void {
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
    shareOf: (total) => shareOf(total),
    get size() {
      return fullAt.size;
    },
    take(key, cost, rate) {
      const nowMs = clock.now();
      const span = toDurations(cost, rate);
      let fullInMs = Math.max(0, (fullAt.get(key) ?? 0) - nowMs);
      // A deficit larger than the bucket means that the clock was set back or the rate was raised: treat the bucket as empty.
      if (fullInMs > span.bucket) {
        fullInMs = span.bucket;
        fullAt.set(key, nowMs + fullInMs);
      }
      const wantedMs = fullInMs + span.cost;
      const allowed = wantedMs <= span.bucket + 1e-6;
      if (allowed && span.cost > 0) fullAt.set(key, nowMs + wantedMs);
      deleteFullBuckets(nowMs);
      return toDecision(allowed, allowed ? wantedMs : fullInMs, wantedMs, rate);
    },
  };
}
