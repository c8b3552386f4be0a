/** How a pool tries again. */
export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly initialMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** The share of a wait that is left to chance, 0 to 1. */
  readonly jitter: number;
}

/** What becomes of an attempt that failed: another one after a wait, or none. */
export type NextAttempt = { readonly retryInMs: number } | "dead_letter";

/**
 * Decides after an attempt, counted from 1. The wait grows by the factor up to its bound, and chance (0 to 1) takes up
 * to the jitter's share off it, so that what failed together does not come back together.
 */
export function afterFailure(policy: RetryPolicy, attempt: number, retryable: boolean, chance: number): NextAttempt {
  if (!retryable || attempt >= policy.maxAttempts) return "dead_letter";
  const fullMs = Math.min(policy.initialMs * policy.factor ** (attempt - 1), policy.maxMs);
  return { retryInMs: Math.round(fullMs * (1 - policy.jitter * chance)) };
}
