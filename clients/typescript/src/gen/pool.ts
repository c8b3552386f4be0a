// Generated from the definitions; do not edit.
import { bindOperations } from "../transport/bind.ts";
import type { CallOptions, Operation } from "../transport/operation.ts";
import type { Transport } from "../transport/transport.ts";
import type { List } from "../transport/list.ts";

/** Pools: groups of recipients, with the rules and the strategy that choose among them. */
export interface PoolService {
  /** Creates a pool. */
  create(request: CreatePoolRequest, options?: CallOptions): Promise<Pool>;

  /** Returns one pool, including archived ones. */
  get(request: GetPoolRequest, options?: CallOptions): Promise<Pool>;

  /** Changes the fields that are present, also within the config. */
  update(request: UpdatePoolRequest, options?: CallOptions): Promise<Pool>;

  /** Enables or disables a pool. Its items stay. */
  setEnabled(request: SetPoolEnabledRequest, options?: CallOptions): Promise<Pool>;

  /** Archives a pool permanently. Rejected while items wait in it or are leased. */
  delete(request: DeletePoolRequest, options?: CallOptions): Promise<Pool>;

  /** Lists the pools of the caller's tenant. Archived ones are listed only on request. */
  list(request?: ListPoolsRequest, options?: CallOptions): List<Pool>;
}

const poolServiceOperations = {
  create: { verb: "POST", path: "/api/pools", body: "*", keyed: true },
  get: { verb: "GET", path: "/api/pools/{pool_id}" },
  update: { verb: "PATCH", path: "/api/pools/{pool_id}", body: "*", keyed: true },
  setEnabled: { verb: "POST", path: "/api/pools/{pool_id}:set_enabled", body: "*", keyed: true },
  delete: { verb: "DELETE", path: "/api/pools/{pool_id}", keyed: true },
  list: { verb: "GET", path: "/api/pools", result: "cursor" },
} as const satisfies Record<keyof PoolService, Operation>;

/** Creates the service over a transport. */
export function createPoolService(transport: Transport): PoolService {
  return bindOperations<PoolService>(transport, poolServiceOperations);
}

/** The status of a pool. */
export type PoolStatus = "STATUS_UNSPECIFIED" | "STATUS_ACTIVE" | "STATUS_DISABLED" | "STATUS_DRAINING" | "STATUS_ARCHIVED";

/** The configuration of a pool besides its strategy. Absent fields have their defaults. */
export type PoolConfigInput = {
  /** How one of several recipients is chosen. */
  readonly selection?: PoolConfigSelectionInput;
  /** What happens when no recipient can take an item. */
  readonly fallback?: PoolConfigFallbackInput;
  /** How items wait. */
  readonly queue?: PoolConfigQueueInput;
  /** How long a worker may hold an item. */
  readonly lease?: PoolConfigLeaseInput;
  /** How failed work is retried. */
  readonly retry?: PoolConfigRetryInput;
  /** How long dead letters are stored and how often they may be retried. */
  readonly dlq?: PoolConfigDlqInput;
  /** When a failing recipient is ejected for a while. */
  readonly outlier?: PoolConfigOutlierInput;
  /** The admission constraints. */
  readonly admission?: PoolConfigAdmissionInput;
  /** How outcomes are monitored. */
  readonly anomaly?: PoolConfigAnomalyInput;
  /** Whether each step of each item is written to the event log; default false. Dead letters always are. */
  readonly item_events?: boolean;
  /** Whether items without a pool_id may come to this pool; default false. An item comes if a rule with the action route, require, prefer or redirect_pool matches it; other actions choose no pool. */
  readonly accepts_unaddressed?: boolean;
  /** If present, items are offered to recipients, which accept or decline them. Without it, an item that is assigned to a recipient waits for it. Recipients with push delivery and decision_only recipients get items without an offer. */
  readonly reservation?: PoolConfigReservationInput;
};

/** How one of several recipients is chosen. */
export type PoolConfigSelectionInput = {
  /** CEL over item: the value that sticky_hash hashes; the item's key when empty. */
  readonly hash_key?: string;
  /** The number of random recipients that least_loaded compares; default 2. */
  readonly choice_count?: number;
  /** Seconds in which a newly available recipient ramps up to its full weight; default 60. */
  readonly slow_start_s?: number;
  /** Whom skills_based chooses among the recipients that have the required skills: best_skilled (default: the furthest above the required levels in total), least_skilled (the least above them, which spares the experts) or longest_idle. */
  readonly skill_choice?: "best_skilled" | "least_skilled" | "longest_idle";
};

