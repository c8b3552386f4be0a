# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence

from ...operation import Operation
from ...service import AsyncService, Service

if TYPE_CHECKING:
    from ...lists import AsyncPagedList, PagedList
    from ...operation import CallOptions
    from ...streams import AsyncEventStream, EventStream
    from ...transport import RawResponse
    from ..types.member import Member, MemberRoles, MemberStatus

INVITE = Operation("POST", "/api/v2/members", body="*", keyed=True)
GET = Operation("GET", "/api/v2/members/{member_id}")
UPDATE = Operation("PATCH", "/api/v2/members/{member_id}", body="*", keyed=True)
REMOVE = Operation("DELETE", "/api/v2/members/{member_id}", keyed=True)
LIST = Operation("GET", "/api/v2/members", result="cursor")
LIST_TENANT_MEMBERS = Operation("GET", "/api/members", result="cursor")


class MemberService(Service):
    """Members: the people of a tenant, identified by the subject of their token."""

    def invite(
        self,
        *,
        email: str,
        subject: str | None = None,
        display_name: str | None = None,
        roles: Sequence[str] | None = None,
        environment_mode: Literal["", "any", "production_only", "non_production_only"] | None = None,
        expires_at: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> Member:
        """
        Invites a person. Their first call with a token activates the membership.

        email: Their email address.
        subject: The subject of their token, if known.
        display_name: Their display name.
        roles: Their roles.
        environment_mode: The environments they may use: any, production_only or non_production_only; the inviter's mode when empty.
        expires_at: When the membership expires; when the inviter's access expires, if absent.
        """
        return self._call(INVITE, locals())

    def get(
        self,
        *,
        member_id: str,
        call: CallOptions | None = None,
    ) -> Member:
        """
        Returns one member.

        member_id: The member's id.
        """
        return self._call(GET, locals())

    def update(
        self,
        *,
        member_id: str,
        display_name: str | None = None,
        role_set: MemberRoles | None = None,
        status: MemberStatus | None = None,
        record_version: int | None = None,
        environment_mode: Literal["any", "production_only", "non_production_only"] | None = None,
        expires_at: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> Member:
        """
        Changes the fields that are present.

        member_id: The member's id.
        display_name: Their display name.
        role_set: Replaces their roles.
        status: STATUS_ACTIVE or STATUS_SUSPENDED.
        record_version: Makes the change conditional on this version.
        environment_mode: The environments they may use: any, production_only or non_production_only.
        expires_at: When the membership expires.
        """
        return self._call(UPDATE, locals())

    def remove(
        self,
        *,
        member_id: str,
        call: CallOptions | None = None,
    ) -> Member:
        """
        Removes a member. Their tokens no longer have roles in this tenant.

        member_id: The member's id.
        """
        return self._call(REMOVE, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Member]:
        """
        Lists the members of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())

    def list_tenant_members(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Member]:
        """
        Lists members at the deprecated path.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_TENANT_MEMBERS, locals())


class AsyncMemberService(AsyncService):
    """Members: the people of a tenant, identified by the subject of their token."""

    async def invite(
        self,
        *,
        email: str,
        subject: str | None = None,
        display_name: str | None = None,
        roles: Sequence[str] | None = None,
        environment_mode: Literal["", "any", "production_only", "non_production_only"] | None = None,
        expires_at: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> Member:
        """
        Invites a person. Their first call with a token activates the membership.

        email: Their email address.
        subject: The subject of their token, if known.
        display_name: Their display name.
        roles: Their roles.
        environment_mode: The environments they may use: any, production_only or non_production_only; the inviter's mode when empty.
        expires_at: When the membership expires; when the inviter's access expires, if absent.
        """
        return await self._call(INVITE, locals())

    async def get(
        self,
        *,
        member_id: str,
        call: CallOptions | None = None,
    ) -> Member:
        """
        Returns one member.

        member_id: The member's id.
        """
        return await self._call(GET, locals())

    async def update(
        self,
        *,
        member_id: str,
        display_name: str | None = None,
        role_set: MemberRoles | None = None,
        status: MemberStatus | None = None,
        record_version: int | None = None,
        environment_mode: Literal["any", "production_only", "non_production_only"] | None = None,
        expires_at: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> Member:
        """
        Changes the fields that are present.

        member_id: The member's id.
        display_name: Their display name.
        role_set: Replaces their roles.
        status: STATUS_ACTIVE or STATUS_SUSPENDED.
        record_version: Makes the change conditional on this version.
        environment_mode: The environments they may use: any, production_only or non_production_only.
        expires_at: When the membership expires.
        """
        return await self._call(UPDATE, locals())

    async def remove(
        self,
        *,
        member_id: str,
        call: CallOptions | None = None,
    ) -> Member:
        """
        Removes a member. Their tokens no longer have roles in this tenant.

        member_id: The member's id.
        """
        return await self._call(REMOVE, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Member]:
        """
        Lists the members of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())

    def list_tenant_members(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Member]:
        """
        Lists members at the deprecated path.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_TENANT_MEMBERS, locals())
