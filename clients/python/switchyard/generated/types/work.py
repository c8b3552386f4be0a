# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .violation import Violation


class _LeasedItemRequired(TypedDict):
    #: The id, a ULID.
    queue_item_id: str
    #: The pool.
    pool_id: str
    #: The recipient.
    recipient_id: str
    #: The item's type.
    type: str
    #: The item's key.
    key: str
    #: Higher is leased first.
    priority: int
    #: The number of the attempt, from 1.
    attempt: int
    #: The maximum number of attempts.
    max_attempts: int
    #: Proves that the worker still holds the lease.
    lease_token: str
    #: The items that it was routed to wait for, in the order of the request.
    after: List[AwaitedItem]


class LeasedItem(_LeasedItemRequired, total=False):
    """A leased item."""

    #: The attributes for rules.
    attributes: Dict[str, Any]
    #: The payload for the worker. In a pool whose debounce takes all items, the list `payloads` in it has the payload of each item of the window.
    payload: Dict[str, Any]
    #: When the lease expires.
    lease_expires_at: str
    #: When the item was accepted.
    enqueued_at: str


class _AwaitedItemRequired(TypedDict):
    #: The item; if others replaced it, the last of them.
    queue_item_id: str
    #: Its key.
    key: str
    #: How it ended: completed, cancelled, expired, drained or dead_lettered.
    state: str
    #: Whether it has a result that is too large to be sent along: the results of a leased item have at most 256 KiB together. Read it with the item.
    result_omitted: bool


class AwaitedItem(_AwaitedItemRequired, total=False):
    """An item that another one has waited for."""

    #: The result that its worker reported.
    result: Any


class LeaseItemsResponse(TypedDict):
    """The leased items and the results of the reports."""

    #: The leased items, best first; empty if none arrived in time.
    items: List[LeasedItem]
    #: One result for each report, in order: first those of completed, then those of failed, then those of released.
    results: List[WorkResult]


class _WorkResultRequired(TypedDict):
    #: The item.
    queue_item_id: str
    #: The current state; empty if there is an error.
    state: str
    #: The error code; empty if there is none.
    error_code: str
    #: The error in words.
    error_message: str
    #: The invalid fields of the item; empty for other errors.
    violations: List[Violation]


class WorkResult(_WorkResultRequired, total=False):
    """The result for an item."""

    #: When it is retried.
    retry_at: str


class _CompletedItemRequired(TypedDict):
    #: The item.
    queue_item_id: str
    #: The token of the lease.
    lease_token: str


class CompletedItem(_CompletedItemRequired, total=False):
    """A completed item, as reported with LeaseItems."""

    #: The cost.
    cost: float
    #: A quality score.
    score: float
    #: The result of the work, any JSON value of at most 64 KiB. It is stored with the item.
    result: Any


class _FailedItemRequired(TypedDict):
    #: The item.
    queue_item_id: str
    #: The token of the lease.
    lease_token: str


class FailedItem(_FailedItemRequired, total=False):
    """A failed attempt, as reported with LeaseItems."""

    #: Whether a retry makes sense; default true.
    retryable: bool
    #: A stable code for the reason.
    reason_code: str
    #: The message for people.
    reason: str


class _LeasedRefRequired(TypedDict):
    #: The item.
    queue_item_id: str
    #: The token of the lease.
    lease_token: str


class LeasedRef(_LeasedRefRequired, total=False):
    """An item and its lease."""

    #: The result of a completed item, any JSON value of at most 64 KiB. A failed or released item cannot have one.
    result: Any


class WorkResponse(TypedDict):
    """Items that were leased together."""

    #: The leased items, best first; at least one.
    items: List[LeasedItem]


class _LeaseRequired(TypedDict):
    #: The item.
    queue_item_id: str


class Lease(_LeaseRequired, total=False):
    """The current lease."""

    #: When the lease expires.
    lease_expires_at: str


class CompleteItemsResponse(TypedDict):
    """The results, in order."""

    #: One for each item.
    results: List[WorkResult]


class FailItemsResponse(TypedDict):
    """The results, in order."""

    #: One for each item.
    results: List[WorkResult]
