# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _MemberRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The subject of their token; if empty, set by their first call.
    subject: str
    #: Their email address.
    email: str
    #: Their display name.
    display_name: str
    #: Roles in addition to those of their token and of groups.
    roles: List[str]
    #: The status.
    status: MemberStatus
    #: The version of the record; send it back to make an update conditional.
    record_version: int
    #: The environments they may use, regardless of their token: any, production_only or non_production_only.
    environment_mode: str
    #: Every role that they have now, besides those of their token, and where it comes from. Only active members have any.
    access: List[MemberAccess]


class Member(_MemberRequired, total=False):
    """A person with access to a tenant."""

    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str
    #: When the membership expires, if ever.
    expires_at: str


#: The status of a member.
MemberStatus = Literal["STATUS_UNSPECIFIED", "STATUS_INVITED", "STATUS_ACTIVE", "STATUS_SUSPENDED", "STATUS_REMOVED"]


class MemberAccess(TypedDict):
    """A role that a member has now."""

    #: The role.
    role: str
    #: Where it comes from: direct (the member's roles), group (a group of the directory) or session (a group that the identity provider named at the last sign-in; it counts in browser sessions only).
    sources: List[str]


class MemberRoles(TypedDict, total=False):
    """The roles of a member."""

    #: The roles.
    roles: Sequence[str]
