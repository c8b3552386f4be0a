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
    from ..types.queue import DrainQueueResponse, Queue, QueueItem, QueueTotals

LIST = Operation("GET", "/api/queues", result="cursor")
GET_TOTALS = Operation("GET", "/api/queues:totals")
GET_STATUS = Operation("GET", "/api/queues/{pool_id}/status")
PAUSE = Operation("POST", "/api/queues/{pool_id}/pause", body="*", keyed=True)
RESUME = Operation("POST", "/api/queues/{pool_id}/resume", body="*", keyed=True)
DRAIN = Operation("POST", "/api/queues/{pool_id}/drain", body="*", keyed=True)
LIST_ITEMS = Operation("GET", "/api/queues/{pool_id}/items", result="cursor")
GET_ITEM = Operation("GET", "/api/queues/{pool_id}/items/{queue_item_id}")
CANCEL_ITEM = Operation("POST", "/api/queues/{pool_id}/items/{queue_item_id}/cancel", body="*", keyed=True)
ASSIGN_ITEM = Operation("POST", "/api/queues/{pool_id}/items/{queue_item_id}/assign", body="*", keyed=True)
RELEASE_ITEM = Operation("POST", "/api/queues/{pool_id}/items/{queue_item_id}/release", body="*", keyed=True)


