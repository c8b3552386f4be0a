# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _PoolRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The environment.
    environment_id: str
    #: The display name, unique in its environment.
    name: str
    #: The description.
    description: str
    #: How it chooses among eligible recipients: weighted_random, round_robin, least_loaded, priority, sticky_hash, skills_based, longest_idle, lowest_latency, lowest_cost, first_accept or manual.
    strategy: str
    #: The status.
    status: PoolStatus
    #: The ids of its first recipients, oldest first: at most 1,000 when one pool is read, at most 50 in a list.
    recipient_ids: List[str]
    #: The ids of its first rules, oldest first, within the same limits.
    rule_ids: List[str]
    #: The total number of recipients.
    recipient_count: int
    #: The total number of rules.
    rule_count: int
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class Pool(_PoolRequired, total=False):
    """A group of recipients, with the rules and the strategy that choose among them."""

    #: Its configuration, with all defaults filled in.
    config: PoolConfig
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


#: The status of a pool.
PoolStatus = Literal["STATUS_UNSPECIFIED", "STATUS_ACTIVE", "STATUS_DISABLED", "STATUS_DRAINING", "STATUS_ARCHIVED"]


class PoolConfig(TypedDict, total=False):
    """The configuration of a pool besides its strategy. Absent fields have their defaults."""

    #: How one of several recipients is chosen.
    selection: PoolConfigSelection
    #: What happens when no recipient can take an item.
    fallback: PoolConfigFallback
    #: How items wait.
    queue: PoolConfigQueue
    #: How long a worker may hold an item.
    lease: PoolConfigLease
    #: How failed work is retried.
    retry: PoolConfigRetry
    #: How long dead letters are stored and how often they may be retried.
    dlq: PoolConfigDlq
    #: When a failing recipient is ejected for a while.
    outlier: PoolConfigOutlier
    #: The admission constraints.
    admission: PoolConfigAdmission
    #: How outcomes are monitored.
    anomaly: PoolConfigAnomaly
    #: Whether each step of each item is written to the event log; default false. Dead letters always are.
    item_events: bool
    #: Whether items without a pool_id may come to this pool; default false. An item comes if a rule with the action route, require, prefer or redirect_pool matches it; other actions choose no pool.
    accepts_unaddressed: bool
    #: If present, items are offered to recipients, which accept or decline them. Without it, an item that is assigned to a recipient waits for it. Recipients with push delivery and decision_only recipients get items without an offer.
    reservation: PoolConfigReservation


class PoolConfigSelection(TypedDict, total=False):
    """How one of several recipients is chosen."""

    #: CEL over item: the value that sticky_hash hashes; the item's key when empty.
    hash_key: str
    #: The number of random recipients that least_loaded compares; default 2.
    choice_count: int
    #: Seconds in which a newly available recipient ramps up to its full weight; default 60.
    slow_start_s: int
    #: Whom skills_based chooses among the recipients that have the required skills: best_skilled (default: the furthest above the required levels in total), least_skilled (the least above them, which spares the experts) or longest_idle.
    skill_choice: str


class _PoolConfigFallbackRequired(TypedDict):
    #: The steps, ordered by after_s. An update with any step replaces all of them.
    steps: List[PoolConfigFallbackStep]


class PoolConfigFallback(_PoolConfigFallbackRequired, total=False):
    """What happens when no recipient can take an item."""

    #: What happens to an item that no recipient can take: queue (default), reject or redirect_pool.
    on_no_match: str
    #: The pool for redirect_pool, in the same environment.
    redirect_pool_id: str


class PoolConfigFallbackStep(TypedDict):
    """One step of a timed fallback."""

    #: Seconds that the item has waited.
    after_s: int
    #: CEL over item, recipient, pool and now: the recipients it admits, instead of those that rules and the item's requirements.skills require; everyone when empty. requirements.recipient_id and excluded_recipient_ids still apply. To keep requiring skills: item.requirements.skills.all(s, s in recipient.skills).
    condition: str
    #: How one of them is chosen; default: the pool's strategy.
    strategy: str


