# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .item_offer import ItemOffer
    from .routing import ItemRetry


class _AssignmentRetryRequired(TypedDict):
    #: The number of tries without a recipient since the item became ready.
    tries: int
    #: The reason of the last try, such as `all_at_capacity`, `rules_exclude_all` or `rules_too_costly`.
    reason: str


class AssignmentRetry(_AssignmentRetryRequired, total=False):
    """The search for a recipient for a waiting item. The back-off between tries grows while no recipient is found. A free place or a change of the pool triggers an immediate try."""

    #: When the next try is due.
    next_try_at: str


class _ItemFailureRequired(TypedDict):
    #: The number of the attempt.
    attempt: int
    #: A stable code for the reason.
    reason_code: str
    #: The worker's message.
    reason: str
    #: The recipient.
    recipient_id: str


class ItemFailure(_ItemFailureRequired, total=False):
    """A failed attempt."""

    #: When it failed.
    failed_at: str


class _QueueRequired(TypedDict):
    #: The pool.
    pool_id: str
    #: The owning tenant.
    tenant_id: str
    #: The pool's name.
    pool_name: str
    #: Whether leasing is paused.
    paused: bool
    #: Who paused it.
    paused_by: str
    #: The reason.
    pause_reason: str
    #: The number of waiting items.
    depth: int
    #: The number of waiting items that can be leased now, counted up to 100,000.
    ready_count: int
    #: The number of leased items.
    in_flight: int
    #: The age of the oldest waiting item, in seconds.
    oldest_age_s: float
    #: The average wait of the items leased today, in seconds.
    average_wait_s: float
    #: The number of items completed today (UTC).
    throughput_today: int
    #: The number of items accepted today.
    accepted_today: int
    #: The number of attempts that failed today.
    failed_today: int
    #: The environment of the pool.
    environment_id: str


class Queue(_QueueRequired, total=False):
    """The status of a pool's queue."""

    #: Since when it is paused.
    paused_at: str
    #: When it is resumed by itself; absent if it is not paused, or if somebody has to resume it.
    paused_until: str


class QueueTotals(TypedDict):
    """The sums of all queues."""

    #: The number of queues.
    queue_count: int
    #: The number of paused queues.
    paused_count: int
    #: The number of waiting items.
    depth: int
    #: The number of leased items.
    in_flight: int
    #: The age of the oldest waiting item, in seconds.
    oldest_age_s: float
    #: The number of items accepted today (UTC).
    accepted_today: int
    #: The number of items completed today.
    completed_today: int
    #: The number of attempts that failed today.
    failed_today: int
    #: The queues in which the most items wait, fullest first; at most 8, and none that is empty.
    fullest: List[Queue]


class DrainQueueResponse(TypedDict):
    """The result of draining."""

    #: The number of removed items.
    drained_count: int
    #: The number of items that still wait.
    remaining_depth: int


class _QueueItemRequired(TypedDict):
    #: The id, a ULID; the same as that of its decision.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The pool.
    pool_id: str
    #: The recipient; empty while there is none.
    recipient_id: str
    #: pending, held, ready, leased, completed, dead_lettered, cancelled, expired, drained or superseded.
    state: str
    #: What holds it: not_before, retry, rule, debounce, dependency or offer. Its admission explanation says what limits the leasing of a ready item. An item with offer is offered to its recipient until due_at.
    hold_reason: str
    #: The item's type.
    type: str
    #: The item's key.
    key: str
    #: Higher is leased first.
    priority: int
    #: The number of started attempts.
    attempt: int
    #: The item that replaced a superseded one.
    survivor_id: str
    #: The failed attempts.
    failures: List[ItemFailure]
    #: The latest offers to recipients, oldest first, at most 50; only in pools with reservations.
    offers: List[ItemOffer]
    #: The items that it was routed to wait for.
    after: List[str]
    #: What happens if an item that it waits for ends without being completed: cancel or run. Empty if it waits for none.
    after_failure: str


class QueueItem(_QueueItemRequired, total=False):
    """An item of a queue."""

    #: The attributes for rules.
    attributes: Dict[str, Any]
    #: The payload for the worker.
    payload: Dict[str, Any]
    #: When it was accepted.
    enqueued_at: str
    #: When it proceeds, if known.
    due_at: str
    #: When it expires.
    expires_at: str
    #: When it was leased.
    leased_at: str
    #: When the lease expires.
    lease_expires_at: str
    #: When it ended.
    ended_at: str
    #: The search for a recipient, if no recipient was found yet.
    assignment: AssignmentRetry
    #: The result that its worker reported on completion; absent if there is none.
    result: Any
    #: The last reported progress of an item that has not ended.
    progress: ItemProgress
    #: Its own retries, as it was routed with; absent if it follows its pool.
    retry: ItemRetry


class _ItemProgressRequired(TypedDict):
    #: How much of the work is done, in percent.
    percent: float
    #: The worker's note.
    note: str
    #: The number of the attempt.
    attempt: int


class ItemProgress(_ItemProgressRequired, total=False):
    """The progress of an attempt."""

    #: When it was reported.
    reported_at: str
