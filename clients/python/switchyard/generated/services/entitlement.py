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
    from ..types.entitlement import CheckEntitlementsResponse, EntitlementEvidence, EntitlementSnapshot, EntitlementSourceInput, GetEntitlementsResponse

GET = Operation("GET", "/api/v2/billing/entitlements")
CHECK = Operation("POST", "/api/v2/billing/entitlements:check", body="*")
ISSUE_SNAPSHOT = Operation("POST", "/api/v2/billing/entitlement-snapshots", body="*", keyed=True)
LIST_SNAPSHOTS = Operation("GET", "/api/v2/billing/entitlement-snapshots", result="cursor")
LIST_EVIDENCE = Operation("GET", "/api/v2/billing/entitlement-evidence", result="cursor")


class EntitlementService(Service):
    """Entitlements: what a tenant may use. Operations name the entitlement that they need."""

    def get(
        self,
        *,
        tenant_id: str | None = None,
        call: CallOptions | None = None,
    ) -> GetEntitlementsResponse:
        """
        Returns the entitlements of a tenant: its current snapshot.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        """
        return self._call(GET, locals())

    def check(
        self,
        *,
        tenant_id: str | None = None,
        items: Sequence[str],
        call: CallOptions | None = None,
    ) -> CheckEntitlementsResponse:
        """
        Evaluates entitlements as the authorization of a call does, without evidence.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        items: The entitlements.
        """
        return self._call(CHECK, locals())

    def issue_snapshot(
        self,
        *,
        tenant_id: str | None = None,
        source: EntitlementSourceInput,
        fresh_until: str | datetime | None = None,
        allow: Sequence[str] | None = None,
        deny: Sequence[str] | None = None,
        limits: Mapping[str, int] | None = None,
        call: CallOptions | None = None,
    ) -> EntitlementSnapshot:
        """
        Replaces the entitlements of a tenant. Only an operator may do so.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        source: Where it comes from.
        fresh_until: From then on it is stale; a day from now if absent.
        allow: Entitlements that the tenant has.
        deny: Entitlements that the tenant must not have. They must not be in allow.
        limits: Daily quotas, by operation.
        """
        return self._call(ISSUE_SNAPSHOT, locals())

    def list_snapshots(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        tenant_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[EntitlementSnapshot]:
        """
        Lists the snapshots of a tenant, newest first. The newest 100 are kept.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        """
        return self._call(LIST_SNAPSHOTS, locals())

    def list_evidence(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        tenant_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[EntitlementEvidence]:
        """
        Lists the evidence of a tenant, newest first: calls that were admitted without an entitlement, or denied. Equal calls of a minute are counted in one record.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        """
        return self._call(LIST_EVIDENCE, locals())


class AsyncEntitlementService(AsyncService):
    """Entitlements: what a tenant may use. Operations name the entitlement that they need."""

    async def get(
        self,
        *,
        tenant_id: str | None = None,
        call: CallOptions | None = None,
    ) -> GetEntitlementsResponse:
        """
        Returns the entitlements of a tenant: its current snapshot.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        """
        return await self._call(GET, locals())

    async def check(
        self,
        *,
        tenant_id: str | None = None,
        items: Sequence[str],
        call: CallOptions | None = None,
    ) -> CheckEntitlementsResponse:
        """
        Evaluates entitlements as the authorization of a call does, without evidence.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        items: The entitlements.
        """
        return await self._call(CHECK, locals())

    async def issue_snapshot(
        self,
        *,
        tenant_id: str | None = None,
        source: EntitlementSourceInput,
        fresh_until: str | datetime | None = None,
        allow: Sequence[str] | None = None,
        deny: Sequence[str] | None = None,
        limits: Mapping[str, int] | None = None,
        call: CallOptions | None = None,
    ) -> EntitlementSnapshot:
        """
        Replaces the entitlements of a tenant. Only an operator may do so.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        source: Where it comes from.
        fresh_until: From then on it is stale; a day from now if absent.
        allow: Entitlements that the tenant has.
        deny: Entitlements that the tenant must not have. They must not be in allow.
        limits: Daily quotas, by operation.
        """
        return await self._call(ISSUE_SNAPSHOT, locals())

    def list_snapshots(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        tenant_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[EntitlementSnapshot]:
        """
        Lists the snapshots of a tenant, newest first. The newest 100 are kept.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        """
        return self._list(LIST_SNAPSHOTS, locals())

    def list_evidence(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        tenant_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[EntitlementEvidence]:
        """
        Lists the evidence of a tenant, newest first: calls that were admitted without an entitlement, or denied. Equal calls of a minute are counted in one record.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        """
        return self._list(LIST_EVIDENCE, locals())
