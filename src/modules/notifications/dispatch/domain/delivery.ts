import type { TenantId } from "../../../../platform/access/index.ts";
import type { ReasonCode } from "../../preferences/index.ts";
import type { FailureCode, FailurePhase } from "../../providers/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import type { ObservationState } from "./observation.ts";

/**
 * The status of a delivery: queued → running → sent, failed or skipped; running → queued for a retry; queued → skipped
 * when preferences no longer allow it or its trigger is cancelled. Sent and skipped are final. Only a redrive queues a failed delivery again.
 */
export type DeliveryStatus = "queued" | "running" | "sent" | "failed" | "skipped";

/** The queue in which a delivery waits. Single sends never wait behind broadcasts. */
export type Lane = "single" | "broadcast";

/** Lease time of an attempt. After it, other nodes treat the delivery or run as abandoned. */
export const leaseS = 60;

/** Attempts before a delivery fails permanently. */
export const attemptsMax = 8;

/** The version of the preference resolver, stored with each delivery. */
export const resolverVersion = "preference-v2";

/** The reason why a delivery was not sent. */
export interface DeliveryFailure {
  readonly phase: FailurePhase;
  readonly code: FailureCode;
  /** Safe to show to everyone who may read the delivery; at most 256 characters. */
  readonly detail: string;
}

/** One message to one address. */
export interface Delivery {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly transactionId: string;
  /** The broadcast that it belongs to; "" for a single send. */
  readonly broadcastId: string;
  readonly workflowKey: string;
  readonly subscriberId: string;
  readonly topicKey: string;
  readonly contextKeys: readonly string[];
  readonly userId: string;
  readonly channel: Channel;
  /** "" for an inbox and for an address that is only in the subscriber's profile. */
  readonly endpointId: string;
  readonly integrationId: string;
  readonly providerKey: string;
  readonly connectionId: string;
  readonly layoutId: string;
  readonly layoutVersion: number;
  readonly status: DeliveryStatus;
  readonly lane: Lane;
  readonly providerMessageId: string;
  readonly failurePhase: FailurePhase | "";
  readonly failureCode: FailureCode | "";
  readonly failureDetail: string;
  /** Whether it will be retried automatically. */
  readonly retryable: boolean;
  readonly preferenceReasonCode: ReasonCode;
  readonly preferenceWinningLayer: number | null;
  readonly resolverVersion: string;
  readonly executionAttempt: number;
  readonly providerAttempt: number;
  readonly maxAttempts: number;
  readonly nextAttemptAt: Date | null;
  readonly observationState: ObservationState;
  /** It is unknown whether the message arrived; this must be checked before it is sent again. */
  readonly reconciliationRequired: boolean;
  readonly deadLetterId: string;
  /** Counts the redrives after a definite failure. */
  readonly keyGeneration: number;
  readonly queuedAt: Date;
  readonly startedAt: Date | null;
  readonly sentAt: Date | null;
  readonly completedAt: Date | null;
  /** The run and the step that created it; "" if its workflow has no steps. */
  readonly runId: string;
  readonly stepKey: string;
}

/**
 * The idempotency key of a delivery. A provider may answer a repeated key with its first response, so a redrive after a
 * definite failure gets a new key.
 */
export function sendKey({ id, keyGeneration }: Pick<Delivery, "id" | "keyGeneration">): string {
  return keyGeneration === 0 ? id : `${id}.${keyGeneration}`;
}
