# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _EventRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The CloudEvents version, "1.0".
    specversion: str
    #: The event type, such as "tenant.created".
    type: str
    #: The source, a URI reference.
    source: str
    #: The id of the record that the event is about.
    subject: str
    #: The media type of the data.
    datacontenttype: str
    #: The environment of the record; empty if it belongs to none. Callers see events of their environments, and events without an environment.
    environment_id: str
    #: The caller that caused the change; empty for what the service did by itself, and for custom events.
    actor: str


class Event(_EventRequired, total=False):
    """An event (CloudEvents 1.0)."""

    #: When it happened.
    time: str
    #: The details of the event.
    data: Dict[str, Any]
