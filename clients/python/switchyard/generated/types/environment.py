# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _EnvironmentRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: A short name, unique in the tenant, such as "production".
    key: str
    #: The display name.
    name: str
    #: Whether work in the environment is real.
    mode: EnvironmentMode
    #: The status.
    status: EnvironmentStatus
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class Environment(_EnvironmentRequired, total=False):
    """A part of a tenant, such as production, with its own configuration and keys."""

    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
    #: What the approval of a promotion needs.
    promotion_policy: PromotionPolicy


#: Whether work in the environment is real.
EnvironmentMode = Literal["MODE_UNSPECIFIED", "MODE_LIVE", "MODE_SANDBOX"]


#: The status of an environment.
EnvironmentStatus = Literal["STATUS_UNSPECIFIED", "STATUS_ACTIVE", "STATUS_DISABLED", "STATUS_DELETED"]


class PromotionPolicy(TypedDict):
    """What the approval of a promotion needs in an environment."""

    #: How many people must approve a candidate. Each of them needs the scope promotion:approve.
    approvals: int
    #: Whether the approvals of people who wrote a version of the candidate do not count. Those of its creator never count.
    exclude_authors: bool


class _PromotionPolicyInputRequired(TypedDict):
    #: How many people must approve a candidate. Each of them needs the scope promotion:approve.
    approvals: int


class PromotionPolicyInput(_PromotionPolicyInputRequired, total=False):
    """What the approval of a promotion needs in an environment."""

    #: Whether the approvals of people who wrote a version of the candidate do not count. Those of its creator never count.
    exclude_authors: bool
