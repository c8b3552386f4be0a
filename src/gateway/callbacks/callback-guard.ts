import { type Failure, fail } from "../../errors/index.ts";
import type { Clock } from "../../platform/clock/clock.ts";
import { createMemoryLimiter } from "../../platform/ratelimit/index.ts";

/** Limits the cost of unauthenticated callbacks: anyone may send one, and verifying it needs a database query. */
export interface CallbackGuard {
  /** Processes a callback, or refuses it if too many are running or its address was refused too often. */
  run<T>(source: { readonly address: string; readonly path: string }, process: () => Promise<T>): Promise<T>;
  /** Counts a callback from an address that could not be verified. */
  countRefusal(address: string): void;
  /** Records that a callback at a path was verified as the provider's. */
  markVerified(path: string): void;
}

const runningMaxDefault = 32;
/** A burst of twenty refusals, then one every three seconds. */
const refusals = { rps: 1 / 3, burst: 20 };
const verifiedPathsMax = 10_000;

/** Creates the guard of a plane. */
export function createCallbackGuard(clock: Clock, runningMax = runningMaxDefault): CallbackGuard {
  const limiter = createMemoryLimiter(clock);
  // All callers behind a proxy share its address. Refused callbacks from there must not lock out verified providers.
  const verifiedPaths = new Set<string>();
  let running = 0;

  return {
    async run({ address, path }, process) {
      const isExhausted = limiter.take(address, 0, refusals).remaining === 0;
      if (isExhausted && !verifiedPaths.has(path)) {
        throw retryLater("RATE_LIMITED", "Too many callbacks from this address were refused.", 1 / refusals.rps);
      }
      if (running >= runningMax) throw retryLater("UNAVAILABLE", "Too many concurrent callbacks.", 1);
      running++;
      try {
        return await process();
      } finally {
        running--;
      }
    },

    countRefusal(address) {
      limiter.take(address, 1, refusals);
    },

    markVerified(path) {
      if (verifiedPaths.has(path)) return;
      const [oldest] = verifiedPaths;
      if (verifiedPaths.size >= verifiedPathsMax) verifiedPaths.delete(oldest!);
      verifiedPaths.add(path);
    },
  };
}

/** Creates a failure with a Retry-After header. */
export function retryLater(code: "RATE_LIMITED" | "UNAVAILABLE", reason: string, seconds: number): Failure {
  return fail(code, { public: reason, headers: { "retry-after": String(Math.ceil(seconds)) } });
}

/** Creates the refusal of every callback that is not verified, whatever the reason. */
export function unverified(): Failure {
  return fail("UNAUTHENTICATED", {
    public: "The callback's signature is missing or not valid.",
    headers: { "www-authenticate": 'Signature realm="callbacks"' },
  });
}
