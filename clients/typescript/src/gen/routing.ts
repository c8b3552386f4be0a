// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";
import type { JsonObject } from "../json.ts";
import type { ItemOffer } from "./item-offer.ts";
import type { Violation } from "./violation.ts";

/** Routing: which recipient gets an item, and why. */
export interface RoutingService {
  /** Routes one item: rules and the pool's strategy choose a recipient, and the item is queued for it. */
  route(request: RouteRequest, options?: CallOptions): Promise<Decision>;

  /** Routes up to 1,000 items in one call; each has its own result, in order. */
  routeBatch(request: RouteBatchRequest, options?: CallOptions): Promise<RouteBatchResponse>;

  /** Returns a decision, with everything it was made from. */
  getDecision(request: GetDecisionRequest, options?: CallOptions): Promise<Decision>;

  /** Lists decisions, newest first. */
  listDecisions(request?: ListDecisionsRequest, options?: CallOptions): List<Decision>;

  /** Replays a decision from its stored inputs, and says whether the result is identical. */
  replayDecision(request: ReplayDecisionRequest, options?: CallOptions): Promise<Replay>;
}

const routingServiceOperations = {
  route: { verb: "POST", path: "/api/route", body: "*", keyed: true },
  routeBatch: { verb: "POST", path: "/api/route:batch", body: "*", keyed: true },
  getDecision: { verb: "GET", path: "/api/decisions/{decision_id}" },
  listDecisions: { verb: "GET", path: "/api/decisions", result: "cursor" },
  replayDecision: { verb: "POST", path: "/api/decisions/{decision_id}:replay", body: "*" },
} as const satisfies Record<keyof RoutingService, Operation>;

/** Creates the service over a transport. */
export function createRoutingService(transport: Transport): RoutingService {
  return bindOperations<RoutingService>(transport, routingServiceOperations);
}

/** Outcomes: the results of routed items. */
export interface OutcomeService {
  /** Records the outcome of an item. Only the first report counts. */
  record(request: RecordOutcomeRequest, options?: CallOptions): Promise<Outcome>;

  /** Returns the outcome of a decision. */
  get(request: GetOutcomeRequest, options?: CallOptions): Promise<Outcome>;
}

