# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .queue import ItemFailure


class _DeadLetterRequired(TypedDict):
    #: The item.
    queue_item_id: str
    #: The owning tenant.
    tenant_id: str
    #: The pool.
    pool_id: str
    #: failed, retrying or quarantined.
    state: str
    #: A stable code for the reason.
    reason_code: str
    #: The phase in which it failed: work, delivery, lease or expiry.
    phase: str
    #: The failed attempts, including those before a retry; the last 100.
    attempts: List[ItemFailure]
    #: The number of retries so far.
    retry_count: int
    #: The maximum number of retries.
    max_retries: int
    #: SHA-256 of the payload as stored, in hex; equal payloads have equal digests.
    payload_digest: str
    #: The item's type.
    type: str
    #: The item's key.
    key: str


class DeadLetter(_DeadLetterRequired, total=False):
    """An item whose last attempt failed."""

    #: When it first became a dead letter.
    first_failed_at: str
    #: When it last became a dead letter.
    last_failed_at: str


class _DeadLetterStatsRequired(TypedDict):
    #: The pool; - for all pools.
    pool_id: str
    #: The number of failed items.
    depth: int
    #: The number of quarantined items.
    quarantined_count: int
    #: The number of failed items that have reached their maximum number of retries.
    exhausted_count: int


class DeadLetterStats(_DeadLetterStatsRequired, total=False):
    """Counts of the dead letters of a pool, or of all pools."""

    #: When the oldest failed item failed.
    oldest_failure_at: str


class RetryDeadLettersResponse(TypedDict):
    """The result."""

    #: The number of retried items.
    retried_count: int
    #: The skipped items, with the reason.
    skipped: List[SkippedDeadLetter]


class SkippedDeadLetter(TypedDict):
    """A skipped item."""

    #: The item.
    queue_item_id: str
    #: not_found, quarantined, not_quarantined, retrying or max_retries; deduplicated or rejected when a constraint of its pool does not admit it now.
    reason: str


class RetryAllDeadLettersResponse(TypedDict):
    """The result."""

    #: The number of retried items.
    retried_count: int
    #: The number of failed items that have reached their maximum number of retries.
    skipped_count: int
    #: The number of items that could still be retried.
    remaining_count: int


class QuarantineDeadLettersResponse(TypedDict):
    """The result."""

    #: The number of quarantined or released items.
    changed_count: int
    #: The skipped items, with the reason.
    skipped: List[SkippedDeadLetter]


class PurgeDeadLettersResponse(TypedDict):
    """The result."""

    #: The number of deleted items.
    purged_count: int
    #: The number of items that the same request would still delete; one call deletes 100,000 at most.
    remaining_count: int
