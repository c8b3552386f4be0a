# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _OutboxMessageRequired(TypedDict):
    #: The id, a ULID; the same as that of its delivery.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The notification workflow.
    workflow_key: str
    #: The channel.
    channel: str
    #: The address.
    recipient: str
    #: The subject of a mail.
    subject: str
    #: The title.
    title: str
    #: The text.
    body: str
    #: The HTML of a mail.
    html: str


class OutboxMessage(_OutboxMessageRequired, total=False):
    """A message that was stored instead of being sent."""

    #: Additional data.
    data: Dict[str, Any]
    #: When it was stored.
    created_at: str
