# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .item_offer import ItemOffer
    from .violation import Violation


class _RouteItemInputRequired(TypedDict):
    #: The type of work.
    type: str


class RouteItemInput(_RouteItemInputRequired, total=False):
    """An item of work to route."""

    #: The pool; when empty, the rules of the pools that accept unaddressed items choose one.
    pool_id: str
    #: What it belongs to, such as a customer: sticky_hash keeps one key with one recipient.
    key: str
    #: The attributes for rules.
    attributes: Mapping[str, Any]
    #: Requirements for its recipient.
    requirements: RequirementsInput
    #: The payload for the worker; rules do not see it.
    payload: Mapping[str, Any]
    #: Higher is leased first; age outweighs it eventually, unless the pool's queue.order says otherwise.
    priority: int
    #: The earliest time at which it may be leased.
    not_before: str | datetime
    #: Seconds until it expires; the pool's value when 0.
    ttl_s: int
    #: Whether a rejection is the error of this item instead of a decision with the outcome rejected: ROUTING_THROTTLED if a throttle rejects it, ROUTING_FAILED if a rule does.
    reject_as_error: bool
    #: Items that must end before this one can be leased. They can be in any pool that the caller may use.
    after: Sequence[str]
    #: What happens if one of these items ends without being completed: cancel (default: this item is cancelled) or run (it proceeds).
    after_failure: Literal["", "cancel", "run"]
    #: Its own retries. Fields that are not set follow the pool.
    retry: ItemRetryInput


class RequirementsInput(TypedDict, total=False):
    """Requirements of an item for its recipient."""

    #: Required skills by name, with the minimum level of each, 1 to 5.
    skills: Mapping[str, int]
    #: The only recipient that may take it; any when empty.
    recipient_id: str
    #: Recipients that must not take it.
    excluded_recipient_ids: Sequence[str]


class ItemRetryInput(TypedDict, total=False):
    """How failed work on one item is retried, within retry.item_max_attempts and retry.item_max_ms of its pool."""

    #: The maximum number of attempts.
    max_attempts: int
    #: The first back-off in milliseconds.
    initial_ms: int
    #: The factor by which the back-off grows.
    factor: float
    #: The maximum back-off in milliseconds, at least initial_ms.
    max_ms: int
    #: The random share of a back-off, 0 to 1.
    jitter: float


class ItemRetry(TypedDict, total=False):
    """How failed work on one item is retried, within retry.item_max_attempts and retry.item_max_ms of its pool."""

    #: The maximum number of attempts.
    max_attempts: int
    #: The first back-off in milliseconds.
    initial_ms: int
    #: The factor by which the back-off grows.
    factor: float
    #: The maximum back-off in milliseconds, at least initial_ms.
    max_ms: int
    #: The random share of a back-off, 0 to 1.
    jitter: float


class _DecisionRequired(TypedDict):
    #: The id, a ULID.
    decision_id: str
    #: The owning tenant.
    tenant_id: str
    #: The final pool.
    pool_id: str
    #: The outcome: routed, queued, held, deduplicated, debounced or rejected.
    outcome: str
    #: A stable code for the reason.
    reason: str
    #: The recipient; empty while there is none.
    recipient_id: str
    #: The queued item; empty if there is none.
    queue_item_id: str
    #: The ids of the matching rules, in order.
    matched_rule_ids: List[str]
    #: The steps of the decision.
    trace: List[TraceStep]
    #: The digest of the snapshot that the decision was made from.
    snapshot_digest: str
    #: The seed of random choices.
    seed: int
    #: Keys of experiments that rules assigned to the item.
    experiment_keys: List[str]
    #: The earlier item, if this one is a duplicate of it or its payload was added to it.
    existing_item_id: str
    #: Whether nothing was stored.
    dry_run: bool
    #: The item's type.
    type: str
    #: The item's key.
    key: str
    #: The message of the rule that rejected the item; empty otherwise.
    message: str
    #: The variants that the item got, by the key of the experiment. Experiments that the item is not in are missing.
    experiments: Dict[str, str]
    #: The seconds after which a rejected item may be accepted; 0 if unknown.
    retry_after_s: float
    #: The latest offers of the item to recipients, oldest first, at most 50; only in pools with reservations. Lists of decisions leave them out.
    offers: List[ItemOffer]


