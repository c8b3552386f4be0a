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
    from ..types.work import CompleteItemsResponse, CompletedItem, FailItemsResponse, FailedItem, Lease, LeaseItemsResponse, LeasedRef, WorkResponse, WorkResult

LEASE_ITEMS = Operation("POST", "/api/queues/{pool_id}/lease", body="*", keyed=True)
WORK = Operation("POST", "/api/queues/{pool_id}/work", body="*", result="stream")
HEARTBEAT_ITEM = Operation("POST", "/api/queues/{pool_id}/items/{queue_item_id}/heartbeat", body="*", keyed=True)
REPORT_ITEM_PROGRESS = Operation("POST", "/api/queues/{pool_id}/items/{queue_item_id}/progress", body="*", keyed=True)
COMPLETE_ITEM = Operation("POST", "/api/queues/{pool_id}/items/{queue_item_id}/complete", body="*", keyed=True)
FAIL_ITEM = Operation("POST", "/api/queues/{pool_id}/items/{queue_item_id}/fail", body="*", keyed=True)
COMPLETE_ITEMS = Operation("POST", "/api/queues/{pool_id}/items:complete", body="*", keyed=True)
FAIL_ITEMS = Operation("POST", "/api/queues/{pool_id}/items:fail", body="*", keyed=True)


