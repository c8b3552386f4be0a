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
    from ..types.inbox import CountUnreadMessagesResponse, InboxMessage, MarkAllInboxMessagesResponse, MarkInboxMessagesResponse

LIST_MESSAGES = Operation("GET", "/api/v2/notification/subscribers/{subscriber_id}/inbox", result="cursor")
COUNT_UNREAD_MESSAGES = Operation("GET", "/api/v2/notification/subscribers/{subscriber_id}/inbox:unread")
WATCH = Operation("GET", "/api/v2/notification/subscribers/{subscriber_id}/inbox:watch", result="stream")
MARK_MESSAGE = Operation("POST", "/api/v2/notification/subscribers/{subscriber_id}/inbox/{message_id}:mark", body="*", keyed=True)
MARK_MESSAGES = Operation("POST", "/api/v2/notification/subscribers/{subscriber_id}/inbox:mark", body="*", keyed=True)
MARK_ALL_MESSAGES = Operation("POST", "/api/v2/notification/subscribers/{subscriber_id}/inbox:markAllRead", body="*", keyed=True)


class InboxService(Service):
    """Inboxes: messages of subscribers on the channel in_app."""

    def list_messages(
        self,
        *,
        subscriber_id: str,
        unread_only: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        unseen_only: bool | None = None,
        archived: bool | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[InboxMessage]:
        """
        Lists the messages of an inbox, newest first.

        subscriber_id: The subscriber.
        unread_only: Only unread messages.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        unseen_only: Only unseen messages.
        archived: Only archived messages; by default, only messages that are not archived.
        """
        return self._call(LIST_MESSAGES, locals())

    def count_unread_messages(
        self,
        *,
        subscriber_id: str,
        call: CallOptions | None = None,
    ) -> CountUnreadMessagesResponse:
        """
        Counts the unread and the unseen messages. Archived messages do not count.

        subscriber_id: The subscriber.
        """
        return self._call(COUNT_UNREAD_MESSAGES, locals())

    def watch(
        self,
        *,
        subscriber_id: str,
        cursor: str | None = None,
        changes: bool | None = None,
        call: CallOptions | None = None,
    ) -> EventStream[InboxMessage]:
        """
        Follows an inbox: returns messages as they arrive and, on request, messages whose state changes. REST returns server-sent events. With a cursor that is unknown, it starts with a snapshot: the newest 100 messages that are not archived.

        subscriber_id: The subscriber.
        cursor: The cursor of the last received message; only what is new when empty. REST also accepts it in Last-Event-ID. The id of a message is accepted, too. Any other value starts the stream with a snapshot.
        changes: Whether messages are also sent when they become seen, read or archived, or cease to be.
        """
        return self._call(WATCH, locals())

    def mark_message(
        self,
        *,
        subscriber_id: str,
        message_id: str,
        read: bool | None = None,
        seen: bool | None = None,
        archived: bool | None = None,
        call: CallOptions | None = None,
    ) -> InboxMessage:
        """
        Changes the state of a message: seen, read or archived. A message that is read is also seen. Without a state, the message is marked as read.

        subscriber_id: The subscriber.
        message_id: The message.
        read: Whether it was read. A message that is read is also seen.
        seen: Whether it was seen. A message that is unseen is also unread.
        archived: Whether it is archived.
        """
        return self._call(MARK_MESSAGE, locals())

    def mark_messages(
        self,
        *,
        subscriber_id: str,
        message_ids: Sequence[str] | None = None,
        read: bool | None = None,
        seen: bool | None = None,
        archived: bool | None = None,
        call: CallOptions | None = None,
    ) -> MarkInboxMessagesResponse:
        """
        Changes the state of several messages of an inbox, or of all of them.

        subscriber_id: The subscriber.
        message_ids: The messages; all messages of the inbox when empty. Ids that are not in the inbox are ignored.
        read: Whether they were read. A message that is read is also seen.
        seen: Whether they were seen. A message that is unseen is also unread.
        archived: Whether they are archived.
        """
        return self._call(MARK_MESSAGES, locals())

    def mark_all_messages(
        self,
        *,
        subscriber_id: str,
        call: CallOptions | None = None,
    ) -> MarkAllInboxMessagesResponse:
        """
        Marks all messages of an inbox as read.

        subscriber_id: The subscriber.
        """
        return self._call(MARK_ALL_MESSAGES, locals())


class AsyncInboxService(AsyncService):
    """Inboxes: messages of subscribers on the channel in_app."""

    def list_messages(
        self,
        *,
        subscriber_id: str,
        unread_only: bool | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        unseen_only: bool | None = None,
        archived: bool | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[InboxMessage]:
        """
        Lists the messages of an inbox, newest first.

        subscriber_id: The subscriber.
        unread_only: Only unread messages.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        unseen_only: Only unseen messages.
        archived: Only archived messages; by default, only messages that are not archived.
        """
        return self._list(LIST_MESSAGES, locals())

    async def count_unread_messages(
        self,
        *,
        subscriber_id: str,
        call: CallOptions | None = None,
    ) -> CountUnreadMessagesResponse:
        """
        Counts the unread and the unseen messages. Archived messages do not count.

        subscriber_id: The subscriber.
        """
        return await self._call(COUNT_UNREAD_MESSAGES, locals())

    def watch(
        self,
        *,
        subscriber_id: str,
        cursor: str | None = None,
        changes: bool | None = None,
        call: CallOptions | None = None,
    ) -> AsyncEventStream[InboxMessage]:
        """
        Follows an inbox: returns messages as they arrive and, on request, messages whose state changes. REST returns server-sent events. With a cursor that is unknown, it starts with a snapshot: the newest 100 messages that are not archived.

        subscriber_id: The subscriber.
        cursor: The cursor of the last received message; only what is new when empty. REST also accepts it in Last-Event-ID. The id of a message is accepted, too. Any other value starts the stream with a snapshot.
        changes: Whether messages are also sent when they become seen, read or archived, or cease to be.
        """
        return self._stream(WATCH, locals())

    async def mark_message(
        self,
        *,
        subscriber_id: str,
        message_id: str,
        read: bool | None = None,
        seen: bool | None = None,
        archived: bool | None = None,
        call: CallOptions | None = None,
    ) -> InboxMessage:
        """
        Changes the state of a message: seen, read or archived. A message that is read is also seen. Without a state, the message is marked as read.

        subscriber_id: The subscriber.
        message_id: The message.
        read: Whether it was read. A message that is read is also seen.
        seen: Whether it was seen. A message that is unseen is also unread.
        archived: Whether it is archived.
        """
        return await self._call(MARK_MESSAGE, locals())

    async def mark_messages(
        self,
        *,
        subscriber_id: str,
        message_ids: Sequence[str] | None = None,
        read: bool | None = None,
        seen: bool | None = None,
        archived: bool | None = None,
        call: CallOptions | None = None,
    ) -> MarkInboxMessagesResponse:
        """
        Changes the state of several messages of an inbox, or of all of them.

        subscriber_id: The subscriber.
        message_ids: The messages; all messages of the inbox when empty. Ids that are not in the inbox are ignored.
        read: Whether they were read. A message that is read is also seen.
        seen: Whether they were seen. A message that is unseen is also unread.
        archived: Whether they are archived.
        """
        return await self._call(MARK_MESSAGES, locals())

    async def mark_all_messages(
        self,
        *,
        subscriber_id: str,
        call: CallOptions | None = None,
    ) -> MarkAllInboxMessagesResponse:
        """
        Marks all messages of an inbox as read.

        subscriber_id: The subscriber.
        """
        return await self._call(MARK_ALL_MESSAGES, locals())
