// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Bulk operations: cancel, requeue or retry all items that match a filter. They work in the background, in batches. */
export interface BulkOperationService {
  /** Counts the items that a bulk operation would change. Nothing is changed. */
  previewQueueOperation(request: PreviewQueueOperationRequest, options?: CallOptions): Promise<BulkPreview>;

  /** Starts to cancel or to requeue the items of a queue that match a filter and were enqueued before the call. */
  startQueueOperation(request: StartQueueOperationRequest, options?: CallOptions): Promise<BulkOperation>;

  /** Counts the dead letters that a bulk retry would requeue. Nothing is changed. */
  previewDeadLetterOperation(request: PreviewDeadLetterOperationRequest, options?: CallOptions): Promise<BulkPreview>;

  /** Starts to retry the dead letters that match a filter and failed before the call, up to their maximum number of retries. */
  startDeadLetterOperation(request: StartDeadLetterOperationRequest, options?: CallOptions): Promise<BulkOperation>;

  /** Returns a bulk operation with its progress. */
  get(request: GetBulkOperationRequest, options?: CallOptions): Promise<BulkOperation>;

  /** Lists bulk operations, newest first. Ended ones are kept for 30 days. */
  list(request?: ListBulkOperationsRequest, options?: CallOptions): List<BulkOperation>;

  /** Stops a bulk operation after its current batch. Changed items stay changed. */
  cancel(request: CancelBulkOperationRequest, options?: CallOptions): Promise<BulkOperation>;
}

const bulkOperationServiceOperations = {
  previewQueueOperation: { verb: "POST", path: "/api/queues/{pool_id}/bulk-operations:preview", body: "*" },
  startQueueOperation: { verb: "POST", path: "/api/queues/{pool_id}/bulk-operations", body: "*", keyed: true },
  previewDeadLetterOperation: { verb: "POST", path: "/api/dlq/{pool_id}/bulk-operations:preview", body: "*" },
  startDeadLetterOperation: { verb: "POST", path: "/api/dlq/{pool_id}/bulk-operations", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/bulk-operations/{operation_id}" },
  list: { verb: "GET", path: "/api/bulk-operations", result: "cursor" },
  cancel: { verb: "POST", path: "/api/bulk-operations/{operation_id}/cancel", body: "*", keyed: true },
} as const satisfies Record<keyof BulkOperationService, Operation>;

/** Creates the service over a transport. */
export function createBulkOperationService(transport: Transport): BulkOperationService {
  return bindOperations<BulkOperationService>(transport, bulkOperationServiceOperations);
}

/** Selects items of a queue. All fields that are set must match. */
export type QueueItemFilterInput = {
  /** Only items in one of these states: pending, held, ready or leased. */
  readonly states?: readonly ("pending" | "held" | "ready" | "leased")[];
  /** Only items of this recipient. */
  readonly recipient_id?: string;
  /** Only items of this type. */
  readonly type?: string;
  /** Only items with this key. */
  readonly key?: string;
  /** Only items with at least this priority. */
  readonly min_priority?: number;
  /** Only items with at most this priority. */
  readonly max_priority?: number;
  /** Only items that were enqueued before this time. */
  readonly enqueued_before?: string | Date;
  /** Only items that were enqueued at this time or later. */
  readonly enqueued_after?: string | Date;
  /** Only items whose attributes have these values at their top level. Numbers and booleans are compared as text. */
  readonly attributes?: Readonly<Record<string, string>>;
};

/** The operation to try. */
export type PreviewQueueOperationRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** cancel ends unfinished items. requeue makes leased items and items that wait for a retry ready: the leases end, and no attempt is used up. */
  readonly action: "cancel" | "requeue";
  /** The items; all items of the queue when absent. */
  readonly filter?: QueueItemFilterInput;
};

/** The number of items that a bulk operation would change now. */
export type BulkPreview = {
  /** The number of items. */
  readonly count: number;
  /** The number of items by their state. */
  readonly count_by_state: Readonly<Record<string, number>>;
  /** Whether counting stopped after 100,000 items: the operation may change more. */
  readonly capped: boolean;
};

