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
    from ..types.operational_health import OperationalHealthReport, OperationalHealthScope

GET_REPORT = Operation("GET", "/api/operational-health/report")
LIST_SCOPES = Operation("GET", "/api/operational-health/scopes", result="cursor")


class OperationalHealthService(Service):
    """Operational health: whether an environment works as it should, why not, and what to do."""

    def get_report(
        self,
        *,
        environment: str | None = None,
        period: str | None = None,
        call: CallOptions | None = None,
    ) -> OperationalHealthReport:
        """
        Returns the health report of an environment: a verdict, the reasons for it and the next steps. Every client gets the same report. A report is cached for 15 seconds.

        environment: The key or the id of the environment; production if it is empty.
        period: The time to cover, for example "15m", "1h" or "7d"; one hour if it is empty. At least 5 minutes, and at most 7 days or the retention of workflow runs.
        """
        return self._call(GET_REPORT, locals())

    def list_scopes(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[OperationalHealthScope]:
        """
        Lists the scopes that the caller may get reports of: the environments of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_SCOPES, locals())


class AsyncOperationalHealthService(AsyncService):
    """Operational health: whether an environment works as it should, why not, and what to do."""

    async def get_report(
        self,
        *,
        environment: str | None = None,
        period: str | None = None,
        call: CallOptions | None = None,
    ) -> OperationalHealthReport:
        """
        Returns the health report of an environment: a verdict, the reasons for it and the next steps. Every client gets the same report. A report is cached for 15 seconds.

        environment: The key or the id of the environment; production if it is empty.
        period: The time to cover, for example "15m", "1h" or "7d"; one hour if it is empty. At least 5 minutes, and at most 7 days or the retention of workflow runs.
        """
        return await self._call(GET_REPORT, locals())

    def list_scopes(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[OperationalHealthScope]:
        """
        Lists the scopes that the caller may get reports of: the environments of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_SCOPES, locals())
