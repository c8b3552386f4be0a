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
    from ..types.dead_letter import DeadLetter, DeadLetterStats, PurgeDeadLettersResponse, QuarantineDeadLettersResponse, RetryAllDeadLettersResponse, RetryDeadLettersResponse

LIST = Operation("GET", "/api/dlq/{pool_id}", result="cursor")
GET_STATS = Operation("GET", "/api/dlq/{pool_id}/stats")
RETRY = Operation("POST", "/api/dlq/{pool_id}/retry", body="*", keyed=True)
RETRY_ALL = Operation("POST", "/api/dlq/{pool_id}/retry-all", body="*", keyed=True)
QUARANTINE = Operation("POST", "/api/dlq/{pool_id}/quarantine", body="*", keyed=True)
PURGE = Operation("POST", "/api/dlq/{pool_id}/purge", body="*", keyed=True)


class DeadLetterService(Service):
    """Dead letters: items whose last attempt failed. Those of a deleted pool can be read, quarantined and purged, but not retried."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str,
        state: Literal["", "failed", "retrying", "quarantined"] | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[DeadLetter]:
        """
        Lists the dead letters of a pool or of all pools, newest first. Quarantined ones are listed only on request.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: The pool; - for all pools.
        state: Only those in this state; failed when empty.
        environment_id: Only those of pools of this environment: its id or its key.
        """
        return self._call(LIST, locals())

    def get_stats(
        self,
        *,
        pool_id: str,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> DeadLetterStats:
        """
        Counts the dead letters of a pool or of all pools.

        pool_id: The pool; - for all pools.
        environment_id: Only those of pools of this environment: its id or its key.
        """
        return self._call(GET_STATS, locals())

    def retry(
        self,
        *,
        pool_id: str,
        queue_item_ids: Sequence[str],
        call: CallOptions | None = None,
    ) -> RetryDeadLettersResponse:
        """
        Retries the named items, up to the maximum number of retries.

        pool_id: The pool.
        queue_item_ids: The ids of the items. An id that is no dead letter of the pool is skipped as not_found.
        """
        return self._call(RETRY, locals())

    def retry_all(
        self,
        *,
        pool_id: str,
        max_items: int | None = None,
        call: CallOptions | None = None,
    ) -> RetryAllDeadLettersResponse:
        """
        Retries all items below their maximum number of retries, the oldest failures first. In a pool with admission constraints one call retries 500 at most: repeat it until retried_count is 0.

        pool_id: The pool.
        max_items: The maximum number of items; 10,000 when 0. In a pool with admission constraints never more than 500.
        """
        return self._call(RETRY_ALL, locals())

    def quarantine(
        self,
        *,
        pool_id: str,
        queue_item_ids: Sequence[str],
        release: bool | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> QuarantineDeadLettersResponse:
        """
        Quarantines items until someone has inspected them.

        pool_id: The pool.
        queue_item_ids: The ids of the items. An id that is no dead letter of the pool is skipped as not_found.
        release: Releases the items from quarantine instead.
        reason: The reason.
        """
        return self._call(QUARANTINE, locals())

    def purge(
        self,
        *,
        pool_id: str,
        older_than: str | datetime | None = None,
        include_quarantined: bool | None = None,
        call: CallOptions | None = None,
    ) -> PurgeDeadLettersResponse:
        """
        Deletes failed items with their work and their decisions.

        pool_id: The pool.
        older_than: Only items that failed before this time.
        include_quarantined: Also quarantined items.
        """
        return self._call(PURGE, locals())


class AsyncDeadLetterService(AsyncService):
    """Dead letters: items whose last attempt failed. Those of a deleted pool can be read, quarantined and purged, but not retried."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str,
        state: Literal["", "failed", "retrying", "quarantined"] | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[DeadLetter]:
        """
        Lists the dead letters of a pool or of all pools, newest first. Quarantined ones are listed only on request.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: The pool; - for all pools.
        state: Only those in this state; failed when empty.
        environment_id: Only those of pools of this environment: its id or its key.
        """
        return self._list(LIST, locals())

    async def get_stats(
        self,
        *,
        pool_id: str,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> DeadLetterStats:
        """
        Counts the dead letters of a pool or of all pools.

        pool_id: The pool; - for all pools.
        environment_id: Only those of pools of this environment: its id or its key.
        """
        return await self._call(GET_STATS, locals())

    async def retry(
        self,
        *,
        pool_id: str,
        queue_item_ids: Sequence[str],
        call: CallOptions | None = None,
    ) -> RetryDeadLettersResponse:
        """
        Retries the named items, up to the maximum number of retries.

        pool_id: The pool.
        queue_item_ids: The ids of the items. An id that is no dead letter of the pool is skipped as not_found.
        """
        return await self._call(RETRY, locals())

    async def retry_all(
        self,
        *,
        pool_id: str,
        max_items: int | None = None,
        call: CallOptions | None = None,
    ) -> RetryAllDeadLettersResponse:
        """
        Retries all items below their maximum number of retries, the oldest failures first. In a pool with admission constraints one call retries 500 at most: repeat it until retried_count is 0.

        pool_id: The pool.
        max_items: The maximum number of items; 10,000 when 0. In a pool with admission constraints never more than 500.
        """
        return await self._call(RETRY_ALL, locals())

    async def quarantine(
        self,
        *,
        pool_id: str,
        queue_item_ids: Sequence[str],
        release: bool | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> QuarantineDeadLettersResponse:
        """
        Quarantines items until someone has inspected them.

        pool_id: The pool.
        queue_item_ids: The ids of the items. An id that is no dead letter of the pool is skipped as not_found.
        release: Releases the items from quarantine instead.
        reason: The reason.
        """
        return await self._call(QUARANTINE, locals())

    async def purge(
        self,
        *,
        pool_id: str,
        older_than: str | datetime | None = None,
        include_quarantined: bool | None = None,
        call: CallOptions | None = None,
    ) -> PurgeDeadLettersResponse:
        """
        Deletes failed items with their work and their decisions.

        pool_id: The pool.
        older_than: Only items that failed before this time.
        include_quarantined: Also quarantined items.
        """
        return await self._call(PURGE, locals())
