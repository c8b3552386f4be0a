// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { EventStream } from "../streams/event-stream.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { Violation } from "./violation.ts";

/** Work: how workers lease items, extend leases and report results. */
export interface WorkService {
  /** Reports finished items and leases the next ones, in one call. Reports are optional, and applied first: an item that ends or is given back makes room for the next one in the same call. Then items are leased, up to a maximum; if there are none, the call waits for items. The reports are committed before the wait and stay applied if the caller disconnects. A repeated report gets the first result. */
  leaseItems(request: LeaseItemsRequest, options?: CallOptions): Promise<LeaseItemsResponse>;

  /** Streams leased items as they become ready. The worker's credit limits its unfinished items: an item uses one credit until it is completed, failed or cancelled, or its lease expires. Results are reported with the other calls, on any connection. A message contains all items that are available now, up to the free credit. If the worker disconnects, items that were not sent return to the queue at once, and items that were sent return when their leases expire. */
  work(request: WorkRequest, options?: CallOptions): EventStream<WorkResponse>;

  /** Extends the lease of an item. */
  heartbeatItem(request: HeartbeatItemRequest, options?: CallOptions): Promise<Lease>;

  /** Reports the progress of a leased item, and extends its lease like a heartbeat. */
  reportItemProgress(request: ReportItemProgressRequest, options?: CallOptions): Promise<Lease>;

  /** Reports that an item is done. */
  completeItem(request: CompleteItemRequest, options?: CallOptions): Promise<WorkResult>;

  /** Reports a failed attempt: the item is retried later or becomes a dead letter. */
  failItem(request: FailItemRequest, options?: CallOptions): Promise<WorkResult>;

  /** Reports that many items are done; each has its own result, in order. */
  completeItems(request: CompleteItemsRequest, options?: CallOptions): Promise<CompleteItemsResponse>;

  /** Reports many failed attempts; each has its own result, in order. */
  failItems(request: FailItemsRequest, options?: CallOptions): Promise<FailItemsResponse>;
}

const workServiceOperations = {
  leaseItems: { verb: "POST", path: "/api/queues/{pool_id}/lease", body: "*", keyed: true },
  work: { verb: "POST", path: "/api/queues/{pool_id}/work", body: "*", result: "stream" },
  heartbeatItem: { verb: "POST", path: "/api/queues/{pool_id}/items/{queue_item_id}/heartbeat", body: "*", keyed: true },
  reportItemProgress: { verb: "POST", path: "/api/queues/{pool_id}/items/{queue_item_id}/progress", body: "*", keyed: true },
  completeItem: { verb: "POST", path: "/api/queues/{pool_id}/items/{queue_item_id}/complete", body: "*", keyed: true },
  failItem: { verb: "POST", path: "/api/queues/{pool_id}/items/{queue_item_id}/fail", body: "*", keyed: true },
  completeItems: { verb: "POST", path: "/api/queues/{pool_id}/items:complete", body: "*", keyed: true },
  failItems: { verb: "POST", path: "/api/queues/{pool_id}/items:fail", body: "*", keyed: true },
} as const satisfies Record<keyof WorkService, Operation>;

/** Creates the service over a transport. */
export function createWorkService(transport: Transport): WorkService {
  return bindOperations<WorkService>(transport, workServiceOperations);
}

/** A leased item. */
export type LeasedItem = {
  /** The id, a ULID. */
  readonly queue_item_id: string;
  /** The pool. */
  readonly pool_id: string;
  /** The recipient. */
  readonly recipient_id: string;
  /** The item's type. */
  readonly type: string;
  /** The item's key. */
  readonly key: string;
  /** The attributes for rules. */
  readonly attributes?: JsonObject;
  /** The payload for the worker. In a pool whose debounce takes all items, the list `payloads` in it has the payload of each item of the window. */
  readonly payload?: JsonObject;
  /** Higher is leased first. */
  readonly priority: number;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  /** The maximum number of attempts. */
  readonly max_attempts: number;
  /** Proves that the worker still holds the lease. */
  readonly lease_token: string;
  /** When the lease expires. */
  readonly lease_expires_at?: string;
  /** When the item was accepted. */
  readonly enqueued_at?: string;
  /** The items that it was routed to wait for, in the order of the request. */
  readonly after: readonly AwaitedItem[];
};

/** An item that another one has waited for. */
export type AwaitedItem = {
  /** The item; if others replaced it, the last of them. */
  readonly queue_item_id: string;
  /** Its key. */
  readonly key: string;
  /** How it ended: completed, cancelled, expired, drained or dead_lettered. */
  readonly state: string;
  /** The result that its worker reported. */
  readonly result?: JsonValue;
  /** Whether it has a result that is too large to be sent along: the results of a leased item have at most 256 KiB together. Read it with the item. */
  readonly result_omitted: boolean;
};

/** A completed item, as reported with LeaseItems. */
export type CompletedItem = {
  /** The item. */
  readonly queue_item_id: string;
  /** The token of the lease. */
  readonly lease_token: string;
  /** The cost. */
  readonly cost?: number;
  /** A quality score. */
  readonly score?: number;
  /** The result of the work, any JSON value of at most 64 KiB. It is stored with the item. */
  readonly result?: unknown;
};

/** A failed attempt, as reported with LeaseItems. */
export type FailedItem = {
  /** The item. */
  readonly queue_item_id: string;
  /** The token of the lease. */
  readonly lease_token: string;
  /** Whether a retry makes sense; default true. */
  readonly retryable?: boolean;
  /** A stable code for the reason. */
  readonly reason_code?: string;
  /** The message for people. */
  readonly reason?: string;
};

