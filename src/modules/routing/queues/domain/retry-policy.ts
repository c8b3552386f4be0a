import type { Violation } from "../../../../errors/index.ts";
import { backoffMs } from "../../../../platform/backoff/backoff.ts";
import type { PoolConfig } from "../../pools/index.ts";

/** The retry policy of a pool. */
export type RetryPolicy = PoolConfig["retry"];

/** The retries that an item sets for itself. Fields that are not set follow the pool. */
export type ItemRetry = Partial<Omit<RetryPolicy, "itemMaxAttempts" | "itemMaxMs">>;

/** The policy for an item: its own, within the bounds of the pool it is in now. */
export function policyOf(pool: RetryPolicy, own: ItemRetry | null | undefined): RetryPolicy {
  if (own == null) return pool;
  const { maxAttempts = pool.maxAttempts, maxMs = pool.maxMs } = own;
  return {
    ...{ ...pool, ...own },
    maxAttempts: own.maxAttempts === undefined ? maxAttempts : Math.min(maxAttempts, pool.itemMaxAttempts),
    maxMs: own.maxMs === undefined ? maxMs : Math.min(maxMs, pool.itemMaxMs),
  };
}

/** Why an item may not have its own retries in a pool; undefined if it may. */
export function retryViolation(pool: RetryPolicy, own: ItemRetry): Violation | undefined {
  const { maxAttempts = 1, initialMs = 0, maxMs = pool.maxMs } = own;
  const isWithin = (field: string, value: number, max: number, bound: string) =>
    value <= max
      ? undefined
      : { field: `retry.${field}`, rule: "at_most", message: `must be at most ${max}, ${bound}` };
  return (
    isWithin("max_attempts", maxAttempts, pool.itemMaxAttempts, "the retry.item_max_attempts of the pool") ??
    isWithin("max_ms", own.maxMs ?? 0, pool.itemMaxMs, "the retry.item_max_ms of the pool") ??
    isWithin(
      "initial_ms",
      initialMs,
      maxMs,
      own.maxMs === undefined ? "the retry.max_ms of the pool; set max_ms too" : "the max_ms",
    )
  );
}

/** Why an attempt failed. */
export interface WorkFailure {
  readonly retryable: boolean;
  readonly reasonCode: string;
  readonly reason: string;
  /** The minimum delay before the next attempt. */
  readonly retryAfterMs?: number;
}

/** Consequence of a failed attempt: a retry after a delay, or a dead letter. */
export type NextAttempt = { readonly retryInMs: number } | "dead_letter";

/**
 * Decides what follows a failed attempt, counted from 1. The delay grows by the factor up to its maximum. The random
 * value (0 to 1) shortens it by up to the jitter share, so that items that failed together are not retried together.
 */
export function afterFailure(policy: RetryPolicy, attempt: number, retryable: boolean, random: number): NextAttempt {
  const { maxAttempts, initialMs, factor, maxMs, jitter } = policy;
  if (!retryable || attempt >= maxAttempts) return "dead_letter";
  return { retryInMs: backoffMs({ firstMs: initialMs, maxMs, factor, spread: [1, 1 - jitter] }, attempt, random) };
}