const outcomeServiceOperations = {
  record: { verb: "POST", path: "/api/outcomes", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/outcomes/{decision_id}" },
} as const satisfies Record<keyof OutcomeService, Operation>;

/** Creates the service over a transport. */
export function createOutcomeService(transport: Transport): OutcomeService {
  return bindOperations<OutcomeService>(transport, outcomeServiceOperations);
}

/** An item of work to route. */
export type RouteItemInput = {
  /** The pool; when empty, the rules of the pools that accept unaddressed items choose one. */
  readonly pool_id?: string;
  /** The type of work. */
  readonly type: string;
  /** What it belongs to, such as a customer: sticky_hash keeps one key with one recipient. */
  readonly key?: string;
  /** The attributes for rules. */
  readonly attributes?: object;
  /** Requirements for its recipient. */
  readonly requirements?: RequirementsInput;
  /** The payload for the worker; rules do not see it. */
  readonly payload?: object;
  /** Higher is leased first; age outweighs it eventually, unless the pool's queue.order says otherwise. */
  readonly priority?: number;
  /** The earliest time at which it may be leased. */
  readonly not_before?: string | Date;
  /** Seconds until it expires; the pool's value when 0. */
  readonly ttl_s?: number;
  /** Whether a rejection is the error of this item instead of a decision with the outcome rejected: ROUTING_THROTTLED if a throttle rejects it, ROUTING_FAILED if a rule does. */
  readonly reject_as_error?: boolean;
  /** Items that must end before this one can be leased. They can be in any pool that the caller may use. */
  readonly after?: readonly string[];
  /** What happens if one of these items ends without being completed: cancel (default: this item is cancelled) or run (it proceeds). */
  readonly after_failure?: "" | "cancel" | "run";
  /** Its own retries. Fields that are not set follow the pool. */
  readonly retry?: ItemRetryInput;
};

/** Requirements of an item for its recipient. */
export type RequirementsInput = {
  /** Required skills by name, with the minimum level of each, 1 to 5. */
  readonly skills?: Readonly<Record<string, number>>;
  /** The only recipient that may take it; any when empty. */
  readonly recipient_id?: string;
  /** Recipients that must not take it. */
  readonly excluded_recipient_ids?: readonly string[];
};

/** How failed work on one item is retried, within retry.item_max_attempts and retry.item_max_ms of its pool. */
export type ItemRetryInput = {
  /** The maximum number of attempts. */
  readonly max_attempts?: number;
  /** The first back-off in milliseconds. */
  readonly initial_ms?: number;
  /** The factor by which the back-off grows. */
  readonly factor?: number;
  /** The maximum back-off in milliseconds, at least initial_ms. */
  readonly max_ms?: number;
  /** The random share of a back-off, 0 to 1. */
  readonly jitter?: number;
};

/** How failed work on one item is retried, within retry.item_max_attempts and retry.item_max_ms of its pool. */
export type ItemRetry = {
  /** The maximum number of attempts. */
  readonly max_attempts?: number;
  /** The first back-off in milliseconds. */
  readonly initial_ms?: number;
  /** The factor by which the back-off grows. */
  readonly factor?: number;
  /** The maximum back-off in milliseconds, at least initial_ms. */
  readonly max_ms?: number;
  /** The random share of a back-off, 0 to 1. */
  readonly jitter?: number;
};

/** Routes one item. */
export type RouteRequest = {
  /** The pool; when empty, the rules of the pools that accept unaddressed items choose one. */
  readonly pool_id?: string;
  /** The type of work. */
  readonly type: string;
  /** What it belongs to, such as a customer: sticky_hash keeps one key with one recipient. */
  readonly key?: string;
  /** The attributes for rules. */
  readonly attributes?: object;
  /** Requirements for its recipient. */
  readonly requirements?: RequirementsInput;
  /** The payload for the worker; rules do not see it. */
  readonly payload?: object;
  /** Higher is leased first; age outweighs it eventually, unless the pool's queue.order says otherwise. */
  readonly priority?: number;
  /** The earliest time at which it may be leased. */
  readonly not_before?: string | Date;
  /** Seconds until it expires; the pool's value when 0. */
  readonly ttl_s?: number;
  /** Decides without storing anything. */
  readonly dry_run?: boolean;
  /** Whether a rejection is an error instead of a decision with the outcome rejected: ROUTING_THROTTLED if a throttle rejects the item, ROUTING_FAILED if a rule does. A repeat under the same idempotency key is decided anew. */
  readonly reject_as_error?: boolean;
  /** Items that must end before this one can be leased. They can be in any pool that the caller may use. */
  readonly after?: readonly string[];
  /** What happens if one of these items ends without being completed: cancel (default: this item is cancelled) or run (it proceeds). */
  readonly after_failure?: "" | "cancel" | "run";
  /** Its own retries. Fields that are not set follow the pool. */
  readonly retry?: ItemRetryInput;
};

/** Which recipient gets an item, and why. */
export type Decision = {
  /** The id, a ULID. */
  readonly decision_id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The final pool. */
  readonly pool_id: string;
  /** The outcome: routed, queued, held, deduplicated, debounced or rejected. */
  readonly outcome: string;
  /** A stable code for the reason. */
  readonly reason: string;
  /** The recipient; empty while there is none. */
  readonly recipient_id: string;
  /** The queued item; empty if there is none. */
  readonly queue_item_id: string;
  /** The ids of the matching rules, in order. */
  readonly matched_rule_ids: readonly string[];
  /** The steps of the decision. */
  readonly trace: readonly TraceStep[];
  /** The digest of the snapshot that the decision was made from. */
  readonly snapshot_digest: string;
  /** The seed of random choices. */
  readonly seed: number;
  /** Keys of experiments that rules assigned to the item. */
  readonly experiment_keys: readonly string[];
  /** When a held item proceeds, if known. */
  readonly due_at?: string;
  /** The earlier item, if this one is a duplicate of it or its payload was added to it. */
  readonly existing_item_id: string;
  /** When it was decided. */
  readonly decided_at?: string;
  /** Whether nothing was stored. */
  readonly dry_run: boolean;
  /** The item's type. */
  readonly type: string;
  /** The item's key. */
  readonly key: string;
  /** The message of the rule that rejected the item; empty otherwise. */
  readonly message: string;
  /** The variants that the item got, by the key of the experiment. Experiments that the item is not in are missing. */
  readonly experiments: Readonly<Record<string, string>>;
  /** The seconds after which a rejected item may be accepted; 0 if unknown. */
  readonly retry_after_s: number;
  /** The latest offers of the item to recipients, oldest first, at most 50; only in pools with reservations. Lists of decisions leave them out. */
  readonly offers: readonly ItemOffer[];
};

/** One step that led to a decision. */
export type TraceStep = {
  /** The kind of step: rule, requirement, eligibility, strategy, fallback, admission, redirect, pool, dependency. */
  readonly step: string;
  /** The subject of the step, such as a rule's id. */
  readonly id: string;
  /** The result of the step. */
  readonly result: string;
  /** Details; never a value of the item. */
  readonly detail: string;
};

/** Routes many items. */
export type RouteBatchRequest = {
  /** The items. An item with an invalid field gets INVALID_ARGUMENT as its own result, and the others are routed. A body that cannot be decoded is rejected as a whole: malformed JSON, unknown fields, wrong types, or values that are nested too deeply or too large. */
  readonly items: readonly RouteItemInput[];
  /** Decides without storing anything. */
  readonly dry_run?: boolean;
};

/** The results, in the order of the items. */
export type RouteBatchResponse = {
  /** One for each item. */
  readonly results: readonly RouteResult[];
  /** The number of accepted items. */
  readonly accepted_count: number;
};

/** The result of one item of a batch: a decision or an error. */
export type RouteResult = {
  /** The decision. */
  readonly decision?: Decision;
  /** The error code; empty if there is none. */
  readonly error_code: string;
  /** The error in words. */
  readonly error_message: string;
  /** The invalid fields of the item; empty for other errors. */
  readonly violations: readonly Violation[];
  /** The seconds after which the item may be sent again; 0 if unknown. */
  readonly retry_after_s: number;
};

/** Identifies a decision. */
export type GetDecisionRequest = {
  /** The decision. */
  readonly decision_id: string;
};

/** Request for a page of decisions. */
export type ListDecisionsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only those of this pool. */
  readonly pool_id?: string;
  /** Only those with this outcome. */
  readonly outcome?: string;
  /** Only those for this recipient. */
  readonly recipient_id?: string;
  /** Only those about items with this key. */
  readonly key?: string;
  /** Only those of this environment: its id or its key. */
  readonly environment_id?: string;
};

