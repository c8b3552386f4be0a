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
    from ..types.outbox import OutboxMessage

LIST_MESSAGES = Operation("GET", "/api/v2/notification/outbox", result="cursor")


class OutboxService(Service):
    """The outbox: messages that are stored for developers instead of being sent."""

    def list_messages(
        self,
        *,
        channel: Literal["", "email", "sms", "push", "chat"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[OutboxMessage]:
        """
        Lists the stored messages, newest first.

        channel: Only those of this channel.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_MESSAGES, locals())


class AsyncOutboxService(AsyncService):
    """The outbox: messages that are stored for developers instead of being sent."""

    def list_messages(
        self,
        *,
        channel: Literal["", "email", "sms", "push", "chat"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[OutboxMessage]:
        """
        Lists the stored messages, newest first.

        channel: Only those of this channel.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_MESSAGES, locals())
