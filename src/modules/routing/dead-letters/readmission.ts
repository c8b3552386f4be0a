import type { Sql } from "../../../platform/db/index.ts";
import type { PoolSnapshot } from "../pools/index.ts";

/** The queue state and the groups of an item that is requeued. */
export interface RequeuedItem {
  readonly queueItemId: string;
  readonly state: "ready" | "held";
  readonly holdReason: string;
  readonly dueAtMs: number | undefined;
  readonly singleton: string;
  readonly debounce: string;
  readonly throttle: string;
  readonly concurrency: string;
}

/** An item that its pool's constraints do not admit now. */
export interface RefusedItem {
  readonly queueItemId: string;
  readonly reason: "deduplicated" | "rejected";
  /** The item of which it is a duplicate; empty when it is not one. */
  readonly existingItemId: string;
}

/** Applies a pool's constraints to requeued items, in the caller's transaction. */
export interface Readmission {
  /** Whether the pool has constraints. */
  appliesTo(snapshot: PoolSnapshot): boolean;
  /**
   * Evaluates the groups of the items, in slices of the event loop. This can take long, so no transaction should be open.
   */
  prepare(sql: Sql, snapshot: PoolSnapshot, queueItemIds: readonly string[]): Promise<PreparedReadmission>;
}

/** Items with their evaluated groups. */
export interface PreparedReadmission {
  /** Whether the item was a dead letter of the pool when its groups were evaluated. */
  has(queueItemId: string): boolean;
  /**
   * Locks the groups and then calls `work`, which locks the items: groups come before items in the global lock order.
   * After a conflict both are rolled back and retried. `work` must use the transaction that it receives.
   */
  run<T>(tx: Sql, nowMs: number, work: (tx: Sql, batch: ReadmissionBatch) => Promise<T>): Promise<T>;
}

/** Admits a batch of items. */
export interface ReadmissionBatch {
  /** Decides about items in order, until `max` of them are admitted. */
  admit(
    queueItemIds: readonly string[],
    max: number,
  ): { readonly placed: readonly RequeuedItem[]; readonly refused: readonly RefusedItem[] };
  /**
   * Saves the group changes of the admitted items, after they are requeued. Returns the change of the queue's depth
   * caused by replaced items, and the pools in which items wait for places that became free.
   */
  save(): Promise<{
    readonly depth: number;
    readonly freed: readonly { readonly tenantId: string; readonly poolId: string }[];
  }>;
}