class PoolConfigQueue(TypedDict, total=False):
    """How items wait."""

    #: The maximum number of waiting items; default 100,000.
    max_depth: int
    #: Seconds until a waiting item expires; default 1,209,600 (14 days).
    ttl_s: int
    #: aged_priority: the seconds of waiting that equal one point of priority; default 60, at least 1.
    ageing_s: int
    #: The order in which items are leased: aged_priority (default: by priority, which age outweighs eventually), strict_priority (a higher priority always first, the oldest first among equals) or arrival (the oldest first, whatever their priority). A change applies to items that arrive afterwards.
    order: str


class PoolConfigLease(TypedDict, total=False):
    """How long a worker may hold an item."""

    #: Seconds until a lease expires unless it is renewed; default 30.
    duration_s: int
    #: Seconds between heartbeats; default 10, or a third of duration_s if that is 10 or less. Must be less than duration_s, except that both may be 1.
    heartbeat_s: int


class PoolConfigRetry(TypedDict, total=False):
    """How failed work is retried."""

    #: The maximum number of attempts; default 5.
    max_attempts: int
    #: The first back-off in milliseconds; default 1,000.
    initial_ms: int
    #: The factor by which the back-off grows; default 2.
    factor: float
    #: The maximum back-off in milliseconds; default 60,000.
    max_ms: int
    #: The random share of a back-off, 0 to 1; default 0.5.
    jitter: float
    #: The most attempts that an item may set for itself; default 100.
    item_max_attempts: int
    #: The longest back-off in milliseconds that an item may set for itself; default 604,800,000.
    item_max_ms: int


class PoolConfigDlq(TypedDict, total=False):
    """How long dead letters are stored and how often they may be retried."""

    #: The maximum number of retries of a dead letter; default 3.
    max_retries: int
    #: Days until a dead letter is deleted; default 14.
    retention_days: int


class PoolConfigOutlier(TypedDict, total=False):
    """When a failing recipient is ejected for a while."""

    #: The number of failures in a row; default 5, 0 for never.
    consecutive_failures: int
    #: Seconds of the first ejection; default 30.
    eject_s: int
    #: The maximum percentage of the pool that is ejected at the same time; default 50.
    max_ejected_pct: int


class PoolConfigAdmission(TypedDict, total=False):
    """The admission constraints of a pool; each applies if it is present. Keys are CEL over item and pool."""

    #: One unfinished item per key.
    singleton: PoolConfigAdmissionSingleton
    #: Only the last item of a burst proceeds.
    debounce: PoolConfigAdmissionDebounce
    #: A number of leases per period for each key.
    throttle: PoolConfigAdmissionThrottle
    #: A number of leased items for each key.
    concurrency: PoolConfigAdmissionConcurrency


class PoolConfigAdmissionSingleton(TypedDict, total=False):
    """One unfinished item per key."""

    #: The key that defines the groups.
    key: str
    #: What happens to a second item: skip (default), replace_pending or cancel_running.
    mode: str
    #: Seconds until the group is free in any case; default 86,400.
    ttl_s: int


class PoolConfigAdmissionDebounce(TypedDict, total=False):
    """Only the last item of a burst proceeds."""

    #: The key that defines the groups.
    key: str
    #: Seconds without another item; default 5.
    period_s: int
    #: The maximum delay of an item in seconds; default 60, at least period_s.
    max_delay_s: int
    #: What proceeds at the end of the window: last (default: the last item), first (the first item) or all (the first item with the payloads of all items).
    take: str


class PoolConfigAdmissionThrottle(TypedDict, total=False):
    """A number of items per period for each key."""

    #: The key that defines the groups.
    key: str
    #: The number of items per period; required.
    limit: int
    #: The period in seconds; required.
    period_s: int
    #: The number of additional items that may pass immediately; default 0.
    burst: int
    #: The tokens that one item takes; default 1, at most the limit.
    cost: int
    #: What happens to an item over the limit: delay (default: it waits to be leased) or reject (it is not accepted).
    on_limit: str


