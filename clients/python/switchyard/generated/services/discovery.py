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
    from ..types.discovery import Capability, ListCapabilityPosturesResponse, ResolveNamesResponse, ServicesReport

GET_SERVICES_REPORT = Operation("GET", "/api/_meta/services")
LIST_CAPABILITY_POSTURES = Operation("GET", "/api/capabilities")
LIST_CAPABILITIES = Operation("GET", "/api/v2/capabilities", result="cursor")
GET_CAPABILITY = Operation("GET", "/api/v2/capabilities/{id}")
RESOLVE_NAMES = Operation("POST", "/api/v2/names:resolve", body="*")


class DiscoveryService(Service):
    """Discovery: what this instance offers, and in which state."""

    def get_services_report(
        self,
        *,
        call: CallOptions | None = None,
    ) -> ServicesReport:
        """Reports every mounted service and, for each method, its verb, path and scopes."""
        return self._call(GET_SERVICES_REPORT, locals())

    def list_capability_postures(
        self,
        *,
        call: CallOptions | None = None,
    ) -> ListCapabilityPosturesResponse:
        """Reports the posture of each feature."""
        return self._call(LIST_CAPABILITY_POSTURES, locals())

    def list_capabilities(
        self,
        *,
        include_disabled: bool | None = None,
        include_degraded: bool | None = None,
        include_missing_dependency: bool | None = None,
        modes: Sequence[Literal["active", "disabled", "unwired", "degraded"]] | None = None,
        query: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Capability]:
        """
        Lists the capabilities of the instance.

        include_disabled: Also capabilities that a setting disables.
        include_degraded: Also capabilities that run without a guarantee; default true.
        include_missing_dependency: Also capabilities with a missing dependency.
        modes: Only capabilities in one of these modes, regardless of the flags above.
        query: Only capabilities whose id or name contains this text.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_CAPABILITIES, locals())

    def get_capability(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Capability:
        """
        Returns one capability.

        id: The capability's id.
        """
        return self._call(GET_CAPABILITY, locals())

    def resolve_names(
        self,
        *,
        ids: Sequence[str],
        kinds: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> ResolveNamesResponse:
        """
        Returns what people call the records with some ids, such as the name of a recipient or of who did something. Records that the caller may not read, and unknown ids, are left out.

        ids: The ids of records of any kind, or who did something, such as key:01K… or member:01K….
        kinds: Only records of these kinds; all kinds when empty.
        """
        return self._call(RESOLVE_NAMES, locals())


class AsyncDiscoveryService(AsyncService):
    """Discovery: what this instance offers, and in which state."""

    async def get_services_report(
        self,
        *,
        call: CallOptions | None = None,
    ) -> ServicesReport:
        """Reports every mounted service and, for each method, its verb, path and scopes."""
        return await self._call(GET_SERVICES_REPORT, locals())

    async def list_capability_postures(
        self,
        *,
        call: CallOptions | None = None,
    ) -> ListCapabilityPosturesResponse:
        """Reports the posture of each feature."""
        return await self._call(LIST_CAPABILITY_POSTURES, locals())

    def list_capabilities(
        self,
        *,
        include_disabled: bool | None = None,
        include_degraded: bool | None = None,
        include_missing_dependency: bool | None = None,
        modes: Sequence[Literal["active", "disabled", "unwired", "degraded"]] | None = None,
        query: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Capability]:
        """
        Lists the capabilities of the instance.

        include_disabled: Also capabilities that a setting disables.
        include_degraded: Also capabilities that run without a guarantee; default true.
        include_missing_dependency: Also capabilities with a missing dependency.
        modes: Only capabilities in one of these modes, regardless of the flags above.
        query: Only capabilities whose id or name contains this text.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_CAPABILITIES, locals())

    async def get_capability(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Capability:
        """
        Returns one capability.

        id: The capability's id.
        """
        return await self._call(GET_CAPABILITY, locals())

    async def resolve_names(
        self,
        *,
        ids: Sequence[str],
        kinds: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> ResolveNamesResponse:
        """
        Returns what people call the records with some ids, such as the name of a recipient or of who did something. Records that the caller may not read, and unknown ids, are left out.

        ids: The ids of records of any kind, or who did something, such as key:01K… or member:01K….
        kinds: Only records of these kinds; all kinds when empty.
        """
        return await self._call(RESOLVE_NAMES, locals())
