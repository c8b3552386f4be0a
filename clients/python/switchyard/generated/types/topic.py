# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _SubscriptionRequired(TypedDict):
    #: The id, a ULID. It changes when the context keys change.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The topic's key.
    topic_key: str
    #: The subscriber's id.
    subscriber_id: str
    #: The context keys, sorted.
    context_keys: List[str]


class Subscription(_SubscriptionRequired, total=False):
    """The membership of a subscriber in a topic."""

    #: Since when the subscriber is in the topic.
    created_at: str


class _TopicRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The key, unique in the tenant: lower-case letters and digits, separated by single dots or underscores (for example: releases.web).
    key: str
    #: The display name.
    name: str
    #: The description.
    description: str
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class Topic(_TopicRequired, total=False):
    """A named set of subscribers."""

    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class AddTopicSubscribersResponse(TypedDict):
    """The result. The three counts add up to the distinct subscribers of the request."""

    #: The number of new members.
    added: int
    #: The number of members whose context keys changed.
    changed: int
    #: The number of members that already had these context keys.
    unchanged: int


class _TopicImportRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The topic's key.
    topic_key: str
    #: "running", "completed", "cancelled", or "failed" (the topic was deleted, or it failed too often).
    status: str
    #: The number of distinct names.
    total: int
    #: The number of names processed so far.
    processed: int
    #: The number of new members.
    added: int
    #: The number of members whose context keys changed.
    changed: int
    #: The number of members that already had these context keys.
    unchanged: int
    #: The number of names that belong to no subscriber.
    unknown: int
    #: The first 100 of them.
    unknown_names: List[str]


class TopicImport(_TopicImportRequired, total=False):
    """An import of members into a topic."""

    #: When it was accepted.
    created_at: str
    #: When it last made progress.
    updated_at: str


class RemoveTopicSubscribersResponse(TypedDict):
    """The result."""

    #: The number of removed members.
    removed: int
