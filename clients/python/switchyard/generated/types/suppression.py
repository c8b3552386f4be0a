# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _SuppressionRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The channel: email, sms, push or chat.
    channel: str
    #: The address or token. Email addresses are in lower case.
    identity: str
    #: Why: bounced (permanently), complained, unsubscribed, unreachable (a provider refused the address) or manual.
    reason: str
    #: A note of whoever suppressed it; empty if a provider did.
    note: str
    #: The delivery after which it was suppressed; empty if it was suppressed by hand.
    delivery_id: str
    #: The provider of that delivery; empty if it was suppressed by hand.
    provider_key: str


class Suppression(_SuppressionRequired, total=False):
    """An address that no notification is sent to."""

    #: When it was suppressed.
    created_at: str
