# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _ApiKeyRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The display name.
    name: str
    #: The public part of the key.
    prefix: str
    #: Its roles.
    roles: List[str]
    #: Its own scopes, each resource:action.
    scopes: List[str]
    #: The environments it may be used in: any, production_only or non_production_only.
    environment_mode: str
    #: The status.
    status: ApiKeyStatus
    #: Who created it.
    created_by: str
    #: Who revoked it.
    revoked_by: str
    #: The version of the record; send it back to make an update conditional.
    record_version: int
    #: Its own rate limit, in tokens per second; 0 if only the limits of the tenant apply.
    max_rps: int


class ApiKey(_ApiKeyRequired, total=False):
    """An API key. Only the response that creates it contains the secret."""

    #: When it expires, if ever.
    expires_at: str
    #: When it was last used, to the minute.
    last_used_at: str
    #: When it was revoked.
    revoked_at: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
    #: The whole key as callers send it. Only the response that creates the key contains it.
    secret: str


#: The status of a key.
ApiKeyStatus = Literal["STATUS_UNSPECIFIED", "STATUS_ACTIVE", "STATUS_REVOKED", "STATUS_EXPIRED"]