/** An item and its lease. */
export type LeasedRef = {
  /** The item. */
  readonly queue_item_id: string;
  /** The token of the lease. */
  readonly lease_token: string;
  /** The result of a completed item, any JSON value of at most 64 KiB. A failed or released item cannot have one. */
  readonly result?: unknown;
};

/** Request to report finished items and lease the next ones. */
export type LeaseItemsRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The maximum number of items; 1 when 0. Large items are fewer: a response ends at about 2 MiB, and the rest stays ready. */
  readonly max_items?: number;
  /** Seconds to wait for items if there are none. */
  readonly wait_s?: number;
  /** Only items of this recipient. When empty, the items of all recipients, each within its recipient's capacity; in a pool without recipients, the items without requirements. Refused with RECIPIENT_REQUIRED where a recipient must be named: in first_accept pools with recipients, in pools with reservations, and in pools without recipients whose rules require or name one. */
  readonly recipient_id?: string;
  /** Seconds until the lease expires; the pool's value when 0. */
  readonly lease_s?: number;
  /** Items that are done, applied before items are leased. An item with an invalid field gets INVALID_ARGUMENT as its own result. A body that cannot be decoded is rejected as a whole. */
  readonly completed?: readonly CompletedItem[];
  /** Failed attempts, applied before items are leased. They have their own results as well. */
  readonly failed?: readonly FailedItem[];
  /** Leases nothing: the call only applies its reports and does not wait. For a worker that stops. */
  readonly report_only?: boolean;
  /** Items that the worker gives back, applied before items are leased. They are ready for any worker at once, and no attempt is used up. A repeated report gets LEASE_LOST, because the lease has ended. */
  readonly released?: readonly LeasedRef[];
};

/** The leased items and the results of the reports. */
export type LeaseItemsResponse = {
  /** The leased items, best first; empty if none arrived in time. */
  readonly items: readonly LeasedItem[];
  /** One result for each report, in order: first those of completed, then those of failed, then those of released. */
  readonly results: readonly WorkResult[];
};

/** The result for an item. */
export type WorkResult = {
  /** The item. */
  readonly queue_item_id: string;
  /** The current state; empty if there is an error. */
  readonly state: string;
  /** When it is retried. */
  readonly retry_at?: string;
  /** The error code; empty if there is none. */
  readonly error_code: string;
  /** The error in words. */
  readonly error_message: string;
  /** The invalid fields of the item; empty for other errors. */
  readonly violations: readonly Violation[];
};

/** Request for a stream of leased items. */
export type WorkRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** Only items of this recipient. When empty, the items of the whole pool, as for LeaseItems. */
  readonly recipient_id?: string;
  /** The worker's credit: the most items of this stream that may be unfinished at a time; 10 when 0. */
  readonly max_in_flight?: number;
  /** Seconds until the lease of an item expires; the pool's value when 0. Heartbeats extend it. */
  readonly lease_s?: number;
};

/** Items that were leased together. */
export type WorkResponse = {
  /** The leased items, best first; at least one. */
  readonly items: readonly LeasedItem[];
};

/** Extends the lease of an item. */
export type HeartbeatItemRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The item. */
  readonly queue_item_id: string;
  /** The token of the lease. */
  readonly lease_token: string;
  /** Seconds from now; the pool's value when 0. */
  readonly lease_s?: number;
};

/** The current lease. */
export type Lease = {
  /** The item. */
  readonly queue_item_id: string;
  /** When the lease expires. */
  readonly lease_expires_at?: string;
};

/** Reports the progress of a leased item. */
export type ReportItemProgressRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The item. */
  readonly queue_item_id: string;
  /** The token of the lease. */
  readonly lease_token: string;
  /** How much of the work is done, in percent. */
  readonly percent?: number;
  /** A note for people. */
  readonly note?: string;
  /** Seconds from now until the lease expires; the pool's value when 0. A lease is never shortened. */
  readonly lease_s?: number;
};

/** Reports that an item is done. */
export type CompleteItemRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The item. */
  readonly queue_item_id: string;
  /** The token of the lease. */
  readonly lease_token: string;
  /** The cost. */
  readonly cost?: number;
  /** A quality score. */
  readonly score?: number;
  /** The result of the work, any JSON value of at most 64 KiB. It is stored with the item. */
  readonly result?: unknown;
};

/** Reports a failed attempt. */
export type FailItemRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The item. */
  readonly queue_item_id: string;
  /** The token of the lease. */
  readonly lease_token: string;
  /** Whether a retry makes sense; default true. */
  readonly retryable?: boolean;
  /** A stable code for the reason. */
  readonly reason_code?: string;
  /** The message for people. */
  readonly reason?: string;
};

/** Reports that many items are done. */
export type CompleteItemsRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The items. An item with an invalid field gets INVALID_ARGUMENT as its own result. A body that cannot be decoded is rejected as a whole. */
  readonly items: readonly LeasedRef[];
};

/** The results, in order. */
export type CompleteItemsResponse = {
  /** One for each item. */
  readonly results: readonly WorkResult[];
};

/** Reports many failed attempts. */
export type FailItemsRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The items. An item with an invalid field gets INVALID_ARGUMENT as its own result. A body that cannot be decoded is rejected as a whole. */
  readonly items: readonly LeasedRef[];
  /** Whether a retry makes sense; default true. */
  readonly retryable?: boolean;
  /** A stable code for the reason. */
  readonly reason_code?: string;
  /** The message for people. */
  readonly reason?: string;
};

/** The results, in order. */
export type FailItemsResponse = {
  /** One for each item. */
  readonly results: readonly WorkResult[];
};