class WorkService(Service):
    """Work: how workers lease items, extend leases and report results."""

    def lease_items(
        self,
        *,
        pool_id: str,
        max_items: int | None = None,
        wait_s: int | None = None,
        recipient_id: str | None = None,
        lease_s: int | None = None,
        completed: Sequence[CompletedItem] | None = None,
        failed: Sequence[FailedItem] | None = None,
        report_only: bool | None = None,
        released: Sequence[LeasedRef] | None = None,
        call: CallOptions | None = None,
    ) -> LeaseItemsResponse:
        """
        Reports finished items and leases the next ones, in one call. Reports are optional, and applied first: an item that ends or is given back makes room for the next one in the same call. Then items are leased, up to a maximum; if there are none, the call waits for items. The reports are committed before the wait and stay applied if the caller disconnects. A repeated report gets the first result.

        pool_id: The pool.
        max_items: The maximum number of items; 1 when 0. Large items are fewer: a response ends at about 2 MiB, and the rest stays ready.
        wait_s: Seconds to wait for items if there are none.
        recipient_id: Only items of this recipient. When empty, the items of all recipients, each within its recipient's capacity; in a pool without recipients, the items without requirements. Refused with RECIPIENT_REQUIRED where a recipient must be named: in first_accept pools with recipients, in pools with reservations, and in pools without recipients whose rules require or name one.
        lease_s: Seconds until the lease expires; the pool's value when 0.
        completed: Items that are done, applied before items are leased. An item with an invalid field gets INVALID_ARGUMENT as its own result. A body that cannot be decoded is rejected as a whole.
        failed: Failed attempts, applied before items are leased. They have their own results as well.
        report_only: Leases nothing: the call only applies its reports and does not wait. For a worker that stops.
        released: Items that the worker gives back, applied before items are leased. They are ready for any worker at once, and no attempt is used up. A repeated report gets LEASE_LOST, because the lease has ended.
        """
        return self._call(LEASE_ITEMS, locals())

    def work(
        self,
        *,
        pool_id: str,
        recipient_id: str | None = None,
        max_in_flight: int | None = None,
        lease_s: int | None = None,
        call: CallOptions | None = None,
    ) -> EventStream[WorkResponse]:
        """
        Streams leased items as they become ready. The worker's credit limits its unfinished items: an item uses one credit until it is completed, failed or cancelled, or its lease expires. Results are reported with the other calls, on any connection. A message contains all items that are available now, up to the free credit. If the worker disconnects, items that were not sent return to the queue at once, and items that were sent return when their leases expire.

        pool_id: The pool.
        recipient_id: Only items of this recipient. When empty, the items of the whole pool, as for LeaseItems.
        max_in_flight: The worker's credit: the most items of this stream that may be unfinished at a time; 10 when 0.
        lease_s: Seconds until the lease of an item expires; the pool's value when 0. Heartbeats extend it.
        """
        return self._call(WORK, locals())

    def heartbeat_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        lease_token: str,
        lease_s: int | None = None,
        call: CallOptions | None = None,
    ) -> Lease:
        """
        Extends the lease of an item.

        pool_id: The pool.
        queue_item_id: The item.
        lease_token: The token of the lease.
        lease_s: Seconds from now; the pool's value when 0.
        """
        return self._call(HEARTBEAT_ITEM, locals())

    def report_item_progress(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        lease_token: str,
        percent: float | None = None,
        note: str | None = None,
        lease_s: int | None = None,
        call: CallOptions | None = None,
    ) -> Lease:
        """
        Reports the progress of a leased item, and extends its lease like a heartbeat.

        pool_id: The pool.
        queue_item_id: The item.
        lease_token: The token of the lease.
        percent: How much of the work is done, in percent.
        note: A note for people.
        lease_s: Seconds from now until the lease expires; the pool's value when 0. A lease is never shortened.
        """
        return self._call(REPORT_ITEM_PROGRESS, locals())

    def complete_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        lease_token: str,
        cost: float | None = None,
        score: float | None = None,
        result: Any | None = None,
        call: CallOptions | None = None,
    ) -> WorkResult:
        """
        Reports that an item is done.

        pool_id: The pool.
        queue_item_id: The item.
        lease_token: The token of the lease.
        cost: The cost.
        score: A quality score.
        result: The result of the work, any JSON value of at most 64 KiB. It is stored with the item.
        """
        return self._call(COMPLETE_ITEM, locals())

    def fail_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        lease_token: str,
        retryable: bool | None = None,
        reason_code: str | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkResult:
        """
        Reports a failed attempt: the item is retried later or becomes a dead letter.

        pool_id: The pool.
        queue_item_id: The item.
        lease_token: The token of the lease.
        retryable: Whether a retry makes sense; default true.
        reason_code: A stable code for the reason.
        reason: The message for people.
        """
        return self._call(FAIL_ITEM, locals())

    def complete_items(
        self,
        *,
        pool_id: str,
        items: Sequence[LeasedRef],
        call: CallOptions | None = None,
    ) -> CompleteItemsResponse:
        """
        Reports that many items are done; each has its own result, in order.

        pool_id: The pool.
        items: The items. An item with an invalid field gets INVALID_ARGUMENT as its own result. A body that cannot be decoded is rejected as a whole.
        """
        return self._call(COMPLETE_ITEMS, locals())

    def fail_items(
        self,
        *,
        pool_id: str,
        items: Sequence[LeasedRef],
        retryable: bool | None = None,
        reason_code: str | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> FailItemsResponse:
        """
        Reports many failed attempts; each has its own result, in order.

        pool_id: The pool.
        items: The items. An item with an invalid field gets INVALID_ARGUMENT as its own result. A body that cannot be decoded is rejected as a whole.
        retryable: Whether a retry makes sense; default true.
        reason_code: A stable code for the reason.
        reason: The message for people.
        """
        return self._call(FAIL_ITEMS, locals())


class AsyncWorkService(AsyncService):
    """Work: how workers lease items, extend leases and report results."""

    async def lease_items(
        self,
        *,
        pool_id: str,
        max_items: int | None = None,
        wait_s: int | None = None,
        recipient_id: str | None = None,
        lease_s: int | None = None,
        completed: Sequence[CompletedItem] | None = None,
        failed: Sequence[FailedItem] | None = None,
        report_only: bool | None = None,
        released: Sequence[LeasedRef] | None = None,
        call: CallOptions | None = None,
    ) -> LeaseItemsResponse:
        """
        Reports finished items and leases the next ones, in one call. Reports are optional, and applied first: an item that ends or is given back makes room for the next one in the same call. Then items are leased, up to a maximum; if there are none, the call waits for items. The reports are committed before the wait and stay applied if the caller disconnects. A repeated report gets the first result.

        pool_id: The pool.
        max_items: The maximum number of items; 1 when 0. Large items are fewer: a response ends at about 2 MiB, and the rest stays ready.
        wait_s: Seconds to wait for items if there are none.
        recipient_id: Only items of this recipient. When empty, the items of all recipients, each within its recipient's capacity; in a pool without recipients, the items without requirements. Refused with RECIPIENT_REQUIRED where a recipient must be named: in first_accept pools with recipients, in pools with reservations, and in pools without recipients whose rules require or name one.
        lease_s: Seconds until the lease expires; the pool's value when 0.
        completed: Items that are done, applied before items are leased. An item with an invalid field gets INVALID_ARGUMENT as its own result. A body that cannot be decoded is rejected as a whole.
        failed: Failed attempts, applied before items are leased. They have their own results as well.
        report_only: Leases nothing: the call only applies its reports and does not wait. For a worker that stops.
        released: Items that the worker gives back, applied before items are leased. They are ready for any worker at once, and no attempt is used up. A repeated report gets LEASE_LOST, because the lease has ended.
        """
        return await self._call(LEASE_ITEMS, locals())

    def work(
        self,
        *,
        pool_id: str,
        recipient_id: str | None = None,
        max_in_flight: int | None = None,
        lease_s: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncEventStream[WorkResponse]:
        """
        Streams leased items as they become ready. The worker's credit limits its unfinished items: an item uses one credit until it is completed, failed or cancelled, or its lease expires. Results are reported with the other calls, on any connection. A message contains all items that are available now, up to the free credit. If the worker disconnects, items that were not sent return to the queue at once, and items that were sent return when their leases expire.

        pool_id: The pool.
        recipient_id: Only items of this recipient. When empty, the items of the whole pool, as for LeaseItems.
        max_in_flight: The worker's credit: the most items of this stream that may be unfinished at a time; 10 when 0.
        lease_s: Seconds until the lease of an item expires; the pool's value when 0. Heartbeats extend it.
        """
        return self._stream(WORK, locals())

    async def heartbeat_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        lease_token: str,
        lease_s: int | None = None,
        call: CallOptions | None = None,
    ) -> Lease:
        """
        Extends the lease of an item.

        pool_id: The pool.
        queue_item_id: The item.
        lease_token: The token of the lease.
        lease_s: Seconds from now; the pool's value when 0.
        """
        return await self._call(HEARTBEAT_ITEM, locals())

    async def report_item_progress(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        lease_token: str,
        percent: float | None = None,
        note: str | None = None,
        lease_s: int | None = None,
        call: CallOptions | None = None,
    ) -> Lease:
        """
        Reports the progress of a leased item, and extends its lease like a heartbeat.

        pool_id: The pool.
        queue_item_id: The item.
        lease_token: The token of the lease.
        percent: How much of the work is done, in percent.
        note: A note for people.
        lease_s: Seconds from now until the lease expires; the pool's value when 0. A lease is never shortened.
        """
        return await self._call(REPORT_ITEM_PROGRESS, locals())

    async def complete_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        lease_token: str,
        cost: float | None = None,
        score: float | None = None,
        result: Any | None = None,
        call: CallOptions | None = None,
    ) -> WorkResult:
        """
        Reports that an item is done.

        pool_id: The pool.
        queue_item_id: The item.
        lease_token: The token of the lease.
        cost: The cost.
        score: A quality score.
        result: The result of the work, any JSON value of at most 64 KiB. It is stored with the item.
        """
        return await self._call(COMPLETE_ITEM, locals())

    async def fail_item(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        lease_token: str,
        retryable: bool | None = None,
        reason_code: str | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> WorkResult:
        """
        Reports a failed attempt: the item is retried later or becomes a dead letter.

        pool_id: The pool.
        queue_item_id: The item.
        lease_token: The token of the lease.
        retryable: Whether a retry makes sense; default true.
        reason_code: A stable code for the reason.
        reason: The message for people.
        """
        return await self._call(FAIL_ITEM, locals())

    async def complete_items(
        self,
        *,
        pool_id: str,
        items: Sequence[LeasedRef],
        call: CallOptions | None = None,
    ) -> CompleteItemsResponse:
        """
        Reports that many items are done; each has its own result, in order.

        pool_id: The pool.
        items: The items. An item with an invalid field gets INVALID_ARGUMENT as its own result. A body that cannot be decoded is rejected as a whole.
        """
        return await self._call(COMPLETE_ITEMS, locals())

    async def fail_items(
        self,
        *,
        pool_id: str,
        items: Sequence[LeasedRef],
        retryable: bool | None = None,
        reason_code: str | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> FailItemsResponse:
        """
        Reports many failed attempts; each has its own result, in order.

        pool_id: The pool.
        items: The items. An item with an invalid field gets INVALID_ARGUMENT as its own result. A body that cannot be decoded is rejected as a whole.
        retryable: Whether a retry makes sense; default true.
        reason_code: A stable code for the reason.
        reason: The message for people.
        """
        return await self._call(FAIL_ITEMS, locals())
