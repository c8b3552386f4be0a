# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _IntegrationRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The channel that it serves: email, sms, push, chat or in_app.
    channel: str
    #: The name.
    name: str
    #: The provider that sends.
    provider_key: str
    #: The connection that holds the provider's credentials; empty when it needs none.
    connection_id: str
    #: The lowest priority is used first; the oldest among equals.
    priority: int
    #: Whether it is used.
    active: bool
    #: The messages for which it is used, as a CEL condition; all when empty.
    condition: str
    #: The letter case of the messages: upper, lower, title or sentence; unchanged when empty.
    casing_override: str
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class Integration(_IntegrationRequired, total=False):
    """A provider that serves a channel."""

    #: Free-form data of the tenant.
    metadata: Dict[str, Any]
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