class PoolConfigAdmissionConcurrency(TypedDict, total=False):
    """A number of leased items for each key."""

    #: The key that defines the groups.
    key: str
    #: The number of leased items; required, but 1,000,000 by default with rotate.
    limit: int
    #: The scope in which equal keys form one group: pool (default), environment or tenant.
    scope: str
    #: Whether leases take one item of each key in turn, in the order of the queue within a key; default false: the order of the queue alone. Only items that wait to be leased or pushed rotate.
    rotate: bool


class _PoolConfigAnomalyRequired(TypedDict):
    #: Detection methods: zscore, iqr, rate_change, pattern; default all.
    methods: List[str]
    #: Actions: alert, auto-pause, deprioritize, log; default alert and log.
    actions: List[str]


class PoolConfigAnomaly(_PoolConfigAnomalyRequired, total=False):
    """How outcomes are monitored, and the actions on an anomaly."""

    #: Whether outcomes are monitored; default true.
    enabled: bool
    #: The number of standard deviations that is an anomaly; default 3.
    zscore_threshold: float
    #: The number of interquartile ranges that is an anomaly; default 1.5.
    iqr_multiplier: float
    #: The drop of a rate that is an anomaly, as a share; default 0.5.
    rate_change_drop: float
    #: The length of one window in seconds; default 300.
    window_s: int
    #: The minimum number of samples; default 30.
    samples_min: int
    #: Seconds until the same anomaly is reported again; default 600.
    cooldown_s: int
    #: Whether recipients that auto-pause paused are resumed after cooldown_s, but not before a window has passed; default false: they stay paused until somebody resumes them.
    auto_resume: bool


class PoolConfigReservation(TypedDict, total=False):
    """How recipients accept items: an item is offered to one recipient after the other until one accepts it."""

    #: Seconds until an offer expires; default 30.
    timeout_s: int
    #: Seconds after the last refusal until an item that everyone has refused is offered to everyone again; default 60.
    reoffer_after_s: int


class PoolConfigInput(TypedDict, total=False):
    """The configuration of a pool besides its strategy. Absent fields have their defaults."""

    #: How one of several recipients is chosen.
    selection: PoolConfigSelectionInput
    #: What happens when no recipient can take an item.
    fallback: PoolConfigFallbackInput
    #: How items wait.
    queue: PoolConfigQueueInput
    #: How long a worker may hold an item.
    lease: PoolConfigLeaseInput
    #: How failed work is retried.
    retry: PoolConfigRetryInput
    #: How long dead letters are stored and how often they may be retried.
    dlq: PoolConfigDlqInput
    #: When a failing recipient is ejected for a while.
    outlier: PoolConfigOutlierInput
    #: The admission constraints.
    admission: PoolConfigAdmissionInput
    #: How outcomes are monitored.
    anomaly: PoolConfigAnomalyInput
    #: Whether each step of each item is written to the event log; default false. Dead letters always are.
    item_events: bool
    #: Whether items without a pool_id may come to this pool; default false. An item comes if a rule with the action route, require, prefer or redirect_pool matches it; other actions choose no pool.
    accepts_unaddressed: bool
    #: If present, items are offered to recipients, which accept or decline them. Without it, an item that is assigned to a recipient waits for it. Recipients with push delivery and decision_only recipients get items without an offer.
    reservation: PoolConfigReservationInput


class PoolConfigSelectionInput(TypedDict, total=False):
    """How one of several recipients is chosen."""

    #: CEL over item: the value that sticky_hash hashes; the item's key when empty.
    hash_key: str
    #: The number of random recipients that least_loaded compares; default 2.
    choice_count: int
    #: Seconds in which a newly available recipient ramps up to its full weight; default 60.
    slow_start_s: int
    #: Whom skills_based chooses among the recipients that have the required skills: best_skilled (default: the furthest above the required levels in total), least_skilled (the least above them, which spares the experts) or longest_idle.
    skill_choice: Literal["best_skilled", "least_skilled", "longest_idle"]


