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
    from ..types.tenant import Quota, QuotaLimitInput, Tenant, TenantStatus

CREATE = Operation("POST", "/api/tenants", body="*", keyed=True)
GET = Operation("GET", "/api/tenants/{tenant_id}")
UPDATE = Operation("PATCH", "/api/tenants/{tenant_id}", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/tenants/{tenant_id}", keyed=True)
LIST = Operation("GET", "/api/tenants", result="cursor")
GET_QUOTA = Operation("GET", "/api/tenants/{tenant_id}/quota/{operation}")


class TenantService(Service):
    """Tenants: the units of isolation. Only the platform tenant sees and creates others."""

    def create(
        self,
        *,
        name: str,
        slug: str | None = None,
        plan: str | None = None,
        settings: Mapping[str, Any] | None = None,
        quotas: Mapping[str, QuotaLimitInput] | None = None,
        issue_admin_key: bool | None = None,
        call: CallOptions | None = None,
    ) -> Tenant:
        """
        Creates a tenant with its environments and, on request, its first admin key. Needs an admin of the platform tenant.

        name: The display name.
        slug: A short unique name; derived from the name when empty.
        plan: The plan, free text.
        settings: Free-form settings of the tenant.
        quotas: Daily limits by operation: api.call counts calls, route counts routed items, notification.trigger counts triggers (a trigger to a topic counts as one). Limits of workflow.run and connector.execute are stored, but nothing counts against them.
        issue_admin_key: Also creates an admin key of the new tenant; only this response contains it.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        tenant_id: str,
        call: CallOptions | None = None,
    ) -> Tenant:
        """
        Returns one tenant.

        tenant_id: The tenant's id.
        """
        return self._call(GET, locals())

    def update(
        self,
        *,
        tenant_id: str,
        name: str | None = None,
        plan: str | None = None,
        status: TenantStatus | None = None,
        settings: Mapping[str, Any] | None = None,
        quotas: Mapping[str, QuotaLimitInput] | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Tenant:
        """
        Changes the fields that are present. Only the platform tenant can change status, plan and quotas.

        tenant_id: The tenant's id.
        name: The display name.
        plan: The plan, free text.
        status: STATUS_ACTIVE or STATUS_SUSPENDED.
        settings: Replaces the settings.
        quotas: Replaces the limits of the operations named here; other limits stay.
        record_version: Makes the change conditional on this version.
        """
        return self._call(UPDATE, locals())

    def delete(
        self,
        *,
        tenant_id: str,
        call: CallOptions | None = None,
    ) -> Tenant:
        """
        Deletes a tenant: its callers are rejected immediately, and its data is purged after tenant.purge_after_days.

        tenant_id: The tenant's id.
        """
        return self._call(DELETE, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: TenantStatus | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Tenant]:
        """
        Lists the tenants that the caller may see: all for the platform tenant, only itself for any other.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        status: Only tenants in this status.
        """
        return self._call(LIST, locals())

    def get_quota(
        self,
        *,
        tenant_id: str,
        operation: Literal["api.call", "route", "notification.trigger", "workflow.run", "connector.execute", "experiment.assign", "experiment.score"],
        call: CallOptions | None = None,
    ) -> Quota:
        """
        Returns the remaining quota of a tenant for an operation today.

        tenant_id: The tenant's id.
        operation: The counted operation.
        """
        return self._call(GET_QUOTA, locals())


class AsyncTenantService(AsyncService):
    """Tenants: the units of isolation. Only the platform tenant sees and creates others."""

    async def create(
        self,
        *,
        name: str,
        slug: str | None = None,
        plan: str | None = None,
        settings: Mapping[str, Any] | None = None,
        quotas: Mapping[str, QuotaLimitInput] | None = None,
        issue_admin_key: bool | None = None,
        call: CallOptions | None = None,
    ) -> Tenant:
        """
        Creates a tenant with its environments and, on request, its first admin key. Needs an admin of the platform tenant.

        name: The display name.
        slug: A short unique name; derived from the name when empty.
        plan: The plan, free text.
        settings: Free-form settings of the tenant.
        quotas: Daily limits by operation: api.call counts calls, route counts routed items, notification.trigger counts triggers (a trigger to a topic counts as one). Limits of workflow.run and connector.execute are stored, but nothing counts against them.
        issue_admin_key: Also creates an admin key of the new tenant; only this response contains it.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        tenant_id: str,
        call: CallOptions | None = None,
    ) -> Tenant:
        """
        Returns one tenant.

        tenant_id: The tenant's id.
        """
        return await self._call(GET, locals())

    async def update(
        self,
        *,
        tenant_id: str,
        name: str | None = None,
        plan: str | None = None,
        status: TenantStatus | None = None,
        settings: Mapping[str, Any] | None = None,
        quotas: Mapping[str, QuotaLimitInput] | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Tenant:
        """
        Changes the fields that are present. Only the platform tenant can change status, plan and quotas.

        tenant_id: The tenant's id.
        name: The display name.
        plan: The plan, free text.
        status: STATUS_ACTIVE or STATUS_SUSPENDED.
        settings: Replaces the settings.
        quotas: Replaces the limits of the operations named here; other limits stay.
        record_version: Makes the change conditional on this version.
        """
        return await self._call(UPDATE, locals())

    async def delete(
        self,
        *,
        tenant_id: str,
        call: CallOptions | None = None,
    ) -> Tenant:
        """
        Deletes a tenant: its callers are rejected immediately, and its data is purged after tenant.purge_after_days.

        tenant_id: The tenant's id.
        """
        return await self._call(DELETE, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: TenantStatus | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Tenant]:
        """
        Lists the tenants that the caller may see: all for the platform tenant, only itself for any other.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        status: Only tenants in this status.
        """
        return self._list(LIST, locals())

    async def get_quota(
        self,
        *,
        tenant_id: str,
        operation: Literal["api.call", "route", "notification.trigger", "workflow.run", "connector.execute", "experiment.assign", "experiment.score"],
        call: CallOptions | None = None,
    ) -> Quota:
        """
        Returns the remaining quota of a tenant for an operation today.

        tenant_id: The tenant's id.
        operation: The counted operation.
        """
        return await self._call(GET_QUOTA, locals())
