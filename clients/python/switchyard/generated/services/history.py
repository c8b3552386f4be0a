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
    from ..types.history import History

GET = Operation("GET", "/api/history")


class HistoryService(Service):
    """History: coarse counts of pools, workflows and notification channels over the last seven days, for charts."""

    def get(
        self,
        *,
        source: Literal["pool", "workflow", "channel"],
        source_id: str | None = None,
        range: Literal["", "15m", "1h", "24h", "7d"] | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> History:
        """
        Returns the counts of one pool, workflow or channel over a time range that ends now, or the sums of all that the caller may see, with what happened in that time. Points of pools are complete to about a minute ago, the others to about ten seconds.

        source: pool, workflow or channel.
        source_id: The id of the pool, the id or the key of the workflow, or the name of the channel, such as email; the sums of all when empty.
        range: The time range: 15m and 1h have a point for each minute, 24h one for ten minutes, 7d one for an hour. 1h when empty.
        environment_id: Only pools of this environment: its id or its key. Workflows and channels belong to no environment.
        """
        return self._call(GET, locals())


class AsyncHistoryService(AsyncService):
    """History: coarse counts of pools, workflows and notification channels over the last seven days, for charts."""

    async def get(
        self,
        *,
        source: Literal["pool", "workflow", "channel"],
        source_id: str | None = None,
        range: Literal["", "15m", "1h", "24h", "7d"] | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> History:
        """
        Returns the counts of one pool, workflow or channel over a time range that ends now, or the sums of all that the caller may see, with what happened in that time. Points of pools are complete to about a minute ago, the others to about ten seconds.

        source: pool, workflow or channel.
        source_id: The id of the pool, the id or the key of the workflow, or the name of the channel, such as email; the sums of all when empty.
        range: The time range: 15m and 1h have a point for each minute, 24h one for ten minutes, 7d one for an hour. 1h when empty.
        environment_id: Only pools of this environment: its id or its key. Workflows and channels belong to no environment.
        """
        return await self._call(GET, locals())
