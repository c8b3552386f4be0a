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
    from ..types.analytics import AnalyticsCatalog, AnalyticsResult

QUERY = Operation("POST", "/api/v1/analytics/query", body="*")
GET_CATALOG = Operation("GET", "/api/v1/analytics/catalog")


class AnalyticsService(Service):
    """Analytics: the metrics of a tenant over time. Unless analytics.enabled is true, these operations do not exist."""

    def query(
        self,
        *,
        query: str,
        start: str | datetime | None = None,
        end: str | datetime | None = None,
        step_s: int | None = None,
        call: CallOptions | None = None,
    ) -> AnalyticsResult:
        """
        Queries metrics of the catalogue over a time range, in PromQL. Every selector is restricted to the caller's tenant.

        query: The query: metrics of the catalogue, its functions and aggregations, arithmetic, comparisons and and, or, unless. Not part of it: subqueries, offset, @, on, ignoring, and the label tenant_id.
        start: The start of the range; an hour before its end when absent.
        end: The end of the range; now when absent. At most 31 days after the start.
        step_s: Seconds between two points; chosen from the length of the range when 0. At most 11,000 points are computed.
        """
        return self._call(QUERY, locals())

    def get_catalog(
        self,
        *,
        call: CallOptions | None = None,
    ) -> AnalyticsCatalog:
        """Returns the metrics that can be queried, with the functions and the limits of queries."""
        return self._call(GET_CATALOG, locals())


class AsyncAnalyticsService(AsyncService):
    """Analytics: the metrics of a tenant over time. Unless analytics.enabled is true, these operations do not exist."""

    async def query(
        self,
        *,
        query: str,
        start: str | datetime | None = None,
        end: str | datetime | None = None,
        step_s: int | None = None,
        call: CallOptions | None = None,
    ) -> AnalyticsResult:
        """
        Queries metrics of the catalogue over a time range, in PromQL. Every selector is restricted to the caller's tenant.

        query: The query: metrics of the catalogue, its functions and aggregations, arithmetic, comparisons and and, or, unless. Not part of it: subqueries, offset, @, on, ignoring, and the label tenant_id.
        start: The start of the range; an hour before its end when absent.
        end: The end of the range; now when absent. At most 31 days after the start.
        step_s: Seconds between two points; chosen from the length of the range when 0. At most 11,000 points are computed.
        """
        return await self._call(QUERY, locals())

    async def get_catalog(
        self,
        *,
        call: CallOptions | None = None,
    ) -> AnalyticsCatalog:
        """Returns the metrics that can be queried, with the functions and the limits of queries."""
        return await self._call(GET_CATALOG, locals())
