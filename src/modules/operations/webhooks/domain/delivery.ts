import type { TenantId } from "../../../../platform/access/index.ts";
import { nextWaitMs } from "./schedule.ts";

/** Where a delivery stands. */
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
  | "secret_unreadable";

/** What came of trying to send. */
export interface AttemptResult {
  /** The status of the answer; undefined when there was none. */
  readonly responseStatus: number | undefined;
  /** Undefined when the endpoint took it. */
  readonly failure: AttemptFailure | undefined;
}

/** An attempt as it is kept; times as text, as JSON has them. */
export interface Attempt {
  readonly at: string;
  readonly duration_ms: number;
  readonly response_status: number;
  readonly failure: AttemptFailure | "";
}

/** An event on its way to an endpoint. */
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

/** What a delivery comes to after an attempt. */
export type Verdict =
  | { readonly status: "succeeded" }
  | { readonly status: "pending"; readonly waitMs: number }
  | { readonly status: "failed"; readonly endpointGone: boolean };

/** How many attempts of a delivery are kept. */
export const attemptsKept = 20;

/** What receivers know a message by: the same at every attempt, another one at every endpoint. */
export function messageIdOf({ endpointId, eventId }: { endpointId: string; eventId: string }): string {
  return `${eventId}_${endpointId}`;
}

/** What a delivery comes to: `attempts` counts the one that just ended, `random` from 0 to 1 spreads the waits. */
export function verdictOn(result: AttemptResult, attempts: number, random: number): Verdict {
  if (result.failure === undefined) return { status: "succeeded" };
  if (result.responseStatus === 410) return { status: "failed", endpointGone: true };
  const waitMs = result.failure === "event_forgotten" ? undefined : nextWaitMs(attempts, random);
  return waitMs === undefined ? { status: "failed", endpointGone: false } : { status: "pending", waitMs };
}

/** Whether an attempt says something about the endpoint; what went wrong on this side does not. */
export function concernsEndpoint({ failure }: AttemptResult): boolean {
  return failure !== "event_forgotten" && failure !== "secret_unreadable";
}

/** The result of an answer with this status: only 2xx is success, a redirect is not. */
export function resultOf(responseStatus: number): AttemptResult {
  const isSuccess = responseStatus >= 200 && responseStatus < 300;
  return { responseStatus, failure: isSuccess ? undefined : "status" };
}
