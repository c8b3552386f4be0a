# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _InboxMessageRequired(TypedDict):
    #: The id, a ULID; the same as that of its delivery.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The subscriber.
    subscriber_id: str
    #: The notification workflow.
    workflow_key: str
    #: The title.
    title: str
    #: The text, without markup.
    body: str
    #: In a stream: the cursor that continues after this message. REST sends it as the id of the event.
    cursor: str
    #: In a stream: whether the message belongs to the snapshot with which the stream starts.
    snapshot: bool


class InboxMessage(_InboxMessageRequired, total=False):
    """A message in an inbox."""

    #: Additional data, such as a link.
    data: Dict[str, Any]
    #: When it was read; absent while unread.
    read_at: str
    #: When it arrived.
    created_at: str
    #: When the subscriber first saw it in a list; absent while unseen.
    seen_at: str
    #: When it was archived; absent while it is not.
    archived_at: str


class CountUnreadMessagesResponse(TypedDict):
    """The numbers of messages that are not archived."""

    #: The number of unread messages.
    unread_count: int
    #: The number of unseen messages.
    unseen_count: int


class MarkInboxMessagesResponse(TypedDict):
    """What was marked."""

    #: The number of messages that changed, at most 10,000.
    marked_count: int
    #: Whether more than 10,000 messages are to be changed: repeat the call.
    has_more: bool
    #: The number of unread messages now.
    unread_count: int
    #: The number of unseen messages now.
    unseen_count: int


class MarkAllInboxMessagesResponse(TypedDict):
    """The number of marked messages."""

    #: The number of marked messages.
    marked_count: int