/** What happens when no recipient can take an item. */
export type PoolConfigFallbackInput = {
  /** The steps, ordered by after_s. An update with any step replaces all of them. */
  readonly steps?: readonly PoolConfigFallbackStepInput[];
  /** What happens to an item that no recipient can take: queue (default), reject or redirect_pool. */
  readonly on_no_match?: "queue" | "reject" | "redirect_pool";
  /** The pool for redirect_pool, in the same environment. */
  readonly redirect_pool_id?: string;
};

/** One step of a timed fallback. */
export type PoolConfigFallbackStepInput = {
  /** Seconds that the item has waited. */
  readonly after_s?: number;
  /** CEL over item, recipient, pool and now: the recipients it admits, instead of those that rules and the item's requirements.skills require; everyone when empty. requirements.recipient_id and excluded_recipient_ids still apply. To keep requiring skills: item.requirements.skills.all(s, s in recipient.skills). */
  readonly condition?: string;
  /** How one of them is chosen; default: the pool's strategy. */
  readonly strategy?: "" | "weighted_random" | "round_robin" | "least_loaded" | "priority" | "sticky_hash" | "skills_based" | "longest_idle" | "lowest_latency" | "lowest_cost" | "first_accept" | "manual";
};

/** How items wait. */
export type PoolConfigQueueInput = {
  /** The maximum number of waiting items; default 100,000. */
  readonly max_depth?: number;
  /** Seconds until a waiting item expires; default 1,209,600 (14 days). */
  readonly ttl_s?: number;
  /** aged_priority: the seconds of waiting that equal one point of priority; default 60, at least 1. */
  readonly ageing_s?: number;
  /** The order in which items are leased: aged_priority (default: by priority, which age outweighs eventually), strict_priority (a higher priority always first, the oldest first among equals) or arrival (the oldest first, whatever their priority). A change applies to items that arrive afterwards. */
  readonly order?: "aged_priority" | "strict_priority" | "arrival";
};

/** How long a worker may hold an item. */
export type PoolConfigLeaseInput = {
  /** Seconds until a lease expires unless it is renewed; default 30. */
  readonly duration_s?: number;
  /** Seconds between heartbeats; default 10, or a third of duration_s if that is 10 or less. Must be less than duration_s, except that both may be 1. */
  readonly heartbeat_s?: number;
};

/** How failed work is retried. */
export type PoolConfigRetryInput = {
  /** The maximum number of attempts; default 5. */
  readonly max_attempts?: number;
  /** The first back-off in milliseconds; default 1,000. */
  readonly initial_ms?: number;
  /** The factor by which the back-off grows; default 2. */
  readonly factor?: number;
  /** The maximum back-off in milliseconds; default 60,000. */
  readonly max_ms?: number;
  /** The random share of a back-off, 0 to 1; default 0.5. */
  readonly jitter?: number;
  /** The most attempts that an item may set for itself; default 100. */
  readonly item_max_attempts?: number;
  /** The longest back-off in milliseconds that an item may set for itself; default 604,800,000. */
  readonly item_max_ms?: number;
};

/** How long dead letters are stored and how often they may be retried. */
export type PoolConfigDlqInput = {
  /** The maximum number of retries of a dead letter; default 3. */
  readonly max_retries?: number;
  /** Days until a dead letter is deleted; default 14. */
  readonly retention_days?: number;
};

/** When a failing recipient is ejected for a while. */
export type PoolConfigOutlierInput = {
  /** The number of failures in a row; default 5, 0 for never. */
  readonly consecutive_failures?: number;
  /** Seconds of the first ejection; default 30. */
  readonly eject_s?: number;
  /** The maximum percentage of the pool that is ejected at the same time; default 50. */
  readonly max_ejected_pct?: number;
};

/** The admission constraints of a pool; each applies if it is present. Keys are CEL over item and pool. */
export type PoolConfigAdmissionInput = {
  /** One unfinished item per key. */
  readonly singleton?: PoolConfigAdmissionSingletonInput;
  /** Only the last item of a burst proceeds. */
  readonly debounce?: PoolConfigAdmissionDebounceInput;
  /** A number of leases per period for each key. */
  readonly throttle?: PoolConfigAdmissionThrottleInput;
  /** A number of leased items for each key. */
  readonly concurrency?: PoolConfigAdmissionConcurrencyInput;
};

