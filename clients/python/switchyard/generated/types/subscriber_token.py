# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _CreateSubscriberTokenResponseRequired(TypedDict):
    #: The subscriber.
    subscriber_id: str
    #: The token, for the header Authorization: Bearer <token>.
    token: str
    #: The id of the token, a ULID. It is not secret, and it is needed to revoke this token alone.
    token_id: str


class CreateSubscriberTokenResponse(_CreateSubscriberTokenResponseRequired, total=False):
    """A token."""

    #: When it expires.
    expires_at: str


class RevokeSubscriberTokensResponse(TypedDict):
    """The subscriber whose tokens are revoked."""

    #: The subscriber.
    subscriber_id: str


class RevokeSubscriberTokenResponse(TypedDict):
    """The revoked token."""

    #: The subscriber.
    subscriber_id: str
    #: The id of the token.
    token_id: str
