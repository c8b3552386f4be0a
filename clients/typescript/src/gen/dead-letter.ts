// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { ItemFailure } from "./queue.ts";

/** Dead letters: items whose last attempt failed. Those of a deleted pool can be read, quarantined and purged, but not retried. */
export interface DeadLetterService {
  /** Lists the dead letters of a pool or of all pools, newest first. Quarantined ones are listed only on request. */
  list(request: ListDeadLettersRequest, options?: CallOptions): List<DeadLetter>;

  /** Counts the dead letters of a pool or of all pools. */
  getStats(request: GetDeadLetterStatsRequest, options?: CallOptions): Promise<DeadLetterStats>;

  /** Retries the named items, up to the maximum number of retries. */
  retry(request: RetryDeadLettersRequest, options?: CallOptions): Promise<RetryDeadLettersResponse>;

  /** Retries all items below their maximum number of retries, the oldest failures first. In a pool with admission constraints one call retries 500 at most: repeat it until retried_count is 0. */
  retryAll(request: RetryAllDeadLettersRequest, options?: CallOptions): Promise<RetryAllDeadLettersResponse>;

  /** Quarantines items until someone has inspected them. */
  quarantine(request: QuarantineDeadLettersRequest, options?: CallOptions): Promise<QuarantineDeadLettersResponse>;

  /** Deletes failed items with their work and their decisions. */
  purge(request: PurgeDeadLettersRequest, options?: CallOptions): Promise<PurgeDeadLettersResponse>;
}

const deadLetterServiceOperations = {
  list: { verb: "GET", path: "/api/dlq/{pool_id}", result: "cursor" },
  getStats: { verb: "GET", path: "/api/dlq/{pool_id}/stats" },
  retry: { verb: "POST", path: "/api/dlq/{pool_id}/retry", body: "*", keyed: true },
  retryAll: { verb: "POST", path: "/api/dlq/{pool_id}/retry-all", body: "*", keyed: true },
  quarantine: { verb: "POST", path: "/api/dlq/{pool_id}/quarantine", body: "*", keyed: true },
  purge: { verb: "POST", path: "/api/dlq/{pool_id}/purge", body: "*", keyed: true },
} as const satisfies Record<keyof DeadLetterService, Operation>;

/** Creates the service over a transport. */
export function createDeadLetterService(transport: Transport): DeadLetterService {
  return bindOperations<DeadLetterService>(transport, deadLetterServiceOperations);
}

/** Request for a page of dead letters. */
export type ListDeadLettersRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** The pool; - for all pools. */
  readonly pool_id: string;
  /** Only those in this state; failed when empty. */
  readonly state?: "" | "failed" | "retrying" | "quarantined";
  /** Only those of pools of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** An item whose last attempt failed. */
export type DeadLetter = {
  /** The item. */
  readonly queue_item_id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The pool. */
  readonly pool_id: string;
  /** failed, retrying or quarantined. */
  readonly state: string;
  /** A stable code for the reason. */
  readonly reason_code: string;
  /** The phase in which it failed: work, delivery, lease or expiry. */
  readonly phase: string;
  /** The failed attempts, including those before a retry; the last 100. */
  readonly attempts: readonly ItemFailure[];
  /** The number of retries so far. */
  readonly retry_count: number;
  /** The maximum number of retries. */
  readonly max_retries: number;
  /** SHA-256 of the payload as stored, in hex; equal payloads have equal digests. */
  readonly payload_digest: string;
  /** When it first became a dead letter. */
  readonly first_failed_at?: string;
  /** When it last became a dead letter. */
  readonly last_failed_at?: string;
  /** The item's type. */
  readonly type: string;
  /** The item's key. */
  readonly key: string;
};

/** Selects the pool. */
export type GetDeadLetterStatsRequest = {
  /** The pool; - for all pools. */
  readonly pool_id: string;
  /** Only those of pools of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** Counts of the dead letters of a pool, or of all pools. */
export type DeadLetterStats = {
  /** The pool; - for all pools. */
  readonly pool_id: string;
  /** The number of failed items. */
  readonly depth: number;
  /** The number of quarantined items. */
  readonly quarantined_count: number;
  /** The number of failed items that have reached their maximum number of retries. */
  readonly exhausted_count: number;
  /** When the oldest failed item failed. */
  readonly oldest_failure_at?: string;
};

/** Selects the items to retry. */
export type RetryDeadLettersRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The ids of the items. An id that is no dead letter of the pool is skipped as not_found. */
  readonly queue_item_ids: readonly string[];
};

/** The result. */
export type RetryDeadLettersResponse = {
  /** The number of retried items. */
  readonly retried_count: number;
  /** The skipped items, with the reason. */
  readonly skipped: readonly SkippedDeadLetter[];
};

/** A skipped item. */
export type SkippedDeadLetter = {
  /** The item. */
  readonly queue_item_id: string;
  /** not_found, quarantined, not_quarantined, retrying or max_retries; deduplicated or rejected when a constraint of its pool does not admit it now. */
  readonly reason: string;
};

/** Selects the pool. */
export type RetryAllDeadLettersRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The maximum number of items; 10,000 when 0. In a pool with admission constraints never more than 500. */
  readonly max_items?: number;
};

/** The result. */
export type RetryAllDeadLettersResponse = {
  /** The number of retried items. */
  readonly retried_count: number;
  /** The number of failed items that have reached their maximum number of retries. */
  readonly skipped_count: number;
  /** The number of items that could still be retried. */
  readonly remaining_count: number;
};

/** Selects the items to quarantine or to release. */
export type QuarantineDeadLettersRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The ids of the items. An id that is no dead letter of the pool is skipped as not_found. */
  readonly queue_item_ids: readonly string[];
  /** Releases the items from quarantine instead. */
  readonly release?: boolean;
  /** The reason. */
  readonly reason?: string;
};

/** The result. */
export type QuarantineDeadLettersResponse = {
  /** The number of quarantined or released items. */
  readonly changed_count: number;
  /** The skipped items, with the reason. */
  readonly skipped: readonly SkippedDeadLetter[];
};

/** Selects the items to delete. */
export type PurgeDeadLettersRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** Only items that failed before this time. */
  readonly older_than?: string | Date;
  /** Also quarantined items. */
  readonly include_quarantined?: boolean;
};

/** The result. */
export type PurgeDeadLettersResponse = {
  /** The number of deleted items. */
  readonly purged_count: number;
  /** The number of items that the same request would still delete; one call deletes 100,000 at most. */
  readonly remaining_count: number;
};
