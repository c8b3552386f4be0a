# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _WebhookEndpointRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The URL that events are posted to.
    url: str
    #: The description.
    description: str
    #: The event types, exact or with a prefix such as "order.*"; all when empty or "*".
    event_types: List[str]
    #: Whether it gets events.
    status: WebhookEndpointStatus
    #: Why it is disabled, if it is.
    disabled_reason: WebhookEndpointDisabledReason
    #: The version of the record; send it back to make an update conditional.
    record_version: int
    #: The environments whose events are sent: any, production_only or non_production_only. Events without an environment are always sent.
    environment_mode: str
    #: The names of the additional headers. Their values are never returned.
    header_names: List[str]
    #: Whether events are sent one after the other, in the order of the log.
    ordered: bool
    #: The delays between attempts, in seconds; the default schedule when empty.
    retry_delays_s: List[int]


class WebhookEndpoint(_WebhookEndpointRequired, total=False):
    """An HTTP endpoint that receives events."""

    #: Since when every attempt has failed; absent when the last one succeeded.
    failing_since: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
    #: The signing secret (whsec_…). Only the response that creates the endpoint or rotates the secret contains it.
    secret: str
    #: Until when the previous secret also signs. Only the response that rotates the secret contains it.
    previous_secret_valid_until: str
    #: The template of the body, if it has one.
    transform: Any


#: The status of an endpoint.
WebhookEndpointStatus = Literal["STATUS_UNSPECIFIED", "STATUS_ACTIVE", "STATUS_DISABLED"]


#: Why an endpoint is disabled.
WebhookEndpointDisabledReason = Literal["DISABLED_REASON_UNSPECIFIED", "DISABLED_REASON_MANUAL", "DISABLED_REASON_GONE", "DISABLED_REASON_FAILING"]


class WebhookEventTypes(TypedDict, total=False):
    """Event types."""

    #: Exact types and prefixes such as "order.*"; all when empty or "*".
    types: Sequence[str]


class WebhookHeaders(TypedDict, total=False):
    """Additional headers."""

    #: Values by name; none when empty.
    values: Mapping[str, str]


class WebhookRetryDelays(TypedDict, total=False):
    """The delays between attempts."""

    #: In seconds; the default schedule when empty.
    seconds: Sequence[int]


class _WebhookDeliveryRequired(TypedDict):
    #: The id; the same as that of the event.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The endpoint.
    endpoint_id: str
    #: The event's type.
    event_type: str
    #: The webhook-id header, the same for every attempt.
    message_id: str
    #: The status.
    status: WebhookDeliveryStatus
    #: The number of attempts, including those before a replay.
    attempt_count: int
    #: The latest attempts, oldest first, up to 20.
    attempts: List[WebhookDeliveryAttempt]


class WebhookDelivery(_WebhookDeliveryRequired, total=False):
    """The delivery of an event to an endpoint."""

    #: When the next attempt is due, while it is pending.
    next_attempt_at: str
    #: When it was created.
    created_at: str
    #: When it ended, if it has.
    ended_at: str


#: The status of a delivery.
WebhookDeliveryStatus = Literal["STATUS_UNSPECIFIED", "STATUS_PENDING", "STATUS_SUCCEEDED", "STATUS_FAILED", "STATUS_CANCELLED"]


class _WebhookDeliveryAttemptRequired(TypedDict):
    #: How long it took, in milliseconds.
    duration_ms: int
    #: The status of the response; 0 if there was none.
    response_status: int
    #: Why it failed, if it did.
    failure: WebhookDeliveryFailure


class WebhookDeliveryAttempt(_WebhookDeliveryAttemptRequired, total=False):
    """One attempt."""

    #: When it began.
    at: str


#: Why an attempt failed.
WebhookDeliveryFailure = Literal["FAILURE_UNSPECIFIED", "FAILURE_STATUS", "FAILURE_DENIED", "FAILURE_INVALID_URL", "FAILURE_DNS", "FAILURE_CONNECT", "FAILURE_TLS", "FAILURE_TIMEOUT", "FAILURE_CONNECTION_LOST", "FAILURE_EVENT_FORGOTTEN", "FAILURE_SECRET_UNREADABLE", "FAILURE_TRANSFORM"]


class _WebhookReplayRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The endpoint.
    endpoint_id: str
    #: The events to send.
    selection: WebhookReplaySelection
    #: The status.
    status: WebhookReplayStatus
    #: The number of deliveries started so far.
    replayed: int


class WebhookReplay(_WebhookReplayRequired, total=False):
    """A replay of the events of a time range."""

    #: Events that were recorded at or after this time.
    since: str
    #: Events that were recorded before this time.
    until: str
    #: When it was requested.
    created_at: str
    #: When it ended, if it has.
    completed_at: str


#: The events of the range to send.
WebhookReplaySelection = Literal["SELECTION_UNSPECIFIED", "SELECTION_FAILED", "SELECTION_MISSING", "SELECTION_ALL"]


#: The status of a replay.
WebhookReplayStatus = Literal["STATUS_UNSPECIFIED", "STATUS_RUNNING", "STATUS_COMPLETED", "STATUS_CANCELLED"]
