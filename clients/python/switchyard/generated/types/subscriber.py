# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .preference import ChannelDecision


class _SubscriberRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The tenant's own id, unique in the tenant.
    external_id: str
    #: The given name.
    first_name: str
    #: The family name.
    last_name: str
    #: The email address.
    email: str
    #: The phone number, such as +4930901820.
    phone: str
    #: The URL of a picture.
    avatar: str
    #: The language, such as de-CH.
    locale: str
    #: The time zone, such as Europe/Berlin.
    timezone: str
    #: Whether notifications are sent to it; false after it was deleted.
    active: bool
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class Subscriber(_SubscriberRequired, total=False):
    """A person who receives notifications."""

    #: Free-form data of the tenant.
    data: Dict[str, Any]
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
    #: Since when the email address is suppressed: a provider reported that it no longer exists, or that its owner unsubscribed or complained, or a caller suppressed it. It ends when the suppression is deleted.
    email_suppressed_at: str
    #: Since when the phone number is suppressed.
    phone_suppressed_at: str


class UpsertSubscriberBatchResponse(TypedDict):
    """The results, in the order of the request."""

    #: One result for each item.
    results: List[SubscriberResult]
    #: The number of new subscribers.
    created: int
    #: The number of changed subscribers, including those that became active again.
    updated: int
    #: The number of subscribers that already had these values.
    unchanged: int
    #: The number of items that were refused.
    failed: int


class SubscriberResult(TypedDict):
    """The result of one item of a batch."""

    #: The external id of the item.
    external_id: str
    #: "created", "updated", "reactivated" (it was deleted and is active again), "unchanged" or "failed".
    outcome: str
    #: The subscriber's id; empty if the item was refused.
    id: str
    #: The error code, if the item was refused.
    error_code: str
    #: The field that was refused, such as subscribers[3].email.
    error_field: str
    #: The error in words.
    error_message: str


class SubscriberProfile(TypedDict, total=False):
    """One subscriber of a batch. Absent fields stay unchanged; an empty string clears a field."""

    #: The tenant's own id, any text of 1 to 255 characters.
    external_id: str
    #: The given name, at most 200 characters.
    first_name: str
    #: The family name, at most 200 characters.
    last_name: str
    #: The email address, at most 320 characters.
    email: str
    #: The phone number in E.164 format, such as +4930901820.
    phone: str
    #: The URL of a picture, at most 2,048 characters.
    avatar: str
    #: The language as a BCP 47 tag, such as de-CH.
    locale: str
    #: The time zone as an IANA name, such as Europe/Berlin.
    timezone: str
    #: Free-form data of the tenant, at most 64 KiB as JSON; it replaces the previous data.
    data: Mapping[str, Any]


class _ChannelEndpointRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The subscriber.
    subscriber_id: str
    #: The channel: email, sms, push, chat or in_app.
    channel: str
    #: The provider that the address was registered with; default "default". On push and chat, only this provider uses it. Email addresses and phone numbers are served by any integration.
    provider_key: str
    #: The address or token.
    identity: str
    #: The connection that the address is pinned to; empty if any integration may serve it. A pinned address is only served by this connection, through an integration of its provider.
    connection_id: str
    #: Whether the subscriber confirmed it.
    verified: bool
    #: The version of the record.
    record_version: int


class ChannelEndpoint(_ChannelEndpointRequired, total=False):
    """An address of a subscriber on one channel."""

    #: Free-form data of the tenant.
    metadata: Dict[str, Any]
    #: When it was last added.
    last_used_at: str
    #: Since when it is suppressed: the provider reported that it no longer exists, or that its owner unsubscribed or complained, or a caller suppressed it. It ends when the suppression is deleted; a push token that is added again is used again.
    suppressed_at: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class PreviewPreferencesResponse(TypedDict):
    """The result of a preview."""

    #: The version of the resolver.
    resolver_version: str
    #: The decisions for the five channels.
    channels: List[ChannelDecision]


class ExplainSubscriberResponse(TypedDict):
    """Why a notification reaches a subscriber or not."""

    #: The answer in plain words.
    summary: str
    #: "reachable" (on at least one channel), "unreachable", or "unknown_workflow".
    verdict: str
    #: All reasons in the order in which they are decided: the workflow, the subscriber, then channel by channel.
    reasons: List[ReachReason]
    #: The newest messages of this workflow to this subscriber, at most 20, newest first.
    past_deliveries: List[PastDelivery]
    #: The subscriber.
    subscriber_id: str
    #: The notification workflow.
    workflow_key: str


class ReachReason(TypedDict):
    """One reason why a message is sent or not."""

    #: The channel; empty for a reason that concerns all channels.
    channel: str
    #: What was looked at: "workflow", "subscriber", "preference", "content", "endpoint", "suppression", "integration" or "delivery".
    source: str
    #: A stable code, such as denied_by_layer, suppressed or none_active.
    code: str
    #: Whether it lets the message pass.
    passes: bool
    #: Whether it decides its channel: the first reason that stops the message, or the last one if nothing stops it.
    deciding: bool
    #: The reason in words.
    message: str
    #: What would change it; empty if nothing has to.
    remedy: str


class _PastDeliveryRequired(TypedDict):
    #: The delivery.
    delivery_id: str
    #: The channel.
    channel: str
    #: "queued", "running", "sent", "failed" or "skipped".
    status: str
    #: What became of it, in words.
    message: str


class PastDelivery(_PastDeliveryRequired, total=False):
    """A message that was sent or skipped earlier."""

    #: When it was stored.
    queued_at: str


class ExportSubscriberResponse(TypedDict):
    """Everything that is stored about a subscriber."""

    #: The kinds with at least one record.
    kinds: List[ExportSubscriberResponseKind]


class ExportSubscriberResponseKind(TypedDict):
    """The records of one kind."""

    #: The kind of record, such as notification_deliveries.
    name: str
    #: The records, with the names of their columns.
    records: List[Dict[str, Any]]
    #: Whether there are more records than returned.
    truncated: bool


class EraseSubscriberResponse(TypedDict):
    """An erasure that was accepted."""

    #: The id of the erasure: the subject of the event subscriber.erased.
    erasure_id: str
