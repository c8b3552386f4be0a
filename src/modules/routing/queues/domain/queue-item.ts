import type { TenantId } from "../../../../platform/access/index.ts";
import type { FailedAttempt } from "../../dead-letters/index.ts";
import type { ItemRetry } from "./retry-policy.ts";

/**
 * The state of an item.
 * pending: not due yet. held: held back, for example by a debounce window. ready: can be leased. leased: a worker has it.
 * All other states are final.
 */
export type ItemState = (typeof itemStates)[number];

/** The states that count towards the depth of a queue. */
export const waitingStates = ["pending", "held", "ready"] as const;

const finalStates = ["completed", "dead_lettered", "cancelled", "expired", "drained", "superseded"] as const;

/** All states, to validate filters. */
export const itemStates = [...waitingStates, "leased", ...finalStates] as const;

const endStates: ReadonlySet<ItemState> = new Set(finalStates);

/** Whether a state is final. */
export function isEndState(state: ItemState): boolean {
  return endStates.has(state);
}

/** Why an item is pending or held. */
export type HoldReason = "" | "not_before" | "retry" | "rule" | "debounce" | "dependency" | "offer";

/** One attempt that failed. */
export interface ItemFailure extends FailedAttempt {
  /** The worker's lease and the result it received; absent when the lease expired. Stored under this name. */
  readonly told?: { readonly token: string; readonly state: ItemState; readonly retryAtMs?: number | undefined };
}

/** Failed attempts to find a recipient for a waiting item; all null when there were none. */
export interface AssignmentRetry {
  readonly assignTries: number | null;
  readonly assignReason: string | null;
  readonly assignAfter: Date | null;
}

/** The last reported progress of an attempt. */
export interface ItemProgress {
  readonly percent: number;
  readonly note: string;
  readonly attempt: number;
  readonly reportedAtMs: number;
}

/** The items that an item was routed to wait for. */
export interface ItemsAfter {
  readonly ids: readonly string[];
  /** The action if one of them ends without being completed. */
  readonly onFailure: "cancel" | "run";
}

/** The parts of an item that few items have; null for those that do not. */
export interface ItemDetails {
  /** The result of a completed item, as JSON. */
  readonly resultJson: string | null;
  /** The progress of an unfinished item. */
  readonly progress: ItemProgress | null;
  readonly after: ItemsAfter | null;
  readonly retry: ItemRetry | null;
}

/** How an offer of an item to a recipient ended; open while it has not. */
export type OfferState = "open" | "accepted" | "declined" | "expired" | "withdrawn";

/** An offer of an item to a recipient. */
export interface ItemOffer {
  /** From 1; it fences acceptance. */
  readonly number: number;
  readonly recipientId: string;
  readonly state: OfferState;
  readonly offeredAt: Date;
  /** When an open offer expires; null when it has ended. */
  readonly expiresAt: Date | null;
  readonly endedAt: Date | null;
  readonly reasonCode: string;
  readonly reason: string;
  readonly endedBy: string;
}

/** An item of a queue, with the original request. */
export interface QueueItem extends AssignmentRetry, ItemDetails {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  readonly recipientId: string;
  readonly state: ItemState;
  readonly holdReason: HoldReason;
  readonly type: string;
  readonly key: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly priority: number;
  readonly dueAt: Date | null;
  readonly expiresAt: Date;
  readonly attempt: number;
  readonly leasedAt: Date | null;
  readonly leaseUntil: Date | null;
  readonly endedAt: Date | null;
  readonly supersededById: string;
  readonly failures: readonly ItemFailure[];
  /** The latest offers, oldest first. */
  readonly offers: readonly ItemOffer[];
  readonly singletonGroup: string;
  readonly debounceGroup: string;
  readonly throttleGroup: string;
  readonly concurrencyGroup: string;
}

/** The stored requirements of an item that has none. */
export const noRequirementsJson = '{"skills":{},"recipientId":"","excludedRecipientIds":[]}';

/**
 * Items are leased in order of rank, lowest first: the enqueue time minus a bonus for the priority.
 * The rank is constant while an item waits, and an item that has waited long enough precedes any priority.
 */
export function rankOf(enqueuedAtMs: number, priority: number, ageingS: number): number {
  return enqueuedAtMs - priority * ageingS * 1000;
}
