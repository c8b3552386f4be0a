# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _RecipientRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The pool it belongs to.
    pool_id: str
    #: The display name, unique in its pool.
    name: str
    #: The status.
    status: RecipientStatus
    #: Its weight relative to others; 0 excludes it.
    weight: int
    #: The maximum number of items it processes at the same time; 0 for no limit.
    capacity: int
    #: Lower is chosen first.
    priority: int
    #: Skills by name, each with its level, 1 to 5.
    skills: Dict[str, int]
    #: The expected cost of an item, until outcomes report it.
    cost: float
    #: The number of items it has leased.
    in_flight: int
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class Recipient(_RecipientRequired, total=False):
    """A person, program or system that processes work."""

    #: The attributes for rules.
    attributes: Dict[str, Any]
    #: How items are delivered to it.
    delivery: RecipientDelivery
    #: When an item was last assigned to it.
    last_assigned_at: str
    #: Until when it is ejected; absent if it is not.
    ejected_until: str
    #: Until when others are preferred because of an anomaly; absent if they are not.
    deprioritized_until: str
    #: Since when it is available; slow start counts from this time.
    available_since: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
    #: Why it is paused, and until when; absent if it is not paused.
    pause: RecipientPause


#: The status of a recipient.
RecipientStatus = Literal["STATUS_UNSPECIFIED", "STATUS_ACTIVE", "STATUS_PAUSED", "STATUS_DRAINING", "STATUS_EJECTED", "STATUS_OFFLINE", "STATUS_REMOVED"]


class RecipientDelivery(TypedDict, total=False):
    """How items are delivered to a recipient."""

    #: The mode; default pull.
    mode: RecipientDeliveryMode
    #: The URL for pushed items, https or http.
    url: str
    #: The name of the secret that signs pushed items.
    secret_ref: str
    #: The connector action that pushed items are delivered with, instead of a URL. An action without a key removes it.
    action: DeliveryAction


#: Delivery modes.
RecipientDeliveryMode = Literal["MODE_UNSPECIFIED", "MODE_PULL", "MODE_PUSH", "MODE_DECISION_ONLY"]


class _DeliveryActionRequired(TypedDict):
    #: The action, such as slack.message.send.
    key: str
    #: The connection; empty for providers without authentication.
    connection_id: str


class DeliveryAction(_DeliveryActionRequired, total=False):
    """A connector action that delivers items."""

    #: The input of the action. Texts that start with = are CEL expressions of the item, such as =item.payload.title. When absent, the input is the item.
    input: Dict[str, Any]


class _RecipientPauseRequired(TypedDict):
    #: What paused it: request (a caller) or anomaly (the action auto-pause).
    cause: str
    #: The reason in words; may be empty.
    reason: str
    #: Who paused it: the caller, or anomaly-detection.
    actor: str
    #: The anomaly that paused it; empty for none.
    anomaly_id: str


class RecipientPause(_RecipientPauseRequired, total=False):
    """The pause of a recipient."""

    #: When it was paused.
    since: str
    #: When it is resumed automatically; absent if somebody has to resume it.
    until: str


class RecipientDeliveryInput(TypedDict, total=False):
    """How items are delivered to a recipient."""

    #: The mode; default pull.
    mode: RecipientDeliveryMode
    #: The URL for pushed items, https or http.
    url: str
    #: The name of the secret that signs pushed items.
    secret_ref: str
    #: The connector action that pushed items are delivered with, instead of a URL. An action without a key removes it.
    action: DeliveryActionInput


class DeliveryActionInput(TypedDict, total=False):
    """A connector action that delivers items."""

    #: The action, such as slack.message.send.
    key: str
    #: The connection; empty for providers without authentication.
    connection_id: str
    #: The input of the action. Texts that start with = are CEL expressions of the item, such as =item.payload.title. When absent, the input is the item.
    input: Mapping[str, Any]


class BatchCreateRecipientsResponse(TypedDict):
    """The new recipients."""

    #: The new recipients, in the order of the request.
    recipients: List[Recipient]


class _NewRecipientRequired(TypedDict):
    #: The display name, unique in its pool.
    name: str


class NewRecipient(_NewRecipientRequired, total=False):
    """A recipient to add."""

    #: The initial status: active (when unspecified), paused, draining or offline.
    status: RecipientStatus
    #: Its weight relative to others, 0 to 1,000,000; default 100, 0 excludes it.
    weight: int
    #: The maximum number of items it processes at the same time; default 0, no limit.
    capacity: int
    #: Lower is chosen first; default 100.
    priority: int
    #: The attributes for rules, at most 16 KiB as JSON.
    attributes: Mapping[str, Any]
    #: Skills by name, each with its level, 1 to 5.
    skills: Mapping[str, int]
    #: The expected cost of an item, until outcomes report it; default 0.
    cost: float
    #: How items are delivered to it; default: it leases them.
    delivery: RecipientDeliveryInput


class RecipientSkills(TypedDict, total=False):
    """All skills of a recipient."""

    #: Skills by name, each with its level, 1 to 5.
    skills: Mapping[str, int]