/** One unfinished item per key. */
export type PoolConfigAdmissionSingletonInput = {
  /** The key that defines the groups. */
  readonly key?: string;
  /** What happens to a second item: skip (default), replace_pending or cancel_running. */
  readonly mode?: "skip" | "replace_pending" | "cancel_running";
  /** Seconds until the group is free in any case; default 86,400. */
  readonly ttl_s?: number;
};

/** Only the last item of a burst proceeds. */
export type PoolConfigAdmissionDebounceInput = {
  /** The key that defines the groups. */
  readonly key?: string;
  /** Seconds without another item; default 5. */
  readonly period_s?: number;
  /** The maximum delay of an item in seconds; default 60, at least period_s. */
  readonly max_delay_s?: number;
  /** What proceeds at the end of the window: last (default: the last item), first (the first item) or all (the first item with the payloads of all items). */
  readonly take?: "last" | "first" | "all";
};

/** A number of items per period for each key. */
export type PoolConfigAdmissionThrottleInput = {
  /** The key that defines the groups. */
  readonly key?: string;
  /** The number of items per period; required. */
  readonly limit?: number;
  /** The period in seconds; required. */
  readonly period_s?: number;
  /** The number of additional items that may pass immediately; default 0. */
  readonly burst?: number;
  /** The tokens that one item takes; default 1, at most the limit. */
  readonly cost?: number;
  /** What happens to an item over the limit: delay (default: it waits to be leased) or reject (it is not accepted). */
  readonly on_limit?: "delay" | "reject";
};

/** A number of leased items for each key. */
export type PoolConfigAdmissionConcurrencyInput = {
  /** The key that defines the groups. */
  readonly key?: string;
  /** The number of leased items; required, but 1,000,000 by default with rotate. */
  readonly limit?: number;
  /** The scope in which equal keys form one group: pool (default), environment or tenant. */
  readonly scope?: "pool" | "environment" | "tenant";
  /** Whether leases take one item of each key in turn, in the order of the queue within a key; default false: the order of the queue alone. Only items that wait to be leased or pushed rotate. */
  readonly rotate?: boolean;
};

/** How outcomes are monitored, and the actions on an anomaly. */
export type PoolConfigAnomalyInput = {
  /** Whether outcomes are monitored; default true. */
  readonly enabled?: boolean;
  /** Detection methods: zscore, iqr, rate_change, pattern; default all. */
  readonly methods?: readonly ("zscore" | "iqr" | "rate_change" | "pattern")[];
  /** Actions: alert, auto-pause, deprioritize, log; default alert and log. */
  readonly actions?: readonly ("alert" | "auto-pause" | "deprioritize" | "log")[];
  /** The number of standard deviations that is an anomaly; default 3. */
  readonly zscore_threshold?: number;
  /** The number of interquartile ranges that is an anomaly; default 1.5. */
  readonly iqr_multiplier?: number;
  /** The drop of a rate that is an anomaly, as a share; default 0.5. */
  readonly rate_change_drop?: number;
  /** The length of one window in seconds; default 300. */
  readonly window_s?: number;
  /** The minimum number of samples; default 30. */
  readonly samples_min?: number;
  /** Seconds until the same anomaly is reported again; default 600. */
  readonly cooldown_s?: number;
  /** Whether recipients that auto-pause paused are resumed after cooldown_s, but not before a window has passed; default false: they stay paused until somebody resumes them. */
  readonly auto_resume?: boolean;
};

/** How recipients accept items: an item is offered to one recipient after the other until one accepts it. */
export type PoolConfigReservationInput = {
  /** Seconds until an offer expires; default 30. */
  readonly timeout_s?: number;
  /** Seconds after the last refusal until an item that everyone has refused is offered to everyone again; default 60. */
  readonly reoffer_after_s?: number;
};

