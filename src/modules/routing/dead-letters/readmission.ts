import type { Sql } from "../../../platform/db/index.ts";
import type { PoolSnapshot } from "../pools/index.ts";

/** Where an item that is put back waits, and in which groups. */
export interface Placement {
  readonly queueItemId: string;
  readonly state: "ready" | "held";
  readonly holdReason: string;
  readonly dueAtMs: number | undefined;
  readonly singleton: string;
  readonly debounce: string;
  readonly throttle: string;
  readonly concurrency: string;
}

/** An item that its pool's constraints do not let in now. */
export interface RefusedItem {
  readonly queueItemId: string;
  readonly reason: "deduplicated" | "rejected";
  /** The item that it is a duplicate of; empty when it is none. */
  readonly existingItemId: string;
}

/** Has items that are put back pass their pool's constraints, in the caller's transaction. */
export interface Readmission {
  /** Whether the pool has constraints at all. */
  concerns(snapshot: PoolSnapshot): boolean;
  /**
   * Finds the groups that the items fall into, in slices of the event loop. It may take long, so that no transaction should
   * be open meanwhile.
   */
  prepare(sql: Sql, snapshot: PoolSnapshot, queueItemIds: readonly string[]): Promise<PreparedReadmission>;
}

/** Items whose groups are known. */
export interface PreparedReadmission {
  /** Whether an item was a dead letter of the pool when its groups were found. */
  has(queueItemId: string): boolean;
  /**
   * Locks the groups, and has the work lock the items after that: groups come first everywhere. When somebody else was
   * faster, all of it is undone and done again; the work gets the transaction to use.
   */
  run<T>(tx: Sql, nowMs: number, work: (tx: Sql, round: ReadmissionRound) => Promise<T>): Promise<T>;
}

/** One decision about many items. */
export interface ReadmissionRound {
  /** Decides about items in their order, until `max` of them are let in. */
  admit(
    queueItemIds: readonly string[],
    max: number,
  ): { readonly placed: readonly Placement[]; readonly refused: readonly RefusedItem[] };
  /**
   * Takes what those that were let in need, after they were put back. Answers by how much the queue's depth changes
   * because others were replaced, and with the pools in which items wait for places that became free.
   */
  keep(): Promise<{
    readonly depth: number;
    readonly freed: readonly { readonly tenantId: string; readonly poolId: string }[];
  }>;
}
