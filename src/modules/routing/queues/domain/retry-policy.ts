import { backoffMs } from "../../../../platform/backoff/backoff.ts";
import type { PoolConfig } from "../../pools/index.ts";

/** The retry policy of a pool. */
export type RetryPolicy = PoolConfig["retry"];

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