class QueueService(Service):
    """Queues: the items that wait in pools, and the control of them."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        tenant_id: str | None = None,
        paused_only: bool | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Queue]:
        """
        Lists the queues of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        tenant_id: Only those of this tenant: the caller's own, or any one if the caller belongs to the platform tenant. Empty: the caller's own.
        paused_only: Only those that are paused.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._call(LIST, locals())

    def get_totals(
        self,
        *,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> QueueTotals:
        """
        Returns the sums of all queues that the caller may see, and the fullest ones.

        environment_id: Only queues of this environment: its id or its key.
        """
        return self._call(GET_TOTALS, locals())

    def get_status(
        self,
        *,
        pool_id: str,
        call: CallOptions | None = None,
    ) -> Queue:
        """
        Returns the status of a pool's queue.

        pool_id: The pool.
        """
        return self._call(GET_STATUS, locals())

    def pause(
        self,
        *,
        pool_id: str,
        reason: str | None = None,
        for_s: int | None = None,
        call: CallOptions | None = None,
    ) -> Queue:
        """
        Stops leasing items; new items are still accepted. With for_s, the queue is resumed by itself. A repeated call replaces the reason and the end.

        pool_id: The pool.
        reason: The reason.
        for_s: Seconds until it is resumed by itself; 0 if somebody has to resume it.
        """
        return self._call(PAUSE, locals())

    def resume(
        self,
        *,
        pool_id: str,
        call: CallOptions | None = None,
    ) -> Queue:
        """
        Resumes leasing items.

        pool_id: The pool.
        """
        return self._call(RESUME, locals())

    def drain(
        self,
        *,
        pool_id: str,
        max_items: int,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> DrainQueueResponse:
        """
        Removes waiting items without processing them, oldest first, up to a maximum.

        pool_id: The pool.
        max_items: Maximum number of items to remove.
        reason: The reason.
        """
        return self._call(DRAIN, locals())

    def list_items(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str,
        state: str | None = None,
        recipient_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[QueueItem]:
        """
        Lists the items of a pool's queue, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: The pool.
        state: Only those in this state.
        recipient_id: Only those of this recipient.
        """
        return self._call(LIST_ITEMS, locals())

    def get_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> QueueItem:
        """
        Returns one item of a queue. With wait_s, waits until the item has ended, and returns its current state at the latest after that time.

        pool_id: The pool.
        queue_item_id: The item.
        wait_s: Seconds to wait for the end of the item.
        """
        return self._call(GET_ITEM, locals())

    def cancel_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> QueueItem:
        """
        Cancels an unfinished item.

        pool_id: The pool.
        queue_item_id: The item.
        reason: The reason.
        """
        return self._call(CANCEL_ITEM, locals())

    def assign_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        recipient_id: str,
        call: CallOptions | None = None,
    ) -> QueueItem:
        """
        Assigns a waiting item to a recipient.

        pool_id: The pool.
        queue_item_id: The item.
        recipient_id: The recipient.
        """
        return self._call(ASSIGN_ITEM, locals())

    def release_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        reason: str | None = None,
        lease_token: str | None = None,
        call: CallOptions | None = None,
    ) -> QueueItem:
        """
        Ends the lease of an item and makes the item ready for another worker. No attempt is used up. The worker that had it can no longer complete it. With a lease token, only this lease is ended.

        pool_id: The pool.
        queue_item_id: The item.
        reason: The reason.
        lease_token: The token of the lease to end, or the call is refused with LEASE_LOST; any lease when empty.
        """
        return self._call(RELEASE_ITEM, locals())


class AsyncQueueService(AsyncService):
    """Queues: the items that wait in pools, and the control of them."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        tenant_id: str | None = None,
        paused_only: bool | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Queue]:
        """
        Lists the queues of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        tenant_id: Only those of this tenant: the caller's own, or any one if the caller belongs to the platform tenant. Empty: the caller's own.
        paused_only: Only those that are paused.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._list(LIST, locals())

    async def get_totals(
        self,
        *,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> QueueTotals:
        """
        Returns the sums of all queues that the caller may see, and the fullest ones.

        environment_id: Only queues of this environment: its id or its key.
        """
        return await self._call(GET_TOTALS, locals())

    async def get_status(
        self,
        *,
        pool_id: str,
        call: CallOptions | None = None,
    ) -> Queue:
        """
        Returns the status of a pool's queue.

        pool_id: The pool.
        """
        return await self._call(GET_STATUS, locals())

    async def pause(
        self,
        *,
        pool_id: str,
        reason: str | None = None,
        for_s: int | None = None,
        call: CallOptions | None = None,
    ) -> Queue:
        """
        Stops leasing items; new items are still accepted. With for_s, the queue is resumed by itself. A repeated call replaces the reason and the end.

        pool_id: The pool.
        reason: The reason.
        for_s: Seconds until it is resumed by itself; 0 if somebody has to resume it.
        """
        return await self._call(PAUSE, locals())

    async def resume(
        self,
        *,
        pool_id: str,
        call: CallOptions | None = None,
    ) -> Queue:
        """
        Resumes leasing items.

        pool_id: The pool.
        """
        return await self._call(RESUME, locals())

    async def drain(
        self,
        *,
        pool_id: str,
        max_items: int,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> DrainQueueResponse:
        """
        Removes waiting items without processing them, oldest first, up to a maximum.

        pool_id: The pool.
        max_items: Maximum number of items to remove.
        reason: The reason.
        """
        return await self._call(DRAIN, locals())

    def list_items(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str,
        state: str | None = None,
        recipient_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[QueueItem]:
        """
        Lists the items of a pool's queue, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: The pool.
        state: Only those in this state.
        recipient_id: Only those of this recipient.
        """
        return self._list(LIST_ITEMS, locals())

    async def get_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> QueueItem:
        """
        Returns one item of a queue. With wait_s, waits until the item has ended, and returns its current state at the latest after that time.

        pool_id: The pool.
        queue_item_id: The item.
        wait_s: Seconds to wait for the end of the item.
        """
        return await self._call(GET_ITEM, locals())

    async def cancel_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> QueueItem:
        """
        Cancels an unfinished item.

        pool_id: The pool.
        queue_item_id: The item.
        reason: The reason.
        """
        return await self._call(CANCEL_ITEM, locals())

    async def assign_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        recipient_id: str,
        call: CallOptions | None = None,
    ) -> QueueItem:
        """
        Assigns a waiting item to a recipient.

        pool_id: The pool.
        queue_item_id: The item.
        recipient_id: The recipient.
        """
        return await self._call(ASSIGN_ITEM, locals())

    async def release_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        reason: str | None = None,
        lease_token: str | None = None,
        call: CallOptions | None = None,
    ) -> QueueItem:
        """
        Ends the lease of an item and makes the item ready for another worker. No attempt is used up. The worker that had it can no longer complete it. With a lease token, only this lease is ended.

        pool_id: The pool.
        queue_item_id: The item.
        reason: The reason.
        lease_token: The token of the lease to end, or the call is refused with LEASE_LOST; any lease when empty.
        """
        return await self._call(RELEASE_ITEM, locals())
