import type { TenantId } from "../../../../platform/access/index.ts";
import { nextWaitMs } from "./schedule.ts";

export type DeliveryStatus = "pending" | "succeeded" | "failed" | "cancelled";

/** Why an attempt failed. */
export type AttemptFailure =
  | "status"
  | "denied"
  | "invalid_url"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  | "connection_lost"
  | "event_forgotten"
  | "secret_unreadable"
  | "transform";

export interface AttemptResult {
  /** The HTTP status of the response; undefined without a response. */
  readonly responseStatus: number | undefined;
  /** Undefined if the endpoint accepted the message. */
  readonly failure: AttemptFailure | undefined;
}

/** A stored attempt. Times are text, because it is stored as JSON. */
export interface Attempt {
  readonly at: string;
  readonly duration_ms: number;
  readonly response_status: number;
  readonly failure: AttemptFailure | "";
}

/** The sending of one event to one endpoint. */
export interface Delivery {
  readonly tenantId: TenantId;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  readonly nextAttemptAt: Date | null;
  readonly attemptCount: number;
  /** The latest attempts, oldest first. */
  readonly attemptLog: readonly Attempt[];
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** A delivery's state after an attempt. */
export type DeliveryOutcome =
  | { readonly status: "succeeded" }
  | { readonly status: "pending"; readonly waitMs: number }
  | { readonly status: "failed"; readonly endpointGone: boolean };

/** Maximum number of stored attempts per delivery. */
export const attemptLogMax = 20;

/** The id of a message: the same for every attempt, different for every endpoint. */
export function messageIdOf({ endpointId, eventId }: { endpointId: string; eventId: string }): string {
  return `${eventId}_${endpointId}`;
}

/** A delivery's state after an attempt. `attempts` includes that attempt; `random`, from 0 to 1, is the jitter. */
export function outcomeOf(
  result: AttemptResult,
  attempts: number,
  random: number,
  retryDelaysS: readonly number[] = [],
): DeliveryOutcome {
  if (result.failure === undefined) return { status: "succeeded" };
  if (result.responseStatus === 410) return { status: "failed", endpointGone: true };
  const waitMs = isFinal(result.failure) ? undefined : nextWaitMs(attempts, random, retryDelaysS);
  return waitMs === undefined ? { status: "failed", endpointGone: false } : { status: "pending", waitMs };
}

/** Whether another attempt would fail in the same way. */
function isFinal(failure: AttemptFailure): boolean {
  return failure === "event_forgotten" || failure === "transform";
}

/** Whether a failed attempt counts against the endpoint. Failures on this side do not. */
export function countsAgainstEndpoint({ failure }: AttemptResult): boolean {
  return failure !== "event_forgotten" && failure !== "secret_unreadable" && failure !== "transform";
}

/** The result of a response with this status: only 2xx is success, a redirect is not. */
export function resultOf(responseStatus: number): AttemptResult {
  const isSuccess = responseStatus >= 200 && responseStatus < 300;
  return { responseStatus, failure: isSuccess ? undefined : "status" };
}
