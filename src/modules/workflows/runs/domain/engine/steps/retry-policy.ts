import type { RetryPolicy } from "../../../../definitions/index.ts";
import type { Failure } from "../state.ts";

/** Codes that another attempt would not change. */
const finalCodes: readonly string[] = [
  "expression_error",
  "state_too_large",
  "timeout",
  "route_rejected",
  "outcome_unknown",
];

/** The wait before the next attempt in milliseconds; undefined if the failure is final. */
export function retryDelay(policy: RetryPolicy | undefined, attempt: number, failure: Failure): number | undefined {
  if (policy === undefined || attempt >= policy.maxAttempts || !failure.retryable) return undefined;
  const isRetried = policy.on === undefined ? !finalCodes.includes(failure.code) : policy.on.includes(failure.code);
  if (!isRetried) return undefined;
  const delayMs = Math.min(policy.initialMs * policy.factor ** (attempt - 1), policy.maxMs);
  return Math.max(Math.round(delayMs), failure.retryAfterMs ?? 0);
}
