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
    from ..types.suppression import Suppression

CREATE = Operation("POST", "/api/v2/notification/suppressions", body="*", keyed=True)
GET = Operation("GET", "/api/v2/notification/suppressions/{id}")
LIST = Operation("GET", "/api/v2/notification/suppressions", result="cursor")
DELETE = Operation("DELETE", "/api/v2/notification/suppressions/{id}", keyed=True)


class SuppressionService(Service):
    """Suppressions: addresses that no notification is sent to, whoever they belong to. Providers' reports add them, and callers can."""

    def create(
        self,
        *,
        channel: Literal["email", "sms", "push", "chat"],
        identity: str,
        note: str | None = None,
        call: CallOptions | None = None,
    ) -> Suppression:
        """
        Suppresses an address.

        channel: The channel.
        identity: The address or token.
        note: A note for people, such as who asked for it.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Suppression:
        """
        Returns one suppression.

        id: The suppression's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        channel: Literal["", "email", "sms", "push", "chat"] | None = None,
        identity: str | None = None,
        reason: Literal["", "bounced", "complained", "unsubscribed", "unreachable", "manual"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Suppression]:
        """
        Lists the suppressions of the caller's tenant, newest first.

        channel: Only those of this channel.
        identity: Only this address. Email addresses are compared without regard to case.
        reason: Only those with this reason.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())

    def delete(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Suppression:
        """
        Removes a suppression, so that notifications are sent to the address again.

        id: The suppression's id.
        """
        return self._call(DELETE, locals())


class AsyncSuppressionService(AsyncService):
    """Suppressions: addresses that no notification is sent to, whoever they belong to. Providers' reports add them, and callers can."""

    async def create(
        self,
        *,
        channel: Literal["email", "sms", "push", "chat"],
        identity: str,
        note: str | None = None,
        call: CallOptions | None = None,
    ) -> Suppression:
        """
        Suppresses an address.

        channel: The channel.
        identity: The address or token.
        note: A note for people, such as who asked for it.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Suppression:
        """
        Returns one suppression.

        id: The suppression's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        channel: Literal["", "email", "sms", "push", "chat"] | None = None,
        identity: str | None = None,
        reason: Literal["", "bounced", "complained", "unsubscribed", "unreachable", "manual"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Suppression]:
        """
        Lists the suppressions of the caller's tenant, newest first.

        channel: Only those of this channel.
        identity: Only this address. Email addresses are compared without regard to case.
        reason: Only those with this reason.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())

    async def delete(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Suppression:
        """
        Removes a suppression, so that notifications are sent to the address again.

        id: The suppression's id.
        """
        return await self._call(DELETE, locals())
