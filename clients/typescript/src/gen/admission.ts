// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { AssignmentRetry } from "./queue.ts";
import type { RouteItemInput } from "./routing.ts";

/** Admission: which items a queue accepts, and what holds an item. */
export interface AdmissionService {
  /** Previews what would happen to an item, without taking anything. */
  preview(request: PreviewAdmissionRequest, options?: CallOptions): Promise<AdmissionPreview>;

  /** Explains what holds an item, and until when. */
  explain(request: ExplainAdmissionRequest, options?: CallOptions): Promise<AdmissionExplanation>;

  /** Lists admission groups. */
  listGroups(request?: ListAdmissionGroupsRequest, options?: CallOptions): List<AdmissionGroup>;

  /** Returns one admission group. */
  getGroup(request: GetAdmissionGroupRequest, options?: CallOptions): Promise<AdmissionGroup>;

  /** Clears a singleton, debounce or throttle group immediately, with a reason. */
  clearGroup(request: ClearAdmissionGroupRequest, options?: CallOptions): Promise<AdmissionGroup>;
}

const admissionServiceOperations = {
  preview: { verb: "POST", path: "/api/queues/{pool_id}:preview-admission", body: "*" },
  explain: { verb: "GET", path: "/api/queues/{pool_id}/items/{queue_item_id}/admission-explanation" },
  listGroups: { verb: "GET", path: "/api/queues/admission-groups", result: "cursor" },
  getGroup: { verb: "GET", path: "/api/queues/{pool_id}/admission-groups/{constraint_kind}/{group_id}" },
  clearGroup: { verb: "POST", path: "/api/queues/{pool_id}/admission-groups/{constraint_kind}/{group_id}:clear", body: "*", keyed: true },
} as const satisfies Record<keyof AdmissionService, Operation>;

/** Creates the service over a transport. */
export function createAdmissionService(transport: Transport): AdmissionService {
  return bindOperations<AdmissionService>(transport, admissionServiceOperations);
}

/** An item to preview. */
export type PreviewAdmissionRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The item. */
  readonly item: RouteItemInput;
};

/** What would happen to an item. */
export type AdmissionPreview = {
  /** admitted, held, deduplicated, debounced or rejected. A held item is accepted, but its throttle or concurrency group has no room to lease it now. */
  readonly status: string;
  /** The deciding constraint, if any. */
  readonly constraint_kind: string;
  /** How long to wait before trying again. */
  readonly retry_after_s: number;
  /** When the item would proceed; for a throttle, when its group leases the next item. */
  readonly not_before?: string;
  /** The verdict of each constraint, in order: first those evaluated on arrival, then those evaluated at lease time. */
  readonly verdicts: readonly ConstraintVerdict[];
  /** deduplicated: the item that occupies the group. debounced: the waiting item that would take the payload, if any. */
  readonly existing_queue_item_id: string;
  /** Waiting items that it would replace. */
  readonly superseded_queue_item_ids: readonly string[];
  /** The leased item that it would cancel. */
  readonly cancelled_queue_item_id: string;
};

/** The verdict of one constraint. */
export type ConstraintVerdict = {
  /** singleton, debounce, throttle or concurrency. */
  readonly constraint_kind: string;
  /** The group of the item. Its key is never shown. */
  readonly group_id: string;
  /** admit, replace, cancel_running, debounce, collect, hold, deduplicate or reject; not_asked when an earlier constraint decides. */
  readonly verdict: string;
  /** When the constraint lets the item proceed, if known. */
  readonly not_before?: string;
  /** The number of places or tokens left, if the constraint has a number. */
  readonly remaining?: number;
};

/** Identifies an item. */
export type ExplainAdmissionRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** The item. */
  readonly queue_item_id: string;
};

/** What holds an item. */
export type AdmissionExplanation = {
  /** The item. */
  readonly queue_item_id: string;
  /** The item's state: pending, held, ready, leased, completed, dead_lettered, cancelled, expired, drained or superseded. */
  readonly status: string;
  /** The constraint that holds it; empty when none does. */
  readonly constraint_kind: string;
  /** The group of that constraint. */
  readonly group_id: string;
  /** Seconds until the item is evaluated again. */
  readonly retry_after_s: number;
  /** The earliest time at which it proceeds. */
  readonly not_before?: string;
  /** The number of items of the same pool and group that come first, counted up to 1,000. */
  readonly ahead: number;
  /** The item that replaced it. */
  readonly survivor_id: string;
  /** The current verdict of each constraint, in order; empty for an item that has ended. */
  readonly verdicts: readonly ConstraintVerdict[];
  /** The search for a recipient, if no constraint holds the item and no recipient was found yet. */
  readonly assignment?: AssignmentRetry;
  /** The items that it was routed to wait for, in the order of the request. */
  readonly dependencies: readonly ItemDependency[];
};

/** An item that another item waits for. */
export type ItemDependency = {
  /** The item, as it was named. */
  readonly queue_item_id: string;
  /** Its pool; empty if the item is no longer stored. */
  readonly pool_id: string;
  /** Its state; empty if the item is no longer stored. If another item replaced it, this is the state of the last replacement. */
  readonly state: string;
  /** The item that replaced it; empty if none did. */
  readonly survivor_id: string;
};

/** Request for a page of groups. */
export type ListAdmissionGroupsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
  /** Only those of this pool. */
  readonly pool_id?: string;
  /** Only those of this kind. */
  readonly constraint_kind?: "" | "singleton" | "debounce" | "throttle" | "concurrency";
  /** Only those with this status. */
  readonly status?: "" | "open" | "saturated" | "cooling" | "expired" | "cleared";
};

/** All items that share a constraint's key. The key is never shown. */
export type AdmissionGroup = {
  /** singleton, debounce, throttle or concurrency. */
  readonly constraint_kind: string;
  /** A keyed digest of the key. */
  readonly group_id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The pool in which the group was first used. */
  readonly pool_id: string;
  /** The environment of that pool. */
  readonly environment_id: string;
  /** open, saturated, cooling, expired or cleared. */
  readonly status: string;
  /** The item that occupies the group or waits in it. */
  readonly queue_item_id: string;
  /** singleton, concurrency: the number of places. */
  readonly limit: number;
  /** The number of places in use; concurrency: by leased items. */
  readonly in_use: number;
  /** The number of items of the group that wait to be leased, counted up to 1,000; debounce: that wait for their window. */
  readonly waiting: number;
  /** Until when the group holds items. */
  readonly until?: string;
  /** When it was last used. */
  readonly updated_at?: string;
  /** When an operator cleared the group. */
  readonly cleared_at?: string;
  /** Who cleared it. */
  readonly cleared_by: string;
  /** The reason. */
  readonly cleared_reason: string;
};

/** Identifies a group. */
export type GetAdmissionGroupRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** singleton, debounce, throttle or concurrency. */
  readonly constraint_kind: "singleton" | "debounce" | "throttle" | "concurrency";
  /** The group. */
  readonly group_id: string;
};

/** Clears a group. */
export type ClearAdmissionGroupRequest = {
  /** The pool. */
  readonly pool_id: string;
  /** singleton, debounce or throttle. */
  readonly constraint_kind: "singleton" | "debounce" | "throttle" | "concurrency";
  /** The group. */
  readonly group_id: string;
  /** The reason, which is stored. */
  readonly reason: string;
};
