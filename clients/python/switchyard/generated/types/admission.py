# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .queue import AssignmentRetry


class _AdmissionPreviewRequired(TypedDict):
    #: admitted, held, deduplicated, debounced or rejected. A held item is accepted, but its throttle or concurrency group has no room to lease it now.
    status: str
    #: The deciding constraint, if any.
    constraint_kind: str
    #: How long to wait before trying again.
    retry_after_s: float
    #: The verdict of each constraint, in order: first those evaluated on arrival, then those evaluated at lease time.
    verdicts: List[ConstraintVerdict]
    #: deduplicated: the item that occupies the group. debounced: the waiting item that would take the payload, if any.
    existing_queue_item_id: str
    #: Waiting items that it would replace.
    superseded_queue_item_ids: List[str]
    #: The leased item that it would cancel.
    cancelled_queue_item_id: str


class AdmissionPreview(_AdmissionPreviewRequired, total=False):
    """What would happen to an item."""

    #: When the item would proceed; for a throttle, when its group leases the next item.
    not_before: str


class _ConstraintVerdictRequired(TypedDict):
    #: singleton, debounce, throttle or concurrency.
    constraint_kind: str
    #: The group of the item. Its key is never shown.
    group_id: str
    #: admit, replace, cancel_running, debounce, collect, hold, deduplicate or reject; not_asked when an earlier constraint decides.
    verdict: str


class ConstraintVerdict(_ConstraintVerdictRequired, total=False):
    """The verdict of one constraint."""

    #: When the constraint lets the item proceed, if known.
    not_before: str
    #: The number of places or tokens left, if the constraint has a number.
    remaining: int


class _AdmissionExplanationRequired(TypedDict):
    #: The item.
    queue_item_id: str
    #: The item's state: pending, held, ready, leased, completed, dead_lettered, cancelled, expired, drained or superseded.
    status: str
    #: The constraint that holds it; empty when none does.
    constraint_kind: str
    #: The group of that constraint.
    group_id: str
    #: Seconds until the item is evaluated again.
    retry_after_s: float
    #: The number of items of the same pool and group that come first, counted up to 1,000.
    ahead: int
    #: The item that replaced it.
    survivor_id: str
    #: The current verdict of each constraint, in order; empty for an item that has ended.
    verdicts: List[ConstraintVerdict]
    #: The items that it was routed to wait for, in the order of the request.
    dependencies: List[ItemDependency]


class AdmissionExplanation(_AdmissionExplanationRequired, total=False):
    """What holds an item."""

    #: The earliest time at which it proceeds.
    not_before: str
    #: The search for a recipient, if no constraint holds the item and no recipient was found yet.
    assignment: AssignmentRetry


class ItemDependency(TypedDict):
    """An item that another item waits for."""

    #: The item, as it was named.
    queue_item_id: str
    #: Its pool; empty if the item is no longer stored.
    pool_id: str
    #: Its state; empty if the item is no longer stored. If another item replaced it, this is the state of the last replacement.
    state: str
    #: The item that replaced it; empty if none did.
    survivor_id: str


class _AdmissionGroupRequired(TypedDict):
    #: singleton, debounce, throttle or concurrency.
    constraint_kind: str
    #: A keyed digest of the key.
    group_id: str
    #: The owning tenant.
    tenant_id: str
    #: The pool in which the group was first used.
    pool_id: str
    #: The environment of that pool.
    environment_id: str
    #: open, saturated, cooling, expired or cleared.
    status: str
    #: The item that occupies the group or waits in it.
    queue_item_id: str
    #: singleton, concurrency: the number of places.
    limit: int
    #: The number of places in use; concurrency: by leased items.
    in_use: int
    #: The number of items of the group that wait to be leased, counted up to 1,000; debounce: that wait for their window.
    waiting: int
    #: Who cleared it.
    cleared_by: str
    #: The reason.
    cleared_reason: str


class AdmissionGroup(_AdmissionGroupRequired, total=False):
    """All items that share a constraint's key. The key is never shown."""

    #: Until when the group holds items.
    until: str
    #: When it was last used.
    updated_at: str
    #: When an operator cleared the group.
    cleared_at: str