/** Request to create a pool. */
export type CreatePoolRequest = {
  /** The display name, unique in its environment. */
  readonly name: string;
  /** The description. */
  readonly description?: string;
  /** How it chooses among eligible recipients; weighted_random when empty. */
  readonly strategy?: "" | "weighted_random" | "round_robin" | "least_loaded" | "priority" | "sticky_hash" | "skills_based" | "longest_idle" | "lowest_latency" | "lowest_cost" | "first_accept" | "manual";
  /** The initial status; active when unspecified. */
  readonly status?: PoolStatus;
  /** The id or the key of the environment; production when empty. */
  readonly environment_id?: string;
  /** The configuration besides the strategy. */
  readonly config?: PoolConfigInput;
};

/** A group of recipients, with the rules and the strategy that choose among them. */
export type Pool = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The environment. */
  readonly environment_id: string;
  /** The display name, unique in its environment. */
  readonly name: string;
  /** The description. */
  readonly description: string;
  /** How it chooses among eligible recipients: weighted_random, round_robin, least_loaded, priority, sticky_hash, skills_based, longest_idle, lowest_latency, lowest_cost, first_accept or manual. */
  readonly strategy: string;
  /** The status. */
  readonly status: PoolStatus;
  /** Its configuration, with all defaults filled in. */
  readonly config?: PoolConfig;
  /** The ids of its first recipients, oldest first: at most 1,000 when one pool is read, at most 50 in a list. */
  readonly recipient_ids: readonly string[];
  /** The ids of its first rules, oldest first, within the same limits. */
  readonly rule_ids: readonly string[];
  /** The total number of recipients. */
  readonly recipient_count: number;
  /** The total number of rules. */
  readonly rule_count: number;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record; send it back to make an update conditional. */
  readonly record_version: number;
};

/** The configuration of a pool besides its strategy. Absent fields have their defaults. */
export type PoolConfig = {
  /** How one of several recipients is chosen. */
  readonly selection?: PoolConfigSelection;
  /** What happens when no recipient can take an item. */
  readonly fallback?: PoolConfigFallback;
  /** How items wait. */
  readonly queue?: PoolConfigQueue;
  /** How long a worker may hold an item. */
  readonly lease?: PoolConfigLease;
  /** How failed work is retried. */
  readonly retry?: PoolConfigRetry;
  /** How long dead letters are stored and how often they may be retried. */
  readonly dlq?: PoolConfigDlq;
  /** When a failing recipient is ejected for a while. */
  readonly outlier?: PoolConfigOutlier;
  /** The admission constraints. */
  readonly admission?: PoolConfigAdmission;
  /** How outcomes are monitored. */
  readonly anomaly?: PoolConfigAnomaly;
  /** Whether each step of each item is written to the event log; default false. Dead letters always are. */
  readonly item_events?: boolean;
  /** Whether items without a pool_id may come to this pool; default false. An item comes if a rule with the action route, require, prefer or redirect_pool matches it; other actions choose no pool. */
  readonly accepts_unaddressed?: boolean;
  /** If present, items are offered to recipients, which accept or decline them. Without it, an item that is assigned to a recipient waits for it. Recipients with push delivery and decision_only recipients get items without an offer. */
  readonly reservation?: PoolConfigReservation;
};

/** How one of several recipients is chosen. */
export type PoolConfigSelection = {
  /** CEL over item: the value that sticky_hash hashes; the item's key when empty. */
  readonly hash_key?: string;
  /** The number of random recipients that least_loaded compares; default 2. */
  readonly choice_count?: number;
  /** Seconds in which a newly available recipient ramps up to its full weight; default 60. */
  readonly slow_start_s?: number;
  /** Whom skills_based chooses among the recipients that have the required skills: best_skilled (default: the furthest above the required levels in total), least_skilled (the least above them, which spares the experts) or longest_idle. */
  readonly skill_choice?: string;
};

/** What happens when no recipient can take an item. */
export type PoolConfigFallback = {
  /** The steps, ordered by after_s. An update with any step replaces all of them. */
  readonly steps: readonly PoolConfigFallbackStep[];
  /** What happens to an item that no recipient can take: queue (default), reject or redirect_pool. */
  readonly on_no_match?: string;
  /** The pool for redirect_pool, in the same environment. */
  readonly redirect_pool_id?: string;
};

/** One step of a timed fallback. */
export type PoolConfigFallbackStep = {
  /** Seconds that the item has waited. */
  readonly after_s: number;
  /** CEL over item, recipient, pool and now: the recipients it admits, instead of those that rules and the item's requirements.skills require; everyone when empty. requirements.recipient_id and excluded_recipient_ids still apply. To keep requiring skills: item.requirements.skills.all(s, s in recipient.skills). */
  readonly condition: string;
  /** How one of them is chosen; default: the pool's strategy. */
  readonly strategy: string;
};

