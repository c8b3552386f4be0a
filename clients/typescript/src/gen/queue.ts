// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { ItemOffer } from "./item-offer.ts";
import type { ItemRetry } from "./routing.ts";

/** Queues: the items that wait in pools, and the control of them. */
export interface QueueService {
  /** Lists the queues of the caller's tenant. */
  list(request?: ListQueuesRequest, options?: CallOptions): List<Queue>;

  /** Returns the sums of all queues that the caller may see, and the fullest ones. */
  getTotals(request?: GetQueueTotalsRequest, options?: CallOptions): Promise<QueueTotals>;

  /** Returns the status of a pool's queue. */
  getStatus(request: GetQueueStatusRequest, options?: CallOptions): Promise<Queue>;

  /** Stops leasing items; new items are still accepted. With for_s, the queue is resumed by itself. A repeated call replaces the reason and the end. */
  pause(request: PauseQueueRequest, options?: CallOptions): Promise<Queue>;

  /** Resumes leasing items. */
  resume(request: ResumeQueueRequest, options?: CallOptions): Promise<Queue>;

  /** Removes waiting items without processing them, oldest first, up to a maximum. */
  drain(request: DrainQueueRequest, options?: CallOptions): Promise<DrainQueueResponse>;

  /** Lists the items of a pool's queue, newest first. */
  listItems(request: ListQueueItemsRequest, options?: CallOptions): List<QueueItem>;

  /** Returns one item of a queue. With wait_s, waits until the item has ended, and returns its current state at the latest after that time. */
  getItem(request: GetQueueItemRequest, options?: CallOptions): Promise<QueueItem>;

  /** Cancels an unfinished item. */
  cancelItem(request: CancelQueueItemRequest, options?: CallOptions): Promise<QueueItem>;

  /** Assigns a waiting item to a recipient. */
  assignItem(request: AssignQueueItemRequest, options?: CallOptions): Promise<QueueItem>;

  /** Ends the lease of an item and makes the item ready for another worker. No attempt is used up. The worker that had it can no longer complete it. With a lease token, only this lease is ended. */
  releaseItem(request: ReleaseQueueItemRequest, options?: CallOptions): Promise<QueueItem>;
}

const queueServiceOperations = {
  list: { verb: "GET", path: "/api/queues", result: "cursor" },
  getTotals: { verb: "GET", path: "/api/queues:totals" },
  getStatus: { verb: "GET", path: "/api/queues/{pool_id}/status" },
  pause: { verb: "POST", path: "/api/queues/{pool_id}/pause", body: "*", keyed: true },
  resume: { verb: "POST", path: "/api/queues/{pool_id}/resume", body: "*", keyed: true },
  drain: { verb: "POST", path: "/api/queues/{pool_id}/drain", body: "*", keyed: true },
  listItems: { verb: "GET", path: "/api/queues/{pool_id}/items", result: "cursor" },
  getItem: { verb: "GET", path: "/api/queues/{pool_id}/items/{queue_item_id}" },
  cancelItem: { verb: "POST", path: "/api/queues/{pool_id}/items/{queue_item_id}/cancel", body: "*", keyed: true },
  assignItem: { verb: "POST", path: "/api/queues/{pool_id}/items/{queue_item_id}/assign", body: "*", keyed: true },
  releaseItem: { verb: "POST", path: "/api/queues/{pool_id}/items/{queue_item_id}/release", body: "*", keyed: true },
} as const satisfies Record<keyof QueueService, Operation>;

/** Creates the service over a transport. */
export function createQueueService(transport: Transport): QueueService {
  return bindOperations<QueueService>(transport, queueServiceOperations);
}

/** The search for a recipient for a waiting item. The back-off between tries grows while no recipient is found. A free place or a change of the pool triggers an immediate try. */
export type AssignmentRetry = {
  /** The number of tries without a recipient since the item became ready. */
  readonly tries: number;
  /** The reason of the last try, such as `all_at_capacity`, `rules_exclude_all` or `rules_too_costly`. */
  readonly reason: string;
  /** When the next try is due. */
  readonly next_try_at?: string;
};

/** A failed attempt. */
export type ItemFailure = {
  /** The number of the attempt. */
  readonly attempt: number;
  /** When it failed. */
  readonly failed_at?: string;
  /** A stable code for the reason. */
  readonly reason_code: string;
  /** The worker's message. */
  readonly reason: string;
  /** The recipient. */
  readonly recipient_id: string;
};

/** Request for a page of queues. */
export type ListQueuesRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those of this tenant: the caller's own, or any one if the caller belongs to the platform tenant. Empty: the caller's own. */
  readonly tenant_id?: string;
  /** Only those that are paused. */
  readonly paused_only?: boolean;
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** The status of a pool's queue. */
export type Queue = {
  /** The pool. */
  readonly pool_id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The pool's name. */
  readonly pool_name: string;
  /** Whether leasing is paused. */
  readonly paused: boolean;
  /** Since when it is paused. */
  readonly paused_at?: string;
  /** Who paused it. */
  readonly paused_by: string;
  /** The reason. */
  readonly pause_reason: string;
  /** The number of waiting items. */
  readonly depth: number;
  /** The number of waiting items that can be leased now, counted up to 100,000. */
  readonly ready_count: number;
  /** The number of leased items. */
  readonly in_flight: number;
  /** The age of the oldest waiting item, in seconds. */
  readonly oldest_age_s: number;
  /** The average wait of the items leased today, in seconds. */
  readonly average_wait_s: number;
  /** The number of items completed today (UTC). */
  readonly throughput_today: number;
  /** The number of items accepted today. */
  readonly accepted_today: number;
  /** The number of attempts that failed today. */
  readonly failed_today: number;
  /** When it is resumed by itself; absent if it is not paused, or if somebody has to resume it. */
  readonly paused_until?: string;
  /** The environment of the pool. */
  readonly environment_id: string;
};

