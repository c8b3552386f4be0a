import type { TenantId } from "../../../../platform/access/index.ts";

/**
 * Where an item stands.
 * pending: its time has not come. held: something holds it back. ready: it can be handed out. leased: it is worked on.
 * The others are ends.
 */
export type ItemState =
  | "pending"
  | "held"
  | "ready"
  | "leased"
  | "completed"
  | "dead_lettered"
  | "cancelled"
  | "expired"
  | "drained"
  | "superseded";

/** Every state, for whoever filters by one. */
export const itemStates: readonly ItemState[] = [
  "pending",
  "held",
  "ready",
  "leased",
  "completed",
  "dead_lettered",
  "cancelled",
  "expired",
  "drained",
  "superseded",
];

/** The states in which an item counts towards the depth of its queue. */
export const waitingStates = ["pending", "held", "ready"] as const satisfies readonly ItemState[];

/** What holds an item that is pending or held. */
export type HoldReason = "" | "not_before" | "retry" | "rule" | "debounce";

/** One attempt that failed. */
export interface ItemFailure {
  readonly attempt: number;
  readonly failedAtMs: number;
  readonly reasonCode: string;
  readonly reason: string;
  readonly recipientId: string;
  /** The lease that its worker failed, and what the worker was told; absent where the lease ran out. */
  readonly told?: { readonly token: string; readonly state: ItemState; readonly retryAtMs?: number | undefined };
}

/** The search for a recipient of a waiting item; all null unless one was sought in vain. */
export interface AssignmentRetry {
  readonly assignTries: number | null;
  readonly assignReason: string | null;
  readonly assignAfter: Date | null;
}

/** An item of a queue, with what was asked when it came in. */
export interface QueueItem extends AssignmentRetry {
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
  readonly survivorId: string;
  readonly failures: readonly ItemFailure[];
  readonly singletonGroup: string;
  readonly debounceGroup: string;
  readonly throttleGroup: string;
  readonly concurrencyGroup: string;
}

/**
 * What items are handed out by, lowest first: when an item came in, less what its priority is worth.
 * It never changes while the item waits, and yet whoever has waited long enough goes before any priority.
 */
export function rankOf(enqueuedAtMs: number, priority: number, ageingS: number): number {
  return enqueuedAtMs - priority * ageingS * 1000;
}
