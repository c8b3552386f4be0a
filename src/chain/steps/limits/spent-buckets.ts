import type { RateLimitDecision } from "../../../platform/ratelimit/index.ts";

/** What is known of a bucket that refused a call. */
interface SpentBucket {
  readonly cost: number;
  readonly rps: number;
  readonly atMs: number;
  readonly untilMs: number;
  readonly verdict: RateLimitDecision;
}

const bucketsMax = 10_000;

/**
 * Buckets that cannot give a number of tokens before a known time.
 *
 * A bucket fills at its rate and never faster. So whatever asks for as much as was refused is refused until then, and
 * neither the limiter nor anything else has to be asked.
 */
export function spentBuckets() {
  const spent = new Map<string, SpentBucket>();
  return {
    get size(): number {
      return spent.size;
    },
    /** Notes that a bucket refused a number of tokens. */
    note(key: string, cost: number, rps: number, verdict: RateLimitDecision): void {
      const atMs = Date.now();
      if (spent.size >= bucketsMax) spent.clear();
      spent.set(key, { cost, rps, atMs, untilMs: atMs + verdict.waitMs, verdict });
    },
    /** The refusal that a call of a cost would get, with what is left by now; undefined when it has to ask. */
    find(key: string, cost: number): { readonly verdict: RateLimitDecision; readonly rps: number } | undefined {
      const bucket = spent.get(key);
      if (bucket === undefined) return undefined;
      const nowMs = Date.now();
      // A clock that was set back must not keep a bucket spent.
      if (nowMs >= bucket.untilMs || nowMs < bucket.atMs) {
        spent.delete(key);
        return undefined;
      }
      if (cost < bucket.cost) return undefined;
      return { verdict: aged(bucket, nowMs), rps: bucket.rps };
    },
  };
}

/** A refusal as it would be given now. */
function aged({ verdict, atMs, untilMs, rps }: SpentBucket, nowMs: number): RateLimitDecision {
  const waitMs = untilMs - nowMs;
  return {
    ...verdict,
    remaining: verdict.remaining + Math.floor(((nowMs - atMs) * rps) / 1000),
    waitMs,
    retryAfterS: Math.max(1, Math.ceil(waitMs / 1000)),
    resetS: Math.max(0, verdict.resetS - Math.floor((nowMs - atMs) / 1000)),
  };
}
