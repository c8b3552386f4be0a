import { backoffMs } from "../../../../../../platform/backoff/backoff.ts";
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
  const { initialMs: firstMs, maxMs, factor } = policy;
  return Math.max(backoffMs({ firstMs, maxMs, factor }, attempt), failure.retryAfterMs ?? 0);
}
