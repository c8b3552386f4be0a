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
    from ..types.bulk_operation import BulkOperation, BulkPreview, DeadLetterFilterInput, QueueItemFilterInput

PREVIEW_QUEUE_OPERATION = Operation("POST", "/api/queues/{pool_id}/bulk-operations:preview", body="*")
START_QUEUE_OPERATION = Operation("POST", "/api/queues/{pool_id}/bulk-operations", body="*", keyed=True)
PREVIEW_DEAD_LETTER_OPERATION = Operation("POST", "/api/dlq/{pool_id}/bulk-operations:preview", body="*")
START_DEAD_LETTER_OPERATION = Operation("POST", "/api/dlq/{pool_id}/bulk-operations", body="*", keyed=True)
GET = Operation("GET", "/api/bulk-operations/{operation_id}")
LIST = Operation("GET", "/api/bulk-operations", result="cursor")
CANCEL = Operation("POST", "/api/bulk-operations/{operation_id}/cancel", body="*", keyed=True)


class BulkOperationService(Service):
    """Bulk operations: cancel, requeue or retry all items that match a filter. They work in the background, in batches."""

    def preview_queue_operation(
        self,
        *,
        pool_id: str,
        action: Literal["cancel", "requeue"],
        filter: QueueItemFilterInput | None = None,
        call: CallOptions | None = None,
    ) -> BulkPreview:
        """
        Counts the items that a bulk operation would change. Nothing is changed.

        pool_id: The pool.
        action: cancel ends unfinished items. requeue makes leased items and items that wait for a retry ready: the leases end, and no attempt is used up.
        filter: The items; all items of the queue when absent.
        """
        return self._call(PREVIEW_QUEUE_OPERATION, locals())

    def start_queue_operation(
        self,
        *,
        pool_id: str,
        action: Literal["cancel", "requeue"],
        filter: QueueItemFilterInput | None = None,
        max_items: int | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> BulkOperation:
        """
        Starts to cancel or to requeue the items of a queue that match a filter and were enqueued before the call.

        pool_id: The pool.
        action: cancel ends unfinished items. requeue makes leased items and items that wait for a retry ready: the leases end, and no attempt is used up.
        filter: The items; all items of the queue when absent.
        max_items: The maximum number of items to change, oldest first; all when 0.
        reason: The reason. It is in the events of the items.
        """
        return self._call(START_QUEUE_OPERATION, locals())

    def preview_dead_letter_operation(
        self,
        *,
        pool_id: str,
        filter: DeadLetterFilterInput | None = None,
        call: CallOptions | None = None,
    ) -> BulkPreview:
        """
        Counts the dead letters that a bulk retry would requeue. Nothing is changed.

        pool_id: The pool.
        filter: The dead letters; all that can be retried when absent.
        """
        return self._call(PREVIEW_DEAD_LETTER_OPERATION, locals())

    def start_dead_letter_operation(
        self,
        *,
        pool_id: str,
        filter: DeadLetterFilterInput | None = None,
        max_items: int | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> BulkOperation:
        """
        Starts to retry the dead letters that match a filter and failed before the call, up to their maximum number of retries.

        pool_id: The pool.
        filter: The dead letters; all that can be retried when absent.
        max_items: The maximum number of items to retry; all when 0.
        reason: The reason.
        """
        return self._call(START_DEAD_LETTER_OPERATION, locals())

    def get(
        self,
        *,
        operation_id: str,
        call: CallOptions | None = None,
    ) -> BulkOperation:
        """
        Returns a bulk operation with its progress.

        operation_id: The operation's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str | None = None,
        state: Literal["", "queued", "running", "completed", "cancelled", "failed"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[BulkOperation]:
        """
        Lists bulk operations, newest first. Ended ones are kept for 30 days.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: Only operations on this pool.
        state: Only operations in this state.
        """
        return self._call(LIST, locals())

    def cancel(
        self,
        *,
        operation_id: str,
        call: CallOptions | None = None,
    ) -> BulkOperation:
        """
        Stops a bulk operation after its current batch. Changed items stay changed.

        operation_id: The operation's id.
        """
        return self._call(CANCEL, locals())


class AsyncBulkOperationService(AsyncService):
    """Bulk operations: cancel, requeue or retry all items that match a filter. They work in the background, in batches."""

    async def preview_queue_operation(
        self,
        *,
        pool_id: str,
        action: Literal["cancel", "requeue"],
        filter: QueueItemFilterInput | None = None,
        call: CallOptions | None = None,
    ) -> BulkPreview:
        """
        Counts the items that a bulk operation would change. Nothing is changed.

        pool_id: The pool.
        action: cancel ends unfinished items. requeue makes leased items and items that wait for a retry ready: the leases end, and no attempt is used up.
        filter: The items; all items of the queue when absent.
        """
        return await self._call(PREVIEW_QUEUE_OPERATION, locals())

    async def start_queue_operation(
        self,
        *,
        pool_id: str,
        action: Literal["cancel", "requeue"],
        filter: QueueItemFilterInput | None = None,
        max_items: int | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> BulkOperation:
        """
        Starts to cancel or to requeue the items of a queue that match a filter and were enqueued before the call.

        pool_id: The pool.
        action: cancel ends unfinished items. requeue makes leased items and items that wait for a retry ready: the leases end, and no attempt is used up.
        filter: The items; all items of the queue when absent.
        max_items: The maximum number of items to change, oldest first; all when 0.
        reason: The reason. It is in the events of the items.
        """
        return await self._call(START_QUEUE_OPERATION, locals())

    async def preview_dead_letter_operation(
        self,
        *,
        pool_id: str,
        filter: DeadLetterFilterInput | None = None,
        call: CallOptions | None = None,
    ) -> BulkPreview:
        """
        Counts the dead letters that a bulk retry would requeue. Nothing is changed.

        pool_id: The pool.
        filter: The dead letters; all that can be retried when absent.
        """
        return await self._call(PREVIEW_DEAD_LETTER_OPERATION, locals())

    async def start_dead_letter_operation(
        self,
        *,
        pool_id: str,
        filter: DeadLetterFilterInput | None = None,
        max_items: int | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> BulkOperation:
        """
        Starts to retry the dead letters that match a filter and failed before the call, up to their maximum number of retries.

        pool_id: The pool.
        filter: The dead letters; all that can be retried when absent.
        max_items: The maximum number of items to retry; all when 0.
        reason: The reason.
        """
        return await self._call(START_DEAD_LETTER_OPERATION, locals())

    async def get(
        self,
        *,
        operation_id: str,
        call: CallOptions | None = None,
    ) -> BulkOperation:
        """
        Returns a bulk operation with its progress.

        operation_id: The operation's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str | None = None,
        state: Literal["", "queued", "running", "completed", "cancelled", "failed"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[BulkOperation]:
        """
        Lists bulk operations, newest first. Ended ones are kept for 30 days.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: Only operations on this pool.
        state: Only operations in this state.
        """
        return self._list(LIST, locals())

    async def cancel(
        self,
        *,
        operation_id: str,
        call: CallOptions | None = None,
    ) -> BulkOperation:
        """
        Stops a bulk operation after its current batch. Changed items stay changed.

        operation_id: The operation's id.
        """
        return await self._call(CANCEL, locals())
