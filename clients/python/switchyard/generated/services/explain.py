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
    from ..types.explain import Explanation

EXPLAIN = Operation("GET", "/api/explain/{id}")


class ExplainService(Service):
    """Explanations: what happened to something, why, and what it waits for."""

    def explain(
        self,
        *,
        id: str,
        about: str | None = None,
        call: CallOptions | None = None,
    ) -> Explanation:
        """
        Explains a routing decision, a queue item, a notification delivery, a notification run, a webhook delivery, a workflow run or an execution of a connector action by its id, whichever it is. The caller needs the scope that reads records of that kind.

        id: The id of a decision, a queue item, a notification delivery, a notification run, a workflow run or an execution. The webhook deliveries of an event have the id of the event.
        about: Whom the question is about: the id or the name of a recipient, or the id of a webhook endpoint. The explanation then says first why it did or did not get the item or the event.
        """
        return self._call(EXPLAIN, locals())


class AsyncExplainService(AsyncService):
    """Explanations: what happened to something, why, and what it waits for."""

    async def explain(
        self,
        *,
        id: str,
        about: str | None = None,
        call: CallOptions | None = None,
    ) -> Explanation:
        """
        Explains a routing decision, a queue item, a notification delivery, a notification run, a webhook delivery, a workflow run or an execution of a connector action by its id, whichever it is. The caller needs the scope that reads records of that kind.

        id: The id of a decision, a queue item, a notification delivery, a notification run, a workflow run or an execution. The webhook deliveries of an event have the id of the event.
        about: Whom the question is about: the id or the name of a recipient, or the id of a webhook endpoint. The explanation then says first why it did or did not get the item or the event.
        """
        return await self._call(EXPLAIN, locals())
