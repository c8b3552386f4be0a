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
    from ..types.anomaly import Anomaly

LIST = Operation("GET", "/api/anomalies", result="cursor")
GET = Operation("GET", "/api/anomalies/{anomaly_id}")


class AnomalyService(Service):
    """Anomalies: unusual outcomes of pools and their recipients."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str | None = None,
        recipient_id: str | None = None,
        method: Literal["", "zscore", "iqr", "rate_change", "pattern"] | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Anomaly]:
        """
        Lists anomalies, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: Only those of this pool.
        recipient_id: Only those of this recipient.
        method: Only those found by this method.
        environment_id: Only those of pools of this environment: its id or its key.
        """
        return self._call(LIST, locals())

    def get(
        self,
        *,
        anomaly_id: str,
        call: CallOptions | None = None,
    ) -> Anomaly:
        """
        Returns one anomaly.

        anomaly_id: The anomaly.
        """
        return self._call(GET, locals())


class AsyncAnomalyService(AsyncService):
    """Anomalies: unusual outcomes of pools and their recipients."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str | None = None,
        recipient_id: str | None = None,
        method: Literal["", "zscore", "iqr", "rate_change", "pattern"] | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Anomaly]:
        """
        Lists anomalies, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: Only those of this pool.
        recipient_id: Only those of this recipient.
        method: Only those found by this method.
        environment_id: Only those of pools of this environment: its id or its key.
        """
        return self._list(LIST, locals())

    async def get(
        self,
        *,
        anomaly_id: str,
        call: CallOptions | None = None,
    ) -> Anomaly:
        """
        Returns one anomaly.

        anomaly_id: The anomaly.
        """
        return await self._call(GET, locals())