/** The operation to start. */
export type StartQueueOperationRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** cancel ends unfinished items. requeue makes leased items and items that wait for a retry ready: the leases end, and no attempt is used up. */
  readonly action: "cancel" | "requeue";
  /** The items; all items of the queue when absent. */
  readonly filter?: QueueItemFilterInput;
  /** The maximum number of items to change, oldest first; all when 0. */
  readonly max_items?: number;
  /** The reason. It is in the events of the items. */
  readonly reason?: string;
};

/** A bulk operation with its progress. */
export type BulkOperation = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The pool. */
  readonly pool_id: string;
  /** cancel, requeue or retry. */
  readonly action: string;
  /** The filter of a cancel or requeue. */
  readonly item_filter?: QueueItemFilter;
  /** The filter of a retry. */
  readonly dead_letter_filter?: DeadLetterFilter;
  /** The reason. */
  readonly reason: string;
  /** The maximum number of items to change; 0 for all. */
  readonly max_items: number;
  /** queued, running, completed, cancelled or failed. */
  readonly state: string;
  /** The number of items that matched when it started, counted up to 100,000. */
  readonly matched_count: number;
  /** The number of changed items so far. */
  readonly changed_count: number;
  /** The number of matching items that were left as they are, because they changed meanwhile or were not admitted. */
  readonly skipped_count: number;
  /** Why it failed; empty otherwise. */
  readonly error: string;
  /** Who started it. */
  readonly created_by: string;
  /** When it was started. */
  readonly created_at?: string;
  /** When its progress last changed. */
  readonly updated_at?: string;
  /** When it ended. */
  readonly ended_at?: string;
};

/** Selects items of a queue. All fields that are set must match. */
export type QueueItemFilter = {
  /** Only items in one of these states: pending, held, ready or leased. */
  readonly states: readonly string[];
  /** Only items of this recipient. */
  readonly recipient_id: string;
  /** Only items of this type. */
  readonly type: string;
  /** Only items with this key. */
  readonly key: string;
  /** Only items with at least this priority. */
  readonly min_priority?: number;
  /** Only items with at most this priority. */
  readonly max_priority?: number;
  /** Only items that were enqueued before this time. */
  readonly enqueued_before?: string;
  /** Only items that were enqueued at this time or later. */
  readonly enqueued_after?: string;
  /** Only items whose attributes have these values at their top level. Numbers and booleans are compared as text. */
  readonly attributes: Readonly<Record<string, string>>;
};

/** Selects dead letters. All fields that are set must match. Quarantined ones never match. */
export type DeadLetterFilter = {
  /** Only those with this reason code. */
  readonly reason_code: string;
  /** Only those that failed in this phase. */
  readonly phase: string;
  /** Only items of this type. */
  readonly type: string;
  /** Only items with this key. */
  readonly key: string;
  /** Only those that last failed before this time. */
  readonly failed_before?: string;
  /** Only those that last failed at this time or later. */
  readonly failed_after?: string;
};

/** Selects dead letters. All fields that are set must match. Quarantined ones never match. */
export type DeadLetterFilterInput = {
  /** Only those with this reason code. */
  readonly reason_code?: string;
  /** Only those that failed in this phase. */
  readonly phase?: "" | "work" | "delivery" | "lease" | "expiry";
  /** Only items of this type. */
  readonly type?: string;
  /** Only items with this key. */
  readonly key?: string;
  /** Only those that last failed before this time. */
  readonly failed_before?: string | Date;
  /** Only those that last failed at this time or later. */
  readonly failed_after?: string | Date;
};

/** The retry to try. */
export type PreviewDeadLetterOperationRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The dead letters; all that can be retried when absent. */
  readonly filter?: DeadLetterFilterInput;
};

/** The retry to start. */
export type StartDeadLetterOperationRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The dead letters; all that can be retried when absent. */
  readonly filter?: DeadLetterFilterInput;
  /** The maximum number of items to retry; all when 0. */
  readonly max_items?: number;
  /** The reason. */
  readonly reason?: string;
};

/** Identifies a bulk operation. */
export type GetBulkOperationRequest = {
  /** The operation's id. */
  readonly operation_id: string;
};

/** Request for a page of bulk operations. */
export type ListBulkOperationsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only operations on this pool. */
  readonly pool_id?: string;
  /** Only operations in this state. */
  readonly state?: "" | "queued" | "running" | "completed" | "cancelled" | "failed";
};

/** Selects the operation to stop. */
export type CancelBulkOperationRequest = {
  /** The operation's id. */
  readonly operation_id: string;
};
