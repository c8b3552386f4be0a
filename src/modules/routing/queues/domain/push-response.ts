import { retryAfterMs } from "../../../../platform/backoff/retry-after.ts";
import type { WorkFailure } from "./retry-policy.ts";

/** The response to a pushed item: an HTTP status, or the reason why there was none. */
export type PushResponse =
  | { readonly status: number; readonly retryAfter: string | undefined }
  | { readonly fault: string };

const retryAfterMaxMs = 15 * 60_000;
/** Statuses below 500 that are worth a retry. */
const retryableStatuses = new Set([408, 409, 425, 429]);
/** Faults that a retry cannot fix. */
const permanentFaults = new Set(["denied", "invalid_url", "secret_missing"]);

/** Returns undefined for a delivered item: any 2xx. Redirects are not followed. */
export function toPushFailure(response: PushResponse, nowMs: number): WorkFailure | undefined {
  if ("fault" in response) {
    const { fault } = response;
    return { retryable: !permanentFaults.has(fault), reasonCode: fault, reason: "The recipient could not be reached." };
  }
  const { status, retryAfter } = response;
  if (status >= 200 && status < 300) return undefined;
  const waitMs = retryAfterMs(retryAfter, nowMs, retryAfterMaxMs) ?? 0;
  return {
    retryable: status >= 500 || retryableStatuses.has(status),
    reasonCode: `http_${status}`,
    reason: `The recipient responded with status ${status}.`,
    ...(waitMs > 0 && { retryAfterMs: waitMs }),
  };
}
