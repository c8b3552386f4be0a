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
    from ..types.plan import Plan, PlanTermsInput, PlanVersion

CREATE = Operation("POST", "/api/v2/billing/plans", body="*", keyed=True)
GET = Operation("GET", "/api/v2/billing/plans/{plan_key}")
LIST = Operation("GET", "/api/v2/billing/plans", result="cursor")
ARCHIVE = Operation("POST", "/api/v2/billing/plans/{plan_key}:archive", body="*", keyed=True)
CREATE_VERSION = Operation("POST", "/api/v2/billing/plans/{plan_key}/versions", body="*", keyed=True)
GET_VERSION = Operation("GET", "/api/v2/billing/plans/{plan_key}/versions/{version}")
LIST_VERSIONS = Operation("GET", "/api/v2/billing/plans/{plan_key}/versions", result="cursor")


class PlanService(Service):
    """Plans: what tenants can subscribe to. A plan has versions, which never change."""

    def create(
        self,
        *,
        key: str,
        name: str,
        description: str | None = None,
        self_service: bool | None = None,
        terms: PlanTermsInput,
        call: CallOptions | None = None,
    ) -> Plan:
        """
        Creates a plan with its first version. Only an operator may do so.

        key: The key, unique in the instance.
        name: The display name.
        description: A description.
        self_service: Whether tenants can subscribe to it themselves.
        terms: The terms of the first version.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        plan_key: str,
        call: CallOptions | None = None,
    ) -> Plan:
        """
        Returns a plan.

        plan_key: The key.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Plan]:
        """
        Lists the plans.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())

    def archive(
        self,
        *,
        plan_key: str,
        call: CallOptions | None = None,
    ) -> Plan:
        """
        Archives a plan: nobody can subscribe to it any more, and its subscriptions stay. Only an operator may do so.

        plan_key: The key.
        """
        return self._call(ARCHIVE, locals())

    def create_version(
        self,
        *,
        plan_key: str,
        terms: PlanTermsInput,
        call: CallOptions | None = None,
    ) -> PlanVersion:
        """
        Adds a version to a plan. Subscriptions to earlier versions keep them. Only an operator may do so.

        plan_key: The plan.
        terms: The terms of the version.
        """
        return self._call(CREATE_VERSION, locals())

    def get_version(
        self,
        *,
        plan_key: str,
        version: str,
        call: CallOptions | None = None,
    ) -> PlanVersion:
        """
        Returns a version of a plan.

        plan_key: The plan.
        version: The number of the version, or `latest`.
        """
        return self._call(GET_VERSION, locals())

    def list_versions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        plan_key: str,
        call: CallOptions | None = None,
    ) -> PagedList[PlanVersion]:
        """
        Lists the versions of a plan, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        plan_key: The plan.
        """
        return self._call(LIST_VERSIONS, locals())


class AsyncPlanService(AsyncService):
    """Plans: what tenants can subscribe to. A plan has versions, which never change."""

    async def create(
        self,
        *,
        key: str,
        name: str,
        description: str | None = None,
        self_service: bool | None = None,
        terms: PlanTermsInput,
        call: CallOptions | None = None,
    ) -> Plan:
        """
        Creates a plan with its first version. Only an operator may do so.

        key: The key, unique in the instance.
        name: The display name.
        description: A description.
        self_service: Whether tenants can subscribe to it themselves.
        terms: The terms of the first version.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        plan_key: str,
        call: CallOptions | None = None,
    ) -> Plan:
        """
        Returns a plan.

        plan_key: The key.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Plan]:
        """
        Lists the plans.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())

    async def archive(
        self,
        *,
        plan_key: str,
        call: CallOptions | None = None,
    ) -> Plan:
        """
        Archives a plan: nobody can subscribe to it any more, and its subscriptions stay. Only an operator may do so.

        plan_key: The key.
        """
        return await self._call(ARCHIVE, locals())

    async def create_version(
        self,
        *,
        plan_key: str,
        terms: PlanTermsInput,
        call: CallOptions | None = None,
    ) -> PlanVersion:
        """
        Adds a version to a plan. Subscriptions to earlier versions keep them. Only an operator may do so.

        plan_key: The plan.
        terms: The terms of the version.
        """
        return await self._call(CREATE_VERSION, locals())

    async def get_version(
        self,
        *,
        plan_key: str,
        version: str,
        call: CallOptions | None = None,
    ) -> PlanVersion:
        """
        Returns a version of a plan.

        plan_key: The plan.
        version: The number of the version, or `latest`.
        """
        return await self._call(GET_VERSION, locals())

    def list_versions(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        plan_key: str,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[PlanVersion]:
        """
        Lists the versions of a plan, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        plan_key: The plan.
        """
        return self._list(LIST_VERSIONS, locals())