/** How items wait. */
export type PoolConfigQueue = {
  /** The maximum number of waiting items; default 100,000. */
  readonly max_depth?: number;
  /** Seconds until a waiting item expires; default 1,209,600 (14 days). */
  readonly ttl_s?: number;
  /** aged_priority: the seconds of waiting that equal one point of priority; default 60, at least 1. */
  readonly ageing_s?: number;
  /** The order in which items are leased: aged_priority (default: by priority, which age outweighs eventually), strict_priority (a higher priority always first, the oldest first among equals) or arrival (the oldest first, whatever their priority). A change applies to items that arrive afterwards. */
  readonly order?: string;
};

/** How long a worker may hold an item. */
export type PoolConfigLease = {
  /** Seconds until a lease expires unless it is renewed; default 30. */
  readonly duration_s?: number;
  /** Seconds between heartbeats; default 10, or a third of duration_s if that is 10 or less. Must be less than duration_s, except that both may be 1. */
  readonly heartbeat_s?: number;
};

/** How failed work is retried. */
export type PoolConfigRetry = {
  /** The maximum number of attempts; default 5. */
  readonly max_attempts?: number;
  /** The first back-off in milliseconds; default 1,000. */
  readonly initial_ms?: number;
  /** The factor by which the back-off grows; default 2. */
  readonly factor?: number;
  /** The maximum back-off in milliseconds; default 60,000. */
  readonly max_ms?: number;
  /** The random share of a back-off, 0 to 1; default 0.5. */
  readonly jitter?: number;
  /** The most attempts that an item may set for itself; default 100. */
  readonly item_max_attempts?: number;
  /** The longest back-off in milliseconds that an item may set for itself; default 604,800,000. */
  readonly item_max_ms?: number;
};

/** How long dead letters are stored and how often they may be retried. */
export type PoolConfigDlq = {
  /** The maximum number of retries of a dead letter; default 3. */
  readonly max_retries?: number;
  /** Days until a dead letter is deleted; default 14. */
  readonly retention_days?: number;
};

/** When a failing recipient is ejected for a while. */
export type PoolConfigOutlier = {
  /** The number of failures in a row; default 5, 0 for never. */
  readonly consecutive_failures?: number;
  /** Seconds of the first ejection; default 30. */
  readonly eject_s?: number;
  /** The maximum percentage of the pool that is ejected at the same time; default 50. */
  readonly max_ejected_pct?: number;
};

/** The admission constraints of a pool; each applies if it is present. Keys are CEL over item and pool. */
export type PoolConfigAdmission = {
  /** One unfinished item per key. */
  readonly singleton?: PoolConfigAdmissionSingleton;
  /** Only the last item of a burst proceeds. */
  readonly debounce?: PoolConfigAdmissionDebounce;
  /** A number of leases per period for each key. */
  readonly throttle?: PoolConfigAdmissionThrottle;
  /** A number of leased items for each key. */
  readonly concurrency?: PoolConfigAdmissionConcurrency;
};

/** One unfinished item per key. */
export type PoolConfigAdmissionSingleton = {
  /** The key that defines the groups. */
  readonly key?: string;
  /** What happens to a second item: skip (default), replace_pending or cancel_running. */
  readonly mode?: string;
  /** Seconds until the group is free in any case; default 86,400. */
  readonly ttl_s?: number;
};

/** Only the last item of a burst proceeds. */
export type PoolConfigAdmissionDebounce = {
  /** The key that defines the groups. */
  readonly key?: string;
  /** Seconds without another item; default 5. */
  readonly period_s?: number;
  /** The maximum delay of an item in seconds; default 60, at least period_s. */
  readonly max_delay_s?: number;
  /** What proceeds at the end of the window: last (default: the last item), first (the first item) or all (the first item with the payloads of all items). */
  readonly take?: string;
};

/** A number of items per period for each key. */
export type PoolConfigAdmissionThrottle = {
  /** The key that defines the groups. */
  readonly key?: string;
  /** The number of items per period; required. */
  readonly limit?: number;
  /** The period in seconds; required. */
  readonly period_s?: number;
  /** The number of additional items that may pass immediately; default 0. */
  readonly burst?: number;
  /** The tokens that one item takes; default 1, at most the limit. */
  readonly cost?: number;
  /** What happens to an item over the limit: delay (default: it waits to be leased) or reject (it is not accepted). */
  readonly on_limit?: string;
};

