import { type Failure, fail } from "../../errors/index.ts";
import type { Clock } from "../../platform/clock/clock.ts";
import { createTenantConcurrencyLimiter } from "../../platform/event-loop/index.ts";
import { createMemoryLimiter } from "../../platform/ratelimit/index.ts";

/** Where an unauthenticated callback comes from, and what it is about. */
export interface CallbackSource {
  /** The client's address. */
  readonly address: string;
  /** The connection, session or subscription; empty if the callback names none. */
  readonly target: string;
}

/**
 * Limits the cost of unauthenticated callbacks: anyone may send one, and verifying it needs a database query.
 *
 * Clients behind a proxy can share an address with somebody who guesses. So guesses never lock out a valid callback: a source
 * that was refused too often is still verified, but one callback at a time for each target, and only its refusals are limited.
 */
export interface CallbackGuard {
  /** Processes a callback whose body has arrived, or refuses it if too many are running. */
  run<T>(source: CallbackSource, process: () => Promise<T>): Promise<T>;
  /** Counts a callback that could not be verified. Returns the response to a source that was refused too often. */
  countRefusal(source: CallbackSource): Failure | undefined;
}

const runningMaxDefault = 32;
/** How many callbacks of an address run concurrently for targets at which it was refused too often. */
const suspectsRunningMax = 4;
const suspectsWaitingMax = 1024;
/** A burst of twenty refusals, then one every three seconds. */
const refusals = { rps: 1 / 3, burst: 20 };

export function createCallbackGuard(clock: Clock, runningMax = runningMaxDefault): CallbackGuard {
  const limiter = createMemoryLimiter(clock);
  const suspects = createTenantConcurrencyLimiter(suspectsRunningMax);
  const keyOf = ({ address, target }: CallbackSource) => `${address} ${target}`;
  let running = 0;
  let waiting = 0;

  async function admit<T>(process: () => Promise<T>): Promise<T> {
    if (running >= runningMax) throw retryLater("UNAVAILABLE", "Too many concurrent callbacks.", 1);
    running++;
    try {
      return await process();
    } finally {
      running--;
    }
  }

  return {
    async run(source, process) {
      if (limiter.take(keyOf(source), 0, refusals).remaining > 0) return admit(process);
      if (waiting >= suspectsWaitingMax) throw tooManyRefusals();
      waiting++;
      return suspects.run(source.address, source.target, () => {
        waiting--;
        return admit(process);
      });
    },

    countRefusal: (source) => (limiter.take(keyOf(source), 1, refusals).allowed ? undefined : tooManyRefusals()),
  };
}

function tooManyRefusals(): Failure {
  return retryLater("RATE_LIMITED", "Too many callbacks from this address were refused.", 1 / refusals.rps);
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