class Decision(_DecisionRequired, total=False):
    """Which recipient gets an item, and why."""

    #: When a held item proceeds, if known.
    due_at: str
    #: When it was decided.
    decided_at: str


class TraceStep(TypedDict):
    """One step that led to a decision."""

    #: The kind of step: rule, requirement, eligibility, strategy, fallback, admission, redirect, pool, dependency.
    step: str
    #: The subject of the step, such as a rule's id.
    id: str
    #: The result of the step.
    result: str
    #: Details; never a value of the item.
    detail: str


class RouteBatchResponse(TypedDict):
    """The results, in the order of the items."""

    #: One for each item.
    results: List[RouteResult]
    #: The number of accepted items.
    accepted_count: int


class _RouteResultRequired(TypedDict):
    #: The error code; empty if there is none.
    error_code: str
    #: The error in words.
    error_message: str
    #: The invalid fields of the item; empty for other errors.
    violations: List[Violation]
    #: The seconds after which the item may be sent again; 0 if unknown.
    retry_after_s: float


class RouteResult(_RouteResultRequired, total=False):
    """The result of one item of a batch: a decision or an error."""

    #: The decision.
    decision: Decision


class _ReplayRequired(TypedDict):
    #: Whether the result is identical.
    identical: bool
    #: The differing fields; empty if there are none.
    differences: List[str]


class Replay(_ReplayRequired, total=False):
    """A replayed decision."""

    #: The replayed decision.
    decision: Decision


class _OutcomeRequired(TypedDict):
    #: The decision it belongs to.
    decision_id: str
    #: The owning tenant.
    tenant_id: str
    #: The pool.
    pool_id: str
    #: The recipient.
    recipient_id: str
    #: success, failure, timeout, declined or cancelled.
    status: str


class Outcome(_OutcomeRequired, total=False):
    """The outcome of an item."""

    #: The duration of the work.
    latency_ms: float
    #: A quality score, as the caller defines it.
    score: float
    #: The cost.
    cost: float
    #: When it was observed.
    observed_at: str
    #: When it was recorded.
    recorded_at: str


class _RouteItemRequired(TypedDict):
    #: The pool; when empty, the rules of the pools that accept unaddressed items choose one.
    pool_id: str
    #: The type of work.
    type: str
    #: What it belongs to, such as a customer: sticky_hash keeps one key with one recipient.
    key: str
    #: Higher is leased first; age outweighs it eventually, unless the pool's queue.order says otherwise.
    priority: int
    #: Seconds until it expires; the pool's value when 0.
    ttl_s: int
    #: Whether a rejection is the error of this item instead of a decision with the outcome rejected: ROUTING_THROTTLED if a throttle rejects it, ROUTING_FAILED if a rule does.
    reject_as_error: bool
    #: Items that must end before this one can be leased. They can be in any pool that the caller may use.
    after: List[str]
    #: What happens if one of these items ends without being completed: cancel (default: this item is cancelled) or run (it proceeds).
    after_failure: str


class RouteItem(_RouteItemRequired, total=False):
    """An item of work to route."""

    #: The attributes for rules.
    attributes: Dict[str, Any]
    #: Requirements for its recipient.
    requirements: Requirements
    #: The payload for the worker; rules do not see it.
    payload: Dict[str, Any]
    #: The earliest time at which it may be leased.
    not_before: str
    #: Its own retries. Fields that are not set follow the pool.
    retry: ItemRetry


class Requirements(TypedDict):
    """Requirements of an item for its recipient."""

    #: Required skills by name, with the minimum level of each, 1 to 5.
    skills: Dict[str, int]
    #: The only recipient that may take it; any when empty.
    recipient_id: str
    #: Recipients that must not take it.
    excluded_recipient_ids: List[str]