class PoolConfigFallbackInput(TypedDict, total=False):
    """What happens when no recipient can take an item."""

    #: The steps, ordered by after_s. An update with any step replaces all of them.
    steps: Sequence[PoolConfigFallbackStepInput]
    #: What happens to an item that no recipient can take: queue (default), reject or redirect_pool.
    on_no_match: Literal["queue", "reject", "redirect_pool"]
    #: The pool for redirect_pool, in the same environment.
    redirect_pool_id: str


class PoolConfigFallbackStepInput(TypedDict, total=False):
    """One step of a timed fallback."""

    #: Seconds that the item has waited.
    after_s: int
    #: CEL over item, recipient, pool and now: the recipients it admits, instead of those that rules and the item's requirements.skills require; everyone when empty. requirements.recipient_id and excluded_recipient_ids still apply. To keep requiring skills: item.requirements.skills.all(s, s in recipient.skills).
    condition: str
    #: How one of them is chosen; default: the pool's strategy.
    strategy: Literal["", "weighted_random", "round_robin", "least_loaded", "priority", "sticky_hash", "skills_based", "longest_idle", "lowest_latency", "lowest_cost", "first_accept", "manual"]


class PoolConfigQueueInput(TypedDict, total=False):
    """How items wait."""

    #: The maximum number of waiting items; default 100,000.
    max_depth: int
    #: Seconds until a waiting item expires; default 1,209,600 (14 days).
    ttl_s: int
    #: aged_priority: the seconds of waiting that equal one point of priority; default 60, at least 1.
    ageing_s: int
    #: The order in which items are leased: aged_priority (default: by priority, which age outweighs eventually), strict_priority (a higher priority always first, the oldest first among equals) or arrival (the oldest first, whatever their priority). A change applies to items that arrive afterwards.
    order: Literal["aged_priority", "strict_priority", "arrival"]


class PoolConfigLeaseInput(TypedDict, total=False):
    """How long a worker may hold an item."""

    #: Seconds until a lease expires unless it is renewed; default 30.
    duration_s: int
    #: Seconds between heartbeats; default 10, or a third of duration_s if that is 10 or less. Must be less than duration_s, except that both may be 1.
    heartbeat_s: int


class PoolConfigRetryInput(TypedDict, total=False):
    """How failed work is retried."""

    #: The maximum number of attempts; default 5.
    max_attempts: int
    #: The first back-off in milliseconds; default 1,000.
    initial_ms: int
    #: The factor by which the back-off grows; default 2.
    factor: float
    #: The maximum back-off in milliseconds; default 60,000.
    max_ms: int
    #: The random share of a back-off, 0 to 1; default 0.5.
    jitter: float
    #: The most attempts that an item may set for itself; default 100.
    item_max_attempts: int
    #: The longest back-off in milliseconds that an item may set for itself; default 604,800,000.
    item_max_ms: int


class PoolConfigDlqInput(TypedDict, total=False):
    """How long dead letters are stored and how often they may be retried."""

    #: The maximum number of retries of a dead letter; default 3.
    max_retries: int
    #: Days until a dead letter is deleted; default 14.
    retention_days: int


class PoolConfigOutlierInput(TypedDict, total=False):
    """When a failing recipient is ejected for a while."""

    #: The number of failures in a row; default 5, 0 for never.
    consecutive_failures: int
    #: Seconds of the first ejection; default 30.
    eject_s: int
    #: The maximum percentage of the pool that is ejected at the same time; default 50.
    max_ejected_pct: int


