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
    from ..types.topic import AddTopicSubscribersResponse, RemoveTopicSubscribersResponse, Subscription, Topic, TopicImport

CREATE = Operation("POST", "/api/v2/notification/topics", body="*", keyed=True)
GET = Operation("GET", "/api/v2/notification/topics/{key}")
LIST = Operation("GET", "/api/v2/notification/topics", result="cursor")
UPDATE = Operation("PUT", "/api/v2/notification/topics/{key}", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/v2/notification/topics/{key}", keyed=True)
ADD_SUBSCRIBERS = Operation("POST", "/api/v2/notification/topics/{key}/subscribers", body="*", keyed=True)
IMPORT_SUBSCRIBERS = Operation("POST", "/api/v2/notification/topics/{key}/subscribers:import", body="*", keyed=True)
GET_IMPORT = Operation("GET", "/api/v2/notification/topics/{key}/imports/{import_id}")
CANCEL_IMPORT = Operation("POST", "/api/v2/notification/topics/{key}/imports/{import_id}:cancel", body="*", keyed=True)
REMOVE_SUBSCRIBERS = Operation("POST", "/api/v2/notification/topics/{key}/subscribers:remove", body="*", keyed=True)
LIST_SUBSCRIBERS = Operation("GET", "/api/v2/notification/topics/{key}/subscribers", result="cursor")


class TopicService(Service):
    """Topics: named sets of subscribers to notify together."""

    def create(
        self,
        *,
        key: str,
        name: str | None = None,
        description: str | None = None,
        call: CallOptions | None = None,
    ) -> Topic:
        """
        Creates a topic.

        key: The key, unique in the tenant: lower-case letters and digits, separated by single dots or underscores (for example: releases.web).
        name: The display name; the key when empty.
        description: The description.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> Topic:
        """
        Returns one topic.

        key: The topic's key.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Topic]:
        """
        Lists the topics of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST, locals())

    def update(
        self,
        *,
        key: str,
        name: str | None = None,
        description: str | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Topic:
        """
        Replaces a topic's name and description. Its key never changes.

        key: The topic's key.
        name: The display name; the key when empty.
        description: The description.
        record_version: Makes the change conditional on this version.
        """
        return self._call(UPDATE, locals())

    def delete(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> Topic:
        """
        Deletes a topic and all subscriptions to it. Earlier broadcasts still reach the members at that time.

        key: The topic's key.
        """
        return self._call(DELETE, locals())

    def add_subscribers(
        self,
        *,
        key: str,
        subscriber_ids: Sequence[str],
        context_keys: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> AddTopicSubscribersResponse:
        """
        Adds up to 1,000 subscribers to a topic: all of them or none. The context keys of existing members are replaced.

        key: The topic's key.
        subscriber_ids: The subscribers, each by its id or its external id. An unknown one is rejected, and nobody is added.
        context_keys: Their context keys in the topic; default none.
        """
        return self._call(ADD_SUBSCRIBERS, locals())

    def import_subscribers(
        self,
        *,
        key: str,
        subscriber_ids: Sequence[str],
        context_keys: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> TopicImport:
        """
        Adds up to 10,000 subscribers to a topic in the background, in batches of 500. Unknown subscribers are counted and skipped. The import reports its progress.

        key: The topic's key.
        subscriber_ids: The subscribers, each by its id or its external id.
        context_keys: Their context keys in the topic; default none.
        """
        return self._call(IMPORT_SUBSCRIBERS, locals())

    def get_import(
        self,
        *,
        key: str,
        import_id: str,
        call: CallOptions | None = None,
    ) -> TopicImport:
        """
        Returns the progress of an import. Imports are kept for seven days after they end.

        key: The topic's key.
        import_id: The import's id.
        """
        return self._call(GET_IMPORT, locals())

    def cancel_import(
        self,
        *,
        key: str,
        import_id: str,
        call: CallOptions | None = None,
    ) -> TopicImport:
        """
        Cancels an import: no further subscriber is added. Those that were added stay. An import that has ended is refused.

        key: The topic's key.
        import_id: The import's id.
        """
        return self._call(CANCEL_IMPORT, locals())

    def remove_subscribers(
        self,
        *,
        key: str,
        subscriber_ids: Sequence[str],
        call: CallOptions | None = None,
    ) -> RemoveTopicSubscribersResponse:
        """
        Removes up to 1,000 subscribers from a topic. Subscribers that are not in it are ignored.

        key: The topic's key.
        subscriber_ids: The subscribers, each by its id or its external id. Subscribers that are not in the topic are ignored.
        """
        return self._call(REMOVE_SUBSCRIBERS, locals())

    def list_subscribers(
        self,
        *,
        key: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Subscription]:
        """
        Lists the subscribers of a topic.

        key: The topic's key.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_SUBSCRIBERS, locals())


class AsyncTopicService(AsyncService):
    """Topics: named sets of subscribers to notify together."""

    async def create(
        self,
        *,
        key: str,
        name: str | None = None,
        description: str | None = None,
        call: CallOptions | None = None,
    ) -> Topic:
        """
        Creates a topic.

        key: The key, unique in the tenant: lower-case letters and digits, separated by single dots or underscores (for example: releases.web).
        name: The display name; the key when empty.
        description: The description.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> Topic:
        """
        Returns one topic.

        key: The topic's key.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Topic]:
        """
        Lists the topics of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST, locals())

    async def update(
        self,
        *,
        key: str,
        name: str | None = None,
        description: str | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Topic:
        """
        Replaces a topic's name and description. Its key never changes.

        key: The topic's key.
        name: The display name; the key when empty.
        description: The description.
        record_version: Makes the change conditional on this version.
        """
        return await self._call(UPDATE, locals())

    async def delete(
        self,
        *,
        key: str,
        call: CallOptions | None = None,
    ) -> Topic:
        """
        Deletes a topic and all subscriptions to it. Earlier broadcasts still reach the members at that time.

        key: The topic's key.
        """
        return await self._call(DELETE, locals())

    async def add_subscribers(
        self,
        *,
        key: str,
        subscriber_ids: Sequence[str],
        context_keys: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> AddTopicSubscribersResponse:
        """
        Adds up to 1,000 subscribers to a topic: all of them or none. The context keys of existing members are replaced.

        key: The topic's key.
        subscriber_ids: The subscribers, each by its id or its external id. An unknown one is rejected, and nobody is added.
        context_keys: Their context keys in the topic; default none.
        """
        return await self._call(ADD_SUBSCRIBERS, locals())

    async def import_subscribers(
        self,
        *,
        key: str,
        subscriber_ids: Sequence[str],
        context_keys: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> TopicImport:
        """
        Adds up to 10,000 subscribers to a topic in the background, in batches of 500. Unknown subscribers are counted and skipped. The import reports its progress.

        key: The topic's key.
        subscriber_ids: The subscribers, each by its id or its external id.
        context_keys: Their context keys in the topic; default none.
        """
        return await self._call(IMPORT_SUBSCRIBERS, locals())

    async def get_import(
        self,
        *,
        key: str,
        import_id: str,
        call: CallOptions | None = None,
    ) -> TopicImport:
        """
        Returns the progress of an import. Imports are kept for seven days after they end.

        key: The topic's key.
        import_id: The import's id.
        """
        return await self._call(GET_IMPORT, locals())

    async def cancel_import(
        self,
        *,
        key: str,
        import_id: str,
        call: CallOptions | None = None,
    ) -> TopicImport:
        """
        Cancels an import: no further subscriber is added. Those that were added stay. An import that has ended is refused.

        key: The topic's key.
        import_id: The import's id.
        """
        return await self._call(CANCEL_IMPORT, locals())

    async def remove_subscribers(
        self,
        *,
        key: str,
        subscriber_ids: Sequence[str],
        call: CallOptions | None = None,
    ) -> RemoveTopicSubscribersResponse:
        """
        Removes up to 1,000 subscribers from a topic. Subscribers that are not in it are ignored.

        key: The topic's key.
        subscriber_ids: The subscribers, each by its id or its external id. Subscribers that are not in the topic are ignored.
        """
        return await self._call(REMOVE_SUBSCRIBERS, locals())

    def list_subscribers(
        self,
        *,
        key: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Subscription]:
        """
        Lists the subscribers of a topic.

        key: The topic's key.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_SUBSCRIBERS, locals())
