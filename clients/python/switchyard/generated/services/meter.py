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
    from ..types.meter import GetUsageResponse, Meter, MeterAggregation, RecordUsageResponse, UsageEvent

CREATE = Operation("POST", "/api/v2/billing/meters", body="*", keyed=True)
GET = Operation("GET", "/api/v2/billing/meters/{meter_key}")
LIST = Operation("GET", "/api/v2/billing/meters", result="cursor")
ARCHIVE = Operation("POST", "/api/v2/billing/meters/{meter_key}:archive", body="*", keyed=True)
RECORD_USAGE = Operation("POST", "/api/v2/billing/usage", body="*", keyed=True)
GET_USAGE = Operation("GET", "/api/v2/billing/usage")


class MeterService(Service):
    """Meters: what is counted. The service counts its own meters; callers report usage of the others."""

    def create(
        self,
        *,
        key: str,
        name: str,
        aggregation: MeterAggregation,
        value_path: str | None = None,
        group_by: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> Meter:
        """
        Creates a meter. Only an operator may do so.

        key: The key, unique in the instance. Keys that start with `service.` are reserved.
        name: The display name.
        aggregation: How the usage of a time range follows from its records.
        value_path: The property that holds the value; empty if records hold it as their quantity.
        group_by: Properties by which usage is broken down.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        meter_key: str,
        call: CallOptions | None = None,
    ) -> Meter:
        """
        Returns a meter.

        meter_key: The key.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Meter]:
        """
        Lists the meters.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())

    def archive(
        self,
        *,
        meter_key: str,
        call: CallOptions | None = None,
    ) -> Meter:
        """
        Archives a meter: it accepts no more usage, and its usage stays. Only an operator may do so.

        meter_key: The key.
        """
        return self._call(ARCHIVE, locals())

    def record_usage(
        self,
        *,
        tenant_id: str | None = None,
        events: Sequence[UsageEvent],
        call: CallOptions | None = None,
    ) -> RecordUsageResponse:
        """
        Records usage of meters. Usage that is recorded already has no effect, so that a request can be repeated. A transaction id that is used again with another content is refused with TRANSACTION_ID_REUSED, and nothing of the call is recorded.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        events: The usage, at most 1,000 events.
        """
        return self._call(RECORD_USAGE, locals())

    def get_usage(
        self,
        *,
        tenant_id: str | None = None,
        meter_key: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> GetUsageResponse:
        """
        Returns the usage of meters in a time range.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        meter_key: Only this meter; all when empty.
        since: The start of the range; of the current billing period, or else of the calendar month, if absent.
        until: The end of the range, exclusive; now if absent.
        """
        return self._call(GET_USAGE, locals())


class AsyncMeterService(AsyncService):
    """Meters: what is counted. The service counts its own meters; callers report usage of the others."""

    async def create(
        self,
        *,
        key: str,
        name: str,
        aggregation: MeterAggregation,
        value_path: str | None = None,
        group_by: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> Meter:
        """
        Creates a meter. Only an operator may do so.

        key: The key, unique in the instance. Keys that start with `service.` are reserved.
        name: The display name.
        aggregation: How the usage of a time range follows from its records.
        value_path: The property that holds the value; empty if records hold it as their quantity.
        group_by: Properties by which usage is broken down.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        meter_key: str,
        call: CallOptions | None = None,
    ) -> Meter:
        """
        Returns a meter.

        meter_key: The key.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Meter]:
        """
        Lists the meters.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())

    async def archive(
        self,
        *,
        meter_key: str,
        call: CallOptions | None = None,
    ) -> Meter:
        """
        Archives a meter: it accepts no more usage, and its usage stays. Only an operator may do so.

        meter_key: The key.
        """
        return await self._call(ARCHIVE, locals())

    async def record_usage(
        self,
        *,
        tenant_id: str | None = None,
        events: Sequence[UsageEvent],
        call: CallOptions | None = None,
    ) -> RecordUsageResponse:
        """
        Records usage of meters. Usage that is recorded already has no effect, so that a request can be repeated. A transaction id that is used again with another content is refused with TRANSACTION_ID_REUSED, and nothing of the call is recorded.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        events: The usage, at most 1,000 events.
        """
        return await self._call(RECORD_USAGE, locals())

    async def get_usage(
        self,
        *,
        tenant_id: str | None = None,
        meter_key: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> GetUsageResponse:
        """
        Returns the usage of meters in a time range.

        tenant_id: The tenant; the caller's own when empty. Only an operator may name another.
        meter_key: Only this meter; all when empty.
        since: The start of the range; of the current billing period, or else of the calendar month, if absent.
        until: The end of the range, exclusive; now if absent.
        """
        return await self._call(GET_USAGE, locals())