class PoolConfigAdmissionInput(TypedDict, total=False):
    """The admission constraints of a pool; each applies if it is present. Keys are CEL over item and pool."""

    #: One unfinished item per key.
    singleton: PoolConfigAdmissionSingletonInput
    #: Only the last item of a burst proceeds.
    debounce: PoolConfigAdmissionDebounceInput
    #: A number of leases per period for each key.
    throttle: PoolConfigAdmissionThrottleInput
    #: A number of leased items for each key.
    concurrency: PoolConfigAdmissionConcurrencyInput


class PoolConfigAdmissionSingletonInput(TypedDict, total=False):
    """One unfinished item per key."""

    #: The key that defines the groups.
    key: str
    #: What happens to a second item: skip (default), replace_pending or cancel_running.
    mode: Literal["skip", "replace_pending", "cancel_running"]
    #: Seconds until the group is free in any case; default 86,400.
    ttl_s: int


class PoolConfigAdmissionDebounceInput(TypedDict, total=False):
    """Only the last item of a burst proceeds."""

    #: The key that defines the groups.
    key: str
    #: Seconds without another item; default 5.
    period_s: int
    #: The maximum delay of an item in seconds; default 60, at least period_s.
    max_delay_s: int
    #: What proceeds at the end of the window: last (default: the last item), first (the first item) or all (the first item with the payloads of all items).
    take: Literal["last", "first", "all"]


class PoolConfigAdmissionThrottleInput(TypedDict, total=False):
    """A number of items per period for each key."""

    #: The key that defines the groups.
    key: str
    #: The number of items per period; required.
    limit: int
    #: The period in seconds; required.
    period_s: int
    #: The number of additional items that may pass immediately; default 0.
    burst: int
    #: The tokens that one item takes; default 1, at most the limit.
    cost: int
    #: What happens to an item over the limit: delay (default: it waits to be leased) or reject (it is not accepted).
    on_limit: Literal["delay", "reject"]


class PoolConfigAdmissionConcurrencyInput(TypedDict, total=False):
    """A number of leased items for each key."""

    #: The key that defines the groups.
    key: str
    #: The number of leased items; required, but 1,000,000 by default with rotate.
    limit: int
    #: The scope in which equal keys form one group: pool (default), environment or tenant.
    scope: Literal["pool", "environment", "tenant"]
    #: Whether leases take one item of each key in turn, in the order of the queue within a key; default false: the order of the queue alone. Only items that wait to be leased or pushed rotate.
    rotate: bool


class PoolConfigAnomalyInput(TypedDict, total=False):
    """How outcomes are monitored, and the actions on an anomaly."""

    #: Whether outcomes are monitored; default true.
    enabled: bool
    #: Detection methods: zscore, iqr, rate_change, pattern; default all.
    methods: Sequence[Literal["zscore", "iqr", "rate_change", "pattern"]]
    #: Actions: alert, auto-pause, deprioritize, log; default alert and log.
    actions: Sequence[Literal["alert", "auto-pause", "deprioritize", "log"]]
    #: The number of standard deviations that is an anomaly; default 3.
    zscore_threshold: float
    #: The number of interquartile ranges that is an anomaly; default 1.5.
    iqr_multiplier: float
    #: The drop of a rate that is an anomaly, as a share; default 0.5.
    rate_change_drop: float
    #: The length of one window in seconds; default 300.
    window_s: int
    #: The minimum number of samples; default 30.
    samples_min: int
    #: Seconds until the same anomaly is reported again; default 600.
    cooldown_s: int
    #: Whether recipients that auto-pause paused are resumed after cooldown_s, but not before a window has passed; default false: they stay paused until somebody resumes them.
    auto_resume: bool


class PoolConfigReservationInput(TypedDict, total=False):
    """How recipients accept items: an item is offered to one recipient after the other until one accepts it."""

    #: Seconds until an offer expires; default 30.
    timeout_s: int
    #: Seconds after the last refusal until an item that everyone has refused is offered to everyone again; default 60.
    reoffer_after_s: int