/** Selects the decision to replay. */
export type ReplayDecisionRequest = {
  /** The decision. */
  readonly decision_id: string;
};

/** A replayed decision. */
export type Replay = {
  /** Whether the result is identical. */
  readonly identical: boolean;
  /** The replayed decision. */
  readonly decision?: Decision;
  /** The differing fields; empty if there are none. */
  readonly differences: readonly string[];
};

/** Records an outcome. */
export type RecordOutcomeRequest = {
  /** The decision; alternatively the queue item. */
  readonly decision_id?: string;
  /** The queue item; alternatively the decision. */
  readonly queue_item_id?: string;
  /** success, failure, timeout, declined or cancelled. */
  readonly status: "success" | "failure" | "timeout" | "declined" | "cancelled";
  /** The duration of the work. */
  readonly latency_ms?: number;
  /** A quality score, as the caller defines it. */
  readonly score?: number;
  /** The cost. */
  readonly cost?: number;
  /** When it was observed; the current time when absent. */
  readonly observed_at?: string | Date;
};

/** The outcome of an item. */
export type Outcome = {
  /** The decision it belongs to. */
  readonly decision_id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The pool. */
  readonly pool_id: string;
  /** The recipient. */
  readonly recipient_id: string;
  /** success, failure, timeout, declined or cancelled. */
  readonly status: string;
  /** The duration of the work. */
  readonly latency_ms?: number;
  /** A quality score, as the caller defines it. */
  readonly score?: number;
  /** The cost. */
  readonly cost?: number;
  /** When it was observed. */
  readonly observed_at?: string;
  /** When it was recorded. */
  readonly recorded_at?: string;
};

/** Identifies a decision. */
export type GetOutcomeRequest = {
  /** The decision. */
  readonly decision_id: string;
};

/** An item of work to route. */
export type RouteItem = {
  /** The pool; when empty, the rules of the pools that accept unaddressed items choose one. */
  readonly pool_id: string;
  /** The type of work. */
  readonly type: string;
  /** What it belongs to, such as a customer: sticky_hash keeps one key with one recipient. */
  readonly key: string;
  /** The attributes for rules. */
  readonly attributes?: JsonObject;
  /** Requirements for its recipient. */
  readonly requirements?: Requirements;
  /** The payload for the worker; rules do not see it. */
  readonly payload?: JsonObject;
  /** Higher is leased first; age outweighs it eventually, unless the pool's queue.order says otherwise. */
  readonly priority: number;
  /** The earliest time at which it may be leased. */
  readonly not_before?: string;
  /** Seconds until it expires; the pool's value when 0. */
  readonly ttl_s: number;
  /** Whether a rejection is the error of this item instead of a decision with the outcome rejected: ROUTING_THROTTLED if a throttle rejects it, ROUTING_FAILED if a rule does. */
  readonly reject_as_error: boolean;
  /** Items that must end before this one can be leased. They can be in any pool that the caller may use. */
  readonly after: readonly string[];
  /** What happens if one of these items ends without being completed: cancel (default: this item is cancelled) or run (it proceeds). */
  readonly after_failure: string;
  /** Its own retries. Fields that are not set follow the pool. */
  readonly retry?: ItemRetry;
};

/** Requirements of an item for its recipient. */
export type Requirements = {
  /** Required skills by name, with the minimum level of each, 1 to 5. */
  readonly skills: Readonly<Record<string, number>>;
  /** The only recipient that may take it; any when empty. */
  readonly recipient_id: string;
  /** Recipients that must not take it. */
  readonly excluded_recipient_ids: readonly string[];
};
