import { type Failure, fail } from "../errors/index.ts";
import type { Clock } from "../platform/clock/clock.ts";
import { createMemoryLimiter } from "../platform/ratelimit/index.ts";

/** What keeps strangers from costing much: anybody may call, and only a look into the database tells who it is. */
export interface CallbackGuard {
  /** Runs what takes in a callback, or refuses when too many run already or the address was refused too often. */
  run<T>(from: { readonly address: string; readonly path: string }, take: () => Promise<T>): Promise<T>;
  /** Notes that a callback from an address proved nothing. */
  refused(address: string): void;
  /** Notes that a callback at a path proved to be the provider's. */
  proven(path: string): void;
}

const runningMax = 32;
/** Twenty refusals at once, and one every three seconds. */
const refusals = { rps: 1 / 3, burst: 20 };
const provenMax = 10_000;

/** Makes the guard of a plane. */
export function createCallbackGuard(clock: Clock): CallbackGuard {
  const limiter = createMemoryLimiter(clock);
  // Everybody behind a proxy has its address. What strangers do there must not shut out providers that are known.
  const provenPaths = new Set<string>();
  let running = 0;

  return {
    async run({ address, path }, take) {
      const isSpent = limiter.take(address, 0, refusals).remaining === 0;
      if (isSpent && !provenPaths.has(path)) {
        throw wait("RATE_LIMITED", "Too many callbacks that were refused came from this address.", 1 / refusals.rps);
      }
      if (running >= runningMax) throw wait("UNAVAILABLE", "Too many callbacks come at once.", 1);
      running++;
      try {
        return await take();
      } finally {
        running--;
      }
    },

    refused(address) {
      limiter.take(address, 1, refusals);
    },

    proven(path) {
      if (provenPaths.has(path)) return;
      const [oldest] = provenPaths;
      if (provenPaths.size >= provenMax) provenPaths.delete(oldest!);
      provenPaths.add(path);
    },
  };
}

/** A refusal that says when to come again. */
export function wait(code: "RATE_LIMITED" | "UNAVAILABLE", why: string, seconds: number): Failure {
  return fail(code, { public: why, headers: { "retry-after": String(Math.ceil(seconds)) } });
}