/** A number of leased items for each key. */
export type PoolConfigAdmissionConcurrency = {
  /** The key that defines the groups. */
  readonly key?: string;
  /** The number of leased items; required, but 1,000,000 by default with rotate. */
  readonly limit?: number;
  /** The scope in which equal keys form one group: pool (default), environment or tenant. */
  readonly scope?: string;
  /** Whether leases take one item of each key in turn, in the order of the queue within a key; default false: the order of the queue alone. Only items that wait to be leased or pushed rotate. */
  readonly rotate?: boolean;
};

/** How outcomes are monitored, and the actions on an anomaly. */
export type PoolConfigAnomaly = {
  /** Whether outcomes are monitored; default true. */
  readonly enabled?: boolean;
  /** Detection methods: zscore, iqr, rate_change, pattern; default all. */
  readonly methods: readonly string[];
  /** Actions: alert, auto-pause, deprioritize, log; default alert and log. */
  readonly actions: readonly string[];
  /** The number of standard deviations that is an anomaly; default 3. */
  readonly zscore_threshold?: number;
  /** The number of interquartile ranges that is an anomaly; default 1.5. */
  readonly iqr_multiplier?: number;
  /** The drop of a rate that is an anomaly, as a share; default 0.5. */
  readonly rate_change_drop?: number;
  /** The length of one window in seconds; default 300. */
  readonly window_s?: number;
  /** The minimum number of samples; default 30. */
  readonly samples_min?: number;
  /** Seconds until the same anomaly is reported again; default 600. */
  readonly cooldown_s?: number;
  /** Whether recipients that auto-pause paused are resumed after cooldown_s, but not before a window has passed; default false: they stay paused until somebody resumes them. */
  readonly auto_resume?: boolean;
};

/** How recipients accept items: an item is offered to one recipient after the other until one accepts it. */
export type PoolConfigReservation = {
  /** Seconds until an offer expires; default 30. */
  readonly timeout_s?: number;
  /** Seconds after the last refusal until an item that everyone has refused is offered to everyone again; default 60. */
  readonly reoffer_after_s?: number;
};

/** Identifies a pool. */
export type GetPoolRequest = {
  /** The pool's id. */
  readonly pool_id: string;
};

/** Changes the fields that are present. */
export type UpdatePoolRequest = {
  /** The pool's id. */
  readonly pool_id: string;
  /** The display name. */
  readonly name?: string;
  /** The description. */
  readonly description?: string;
  /** How it chooses among eligible recipients. */
  readonly strategy?: "weighted_random" | "round_robin" | "least_loaded" | "priority" | "sticky_hash" | "skills_based" | "longest_idle" | "lowest_latency" | "lowest_cost" | "first_accept" | "manual";
  /** STATUS_ACTIVE, STATUS_DISABLED or STATUS_DRAINING. */
  readonly status?: PoolStatus;
  /** The changed fields of the config. A list replaces the previous one. Null is rejected: use reset_config to remove a part. */
  readonly config?: PoolConfigInput;
  /** Parts of the config to reset to their defaults first, such as fallback.steps. A constraint is removed the same way, such as admission.singleton. */
  readonly reset_config?: readonly string[];
  /** Makes the change conditional on this version. */
  readonly record_version?: number;
};

/** Enables or disables a pool. */
export type SetPoolEnabledRequest = {
  /** The pool's id. */
  readonly pool_id: string;
  /** Whether it accepts and leases items. Required, so that nobody disables a pool by mistake. */
  readonly enabled: boolean;
};

/** Selects the pool to archive. */
export type DeletePoolRequest = {
  /** The pool's id. */
  readonly pool_id: string;
};

/** Request for a page of pools. */
export type ListPoolsRequest = {
  /** Maximum number of items per page. */
  readonly limit?: number;
  /** Cursor from a previous response; the first page when empty. */
  readonly cursor?: string;
  /** Number of items to skip. */
  readonly offset?: number;
  /** Only pools in this status; all except archived ones when unspecified. */
  readonly status?: PoolStatus;
  /** Only pools of this environment: its id or its key. */
  readonly environment_id?: string;
};
