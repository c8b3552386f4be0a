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
    from ..types.event import Event

PUBLISH = Operation("POST", "/api/events", body="*", keyed=True)
GET = Operation("GET", "/api/events/{event_id}")
LIST = Operation("GET", "/api/events", result="cursor")
SUBSCRIBE = Operation("GET", "/api/events/subscribe", result="stream")


class EventService(Service):
    """The event log: what happened in a tenant, in order, as CloudEvents."""

    def publish(
        self,
        *,
        type: str,
        source: str | None = None,
        subject: str | None = None,
        time: str | datetime | None = None,
        data: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> Event:
        """
        Adds a custom event to the log.

        type: The event type: lower case, at least two parts separated by dots, and a first part that the service does not use itself (for example: order.paid).
        source: The source, a URI reference; "/custom" when empty.
        subject: The id of the record that the event is about.
        time: When it happened; the current time when absent.
        data: The details of the event, at most 64 KiB.
        """
        return self._call(PUBLISH, locals())

    def get(
        self,
        *,
        event_id: str,
        call: CallOptions | None = None,
    ) -> Event:
        """
        Returns one event.

        event_id: The event's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        types: Sequence[str] | None = None,
        subject: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Event]:
        """
        Lists events, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        types: Only events of these types; "tenant.*" matches all types with this prefix.
        subject: Only events about this subject.
        since: Only events at or after this time.
        until: Only events before this time.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._call(LIST, locals())

    def subscribe(
        self,
        *,
        cursor: str | None = None,
        types: Sequence[str] | None = None,
        subject: str | None = None,
        call: CallOptions | None = None,
    ) -> EventStream[Event]:
        """
        Follows the log: first the events after the cursor, then new events as they arrive.

        cursor: The id of the last received event; only new events when empty. REST also accepts it in Last-Event-ID.
        types: Only events of these types; "tenant.*" matches all types with this prefix.
        subject: Only events about this subject.
        """
        return self._call(SUBSCRIBE, locals())


class AsyncEventService(AsyncService):
    """The event log: what happened in a tenant, in order, as CloudEvents."""

    async def publish(
        self,
        *,
        type: str,
        source: str | None = None,
        subject: str | None = None,
        time: str | datetime | None = None,
        data: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> Event:
        """
        Adds a custom event to the log.

        type: The event type: lower case, at least two parts separated by dots, and a first part that the service does not use itself (for example: order.paid).
        source: The source, a URI reference; "/custom" when empty.
        subject: The id of the record that the event is about.
        time: When it happened; the current time when absent.
        data: The details of the event, at most 64 KiB.
        """
        return await self._call(PUBLISH, locals())

    async def get(
        self,
        *,
        event_id: str,
        call: CallOptions | None = None,
    ) -> Event:
        """
        Returns one event.

        event_id: The event's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        types: Sequence[str] | None = None,
        subject: str | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Event]:
        """
        Lists events, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        types: Only events of these types; "tenant.*" matches all types with this prefix.
        subject: Only events about this subject.
        since: Only events at or after this time.
        until: Only events before this time.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._list(LIST, locals())

    def subscribe(
        self,
        *,
        cursor: str | None = None,
        types: Sequence[str] | None = None,
        subject: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncEventStream[Event]:
        """
        Follows the log: first the events after the cursor, then new events as they arrive.

        cursor: The id of the last received event; only new events when empty. REST also accepts it in Last-Event-ID.
        types: Only events of these types; "tenant.*" matches all types with this prefix.
        subject: Only events about this subject.
        """
        return self._stream(SUBSCRIBE, locals())