/** Requests the sums of all queues. */
export type GetQueueTotalsRequest = {
  /** Only queues of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** The sums of all queues. */
export type QueueTotals = {
  /** The number of queues. */
  readonly queue_count: number;
  /** The number of paused queues. */
  readonly paused_count: number;
  /** The number of waiting items. */
  readonly depth: number;
  /** The number of leased items. */
  readonly in_flight: number;
  /** The age of the oldest waiting item, in seconds. */
  readonly oldest_age_s: number;
  /** The number of items accepted today (UTC). */
  readonly accepted_today: number;
  /** The number of items completed today. */
  readonly completed_today: number;
  /** The number of attempts that failed today. */
  readonly failed_today: number;
  /** The queues in which the most items wait, fullest first; at most 8, and none that is empty. */
  readonly fullest: readonly Queue[];
};

/** Identifies a queue. */
export type GetQueueStatusRequest = {
  /** The pool. */
  readonly pool_id: string;
};

/** Selects the queue to pause. */
export type PauseQueueRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The reason. */
  readonly reason?: string;
  /** Seconds until it is resumed by itself; 0 if somebody has to resume it. */
  readonly for_s?: number;
};

/** Selects the queue to resume. */
export type ResumeQueueRequest = {
  /** The pool. */
  readonly pool_id: string;
};

/** Selects the queue to drain. */
export type DrainQueueRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** Maximum number of items to remove. */
  readonly max_items: number;
  /** The reason. */
  readonly reason?: string;
};

/** The result of draining. */
export type DrainQueueResponse = {
  /** The number of removed items. */
  readonly drained_count: number;
  /** The number of items that still wait. */
  readonly remaining_depth: number;
};

/** Request for a page of items. */
export type ListQueueItemsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** The pool. */
  readonly pool_id: string;
  /** Only those in this state. */
  readonly state?: string;
  /** Only those of this recipient. */
  readonly recipient_id?: string;
};

/** An item of a queue. */
export type QueueItem = {
  /** The id, a ULID; the same as that of its decision. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The pool. */
  readonly pool_id: string;
  /** The recipient; empty while there is none. */
  readonly recipient_id: string;
  /** pending, held, ready, leased, completed, dead_lettered, cancelled, expired, drained or superseded. */
  readonly state: string;
  /** What holds it: not_before, retry, rule, debounce, dependency or offer. Its admission explanation says what limits the leasing of a ready item. An item with offer is offered to its recipient until due_at. */
  readonly hold_reason: string;
  /** The item's type. */
  readonly type: string;
  /** The item's key. */
  readonly key: string;
  /** The attributes for rules. */
  readonly attributes?: JsonObject;
  /** The payload for the worker. */
  readonly payload?: JsonObject;
  /** Higher is leased first. */
  readonly priority: number;
  /** When it was accepted. */
  readonly enqueued_at?: string;
  /** When it proceeds, if known. */
  readonly due_at?: string;
  /** When it expires. */
  readonly expires_at?: string;
  /** The number of started attempts. */
  readonly attempt: number;
  /** When it was leased. */
  readonly leased_at?: string;
  /** When the lease expires. */
  readonly lease_expires_at?: string;
  /** When it ended. */
  readonly ended_at?: string;
  /** The item that replaced a superseded one. */
  readonly survivor_id: string;
  /** The failed attempts. */
  readonly failures: readonly ItemFailure[];
  /** The search for a recipient, if no recipient was found yet. */
  readonly assignment?: AssignmentRetry;
  /** The latest offers to recipients, oldest first, at most 50; only in pools with reservations. */
  readonly offers: readonly ItemOffer[];
  /** The result that its worker reported on completion; absent if there is none. */
  readonly result?: JsonValue;
  /** The last reported progress of an item that has not ended. */
  readonly progress?: ItemProgress;
  /** The items that it was routed to wait for. */
  readonly after: readonly string[];
  /** What happens if an item that it waits for ends without being completed: cancel or run. Empty if it waits for none. */
  readonly after_failure: string;
  /** Its own retries, as it was routed with; absent if it follows its pool. */
  readonly retry?: ItemRetry;
};

/** The progress of an attempt. */
export type ItemProgress = {
  /** How much of the work is done, in percent. */
  readonly percent: number;
  /** The worker's note. */
  readonly note: string;
  /** The number of the attempt. */
  readonly attempt: number;
  /** When it was reported. */
  readonly reported_at?: string;
};

/** Identifies an item. */
export type GetQueueItemRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The item. */
  readonly queue_item_id: string;
  /** Seconds to wait for the end of the item. */
  readonly wait_s?: number;
};

/** Selects the item to cancel. */
export type CancelQueueItemRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The item. */
  readonly queue_item_id: string;
  /** The reason. */
  readonly reason?: string;
};

/** Selects the item and its recipient. */
export type AssignQueueItemRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The item. */
  readonly queue_item_id: string;
  /** The recipient. */
  readonly recipient_id: string;
};

/** Selects the leased item. */
export type ReleaseQueueItemRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The item. */
  readonly queue_item_id: string;
  /** The reason. */
  readonly reason?: string;
  /** The token of the lease to end, or the call is refused with LEASE_LOST; any lease when empty. */
  readonly lease_token?: string;
};
