import type { TenantId } from "../../../../../platform/access/index.ts";

/** The action on the matching items. cancel and requeue change items of a queue, retry changes dead letters. */
export type BulkAction = "cancel" | "requeue" | "retry";

/** completed, cancelled and failed are final. */
export type BulkState = "queued" | "running" | "completed" | "cancelled" | "failed";

/** The states of items that an operation can match. */
export type MatchedState = "pending" | "held" | "ready" | "leased";

/** Selects items of a queue. Empty and undefined fields match all. */
export interface QueueItemFilter {
  readonly states: readonly MatchedState[];
  readonly recipientId: string;
  readonly type: string;
  readonly key: string;
  readonly minPriority?: number | undefined;
  readonly maxPriority?: number | undefined;
  readonly enqueuedBeforeMs?: number | undefined;
  readonly enqueuedAfterMs?: number | undefined;
  /** Values of attributes, as text. */
  readonly attributes: Readonly<Record<string, string>>;
}

/** Selects dead letters that can be retried. Empty and undefined fields match all. */
export interface DeadLetterFilter {
  readonly reasonCode: string;
  readonly phase: string;
  readonly type: string;
  readonly key: string;
  readonly failedBeforeMs?: number | undefined;
  readonly failedAfterMs?: number | undefined;
}

/** An operation's action and filter. */
export type BulkSelection =
  | { readonly action: "cancel" | "requeue"; readonly filter: QueueItemFilter }
  | { readonly action: "retry"; readonly filter: DeadLetterFilter };

/** An operation with its progress. */
export type BulkOperation = BulkSelection & {
  readonly tenantId: TenantId;
  readonly id: string;
  readonly poolId: string;
  readonly environmentKey: string;
  readonly reason: string;
  /** 0: all. */
  readonly maxItems: number;
  readonly state: BulkState;
  /** The last item that was handled. */
  readonly position: string;
  /** The dead letters that are being retried; null between two batches. */
  readonly batch: readonly string[] | null;
  readonly matchedCount: number;
  readonly changedCount: number;
  readonly skippedCount: number;
  readonly error: string;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly endedAt: Date | null;
};

/** The number of matching items by their state. */
export interface BulkCount {
  readonly count: number;
  readonly countByState: Readonly<Record<string, number>>;
  /** Whether counting stopped early. */
  readonly capped: boolean;
}

/** How many operations of a tenant may be unfinished. */
export const unfinishedMax = 20;

export function isEnded({ state }: Pick<BulkOperation, "state">): boolean {
  return state !== "queued" && state !== "running";
}

/** The number of items that an operation may still change. */
export function remainingItems({ maxItems, changedCount }: Pick<BulkOperation, "maxItems" | "changedCount">): number {
  return maxItems === 0 ? Number.POSITIVE_INFINITY : maxItems - changedCount;
}
