# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _TenantRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The display name.
    name: str
    #: A short unique name for addresses and logs.
    slug: str
    #: The status.
    status: TenantStatus
    #: The plan, free text.
    plan: str
    #: Daily limits by operation.
    quotas: Dict[str, QuotaLimit]
    #: Whether this is the platform tenant.
    platform: bool
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class Tenant(_TenantRequired, total=False):
    """A tenant: the unit of isolation; every record belongs to one."""

    #: Free-form settings of the tenant.
    settings: Dict[str, Any]
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
    #: Its first admin key. Only the response that creates the tenant with issue_admin_key contains it.
    admin_key: str


#: The status of a tenant.
TenantStatus = Literal["STATUS_UNSPECIFIED", "STATUS_ACTIVE", "STATUS_SUSPENDED", "STATUS_DELETED"]


class QuotaLimit(TypedDict):
    """A daily limit."""

    #: The limit per UTC day; 0 removes it.
    limit_per_day: int


class QuotaLimitInput(TypedDict, total=False):
    """A daily limit."""

    #: The limit per UTC day; 0 removes it.
    limit_per_day: int


class _QuotaRequired(TypedDict):
    #: The counted operation.
    operation: str
    #: The number used today.
    used: int


class Quota(_QuotaRequired, total=False):
    """The remaining part of a daily limit."""

    #: The limit per UTC day; absent if unlimited.
    limit: int
    #: The number left today; absent if unlimited.
    remaining: int
    #: When the count resets.
    resets_at: str
