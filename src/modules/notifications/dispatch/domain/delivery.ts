import type { TenantId } from "../../../../platform/access/index.ts";
import type { ReasonCode } from "../../preferences/index.ts";
import type { FailureCode, FailurePhase } from "../../providers/index.ts";
import type { Channel } from "../../subscribers/index.ts";
import type { ObservationState } from "./observation.ts";

/**
 * Where a delivery stands: queued → running → sent, failed or skipped; running → queued when it is tried again; queued →
 * skipped when it is not wanted any more. What was sent or skipped stays so; only a redrive brings back what has failed.
 */
export type DeliveryStatus = "queued" | "running" | "sent" | "failed" | "skipped";

/** In which queue a delivery waits: what is sent to one never waits behind what is sent to many. */
export type Lane = "single" | "broadcast";

/** How often a delivery is tried before it has failed for good. */
export const attemptsMax = 8;

/** The version of the resolver whose answers deliveries carry. */
export const resolverVersion = "preference-v2";

/** Why something was not sent. */
export interface DeliveryFailure {
  readonly phase: FailurePhase;
  readonly code: FailureCode;
  /** Safe to show to whoever may see the delivery; at most 256 characters. */
  readonly detail: string;
}

/** One message to one address. */
export interface Delivery {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly transactionId: string;
  /** The broadcast that it is part of; "" when it was sent to one. */
  readonly broadcastId: string;
  readonly workflowKey: string;
  readonly subscriberId: string;
  readonly topicKey: string;
  readonly contextKeys: readonly string[];
  readonly userId: string;
  readonly channel: Channel;
  /** "" for an inbox, and for an address that only the subscriber's profile has. */
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
  /** Whether it will be tried again by itself. */
  readonly retryable: boolean;
  readonly preferenceReasonCode: ReasonCode;
  readonly preferenceWinningLayer: number | null;
  readonly resolverVersion: string;
  readonly executionAttempt: number;
  readonly providerAttempt: number;
  readonly maxAttempts: number;
  readonly nextAttemptAt: Date | null;
  readonly observationState: ObservationState;
  /** Nobody knows whether it arrived: someone has to look before it is sent again. */
  readonly reconciliationRequired: boolean;
  readonly deadLetterId: string;
  /** Counts the redrives after a definite failure. */
  readonly keyGeneration: number;
  readonly queuedAt: Date;
  readonly startedAt: Date | null;
  readonly sentAt: Date | null;
  readonly completedAt: Date | null;
}

/**
 * The idempotency key that a delivery is sent under. A provider may answer a repeated key as it answered the first, so a
 * redrive after a definite failure has a key of its own.
 */
export function sendKey({ id, keyGeneration }: Pick<Delivery, "id" | "keyGeneration">): string {
  return keyGeneration === 0 ? id : `${id}.${keyGeneration}`;
}
