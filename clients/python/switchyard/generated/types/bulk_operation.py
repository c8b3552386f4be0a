# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class BulkPreview(TypedDict):
    """The number of items that a bulk operation would change now."""

    #: The number of items.
    count: int
    #: The number of items by their state.
    count_by_state: Dict[str, int]
    #: Whether counting stopped after 100,000 items: the operation may change more.
    capped: bool


class QueueItemFilterInput(TypedDict, total=False):
    """Selects items of a queue. All fields that are set must match."""

    #: Only items in one of these states: pending, held, ready or leased.
    states: Sequence[Literal["pending", "held", "ready", "leased"]]
    #: Only items of this recipient.
    recipient_id: str
    #: Only items of this type.
    type: str
    #: Only items with this key.
    key: str
    #: Only items with at least this priority.
    min_priority: int
    #: Only items with at most this priority.
    max_priority: int
    #: Only items that were enqueued before this time.
    enqueued_before: str | datetime
    #: Only items that were enqueued at this time or later.
    enqueued_after: str | datetime
    #: Only items whose attributes have these values at their top level. Numbers and booleans are compared as text.
    attributes: Mapping[str, str]


class _BulkOperationRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The pool.
    pool_id: str
    #: cancel, requeue or retry.
    action: str
    #: The reason.
    reason: str
    #: The maximum number of items to change; 0 for all.
    max_items: int
    #: queued, running, completed, cancelled or failed.
    state: str
    #: The number of items that matched when it started, counted up to 100,000.
    matched_count: int
    #: The number of changed items so far.
    changed_count: int
    #: The number of matching items that were left as they are, because they changed meanwhile or were not admitted.
    skipped_count: int
    #: Why it failed; empty otherwise.
    error: str
    #: Who started it.
    created_by: str


class BulkOperation(_BulkOperationRequired, total=False):
    """A bulk operation with its progress."""

    #: The filter of a cancel or requeue.
    item_filter: QueueItemFilter
    #: The filter of a retry.
    dead_letter_filter: DeadLetterFilter
    #: When it was started.
    created_at: str
    #: When its progress last changed.
    updated_at: str
    #: When it ended.
    ended_at: str


class _QueueItemFilterRequired(TypedDict):
    #: Only items in one of these states: pending, held, ready or leased.
    states: List[str]
    #: Only items of this recipient.
    recipient_id: str
    #: Only items of this type.
    type: str
    #: Only items with this key.
    key: str
    #: Only items whose attributes have these values at their top level. Numbers and booleans are compared as text.
    attributes: Dict[str, str]


class QueueItemFilter(_QueueItemFilterRequired, total=False):
    """Selects items of a queue. All fields that are set must match."""

    #: Only items with at least this priority.
    min_priority: int
    #: Only items with at most this priority.
    max_priority: int
    #: Only items that were enqueued before this time.
    enqueued_before: str
    #: Only items that were enqueued at this time or later.
    enqueued_after: str


class _DeadLetterFilterRequired(TypedDict):
    #: Only those with this reason code.
    reason_code: str
    #: Only those that failed in this phase.
    phase: str
    #: Only items of this type.
    type: str
    #: Only items with this key.
    key: str


class DeadLetterFilter(_DeadLetterFilterRequired, total=False):
    """Selects dead letters. All fields that are set must match. Quarantined ones never match."""

    #: Only those that last failed before this time.
    failed_before: str
    #: Only those that last failed at this time or later.
    failed_after: str


class DeadLetterFilterInput(TypedDict, total=False):
    """Selects dead letters. All fields that are set must match. Quarantined ones never match."""

    #: Only those with this reason code.
    reason_code: str
    #: Only those that failed in this phase.
    phase: Literal["", "work", "delivery", "lease", "expiry"]
    #: Only items of this type.
    type: str
    #: Only items with this key.
    key: str
    #: Only those that last failed before this time.
    failed_before: str | datetime
    #: Only those that last failed at this time or later.
    failed_after: str | datetime
