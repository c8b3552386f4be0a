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
    from ..types.admission import AdmissionExplanation, AdmissionGroup, AdmissionPreview
    from ..types.routing import RouteItemInput

PREVIEW = Operation("POST", "/api/queues/{pool_id}:preview-admission", body="*")
EXPLAIN = Operation("GET", "/api/queues/{pool_id}/items/{queue_item_id}/admission-explanation")
LIST_GROUPS = Operation("GET", "/api/queues/admission-groups", result="cursor")
GET_GROUP = Operation("GET", "/api/queues/{pool_id}/admission-groups/{constraint_kind}/{group_id}")
CLEAR_GROUP = Operation("POST", "/api/queues/{pool_id}/admission-groups/{constraint_kind}/{group_id}:clear", body="*", keyed=True)


class AdmissionService(Service):
    """Admission: which items a queue accepts, and what holds an item."""

    def preview(
        self,
        *,
        pool_id: str,
        item: RouteItemInput,
        call: CallOptions | None = None,
    ) -> AdmissionPreview:
        """
        Previews what would happen to an item, without taking anything.

        pool_id: The pool.
        item: The item.
        """
        return self._call(PREVIEW, locals())

    def explain(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        call: CallOptions | None = None,
    ) -> AdmissionExplanation:
        """
        Explains what holds an item, and until when.

        pool_id: The pool.
        queue_item_id: The item.
        """
        return self._call(EXPLAIN, locals())

    def list_groups(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        pool_id: str | None = None,
        constraint_kind: Literal["", "singleton", "debounce", "throttle", "concurrency"] | None = None,
        status: Literal["", "open", "saturated", "cooling", "expired", "cleared"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[AdmissionGroup]:
        """
        Lists admission groups.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only those of this environment: its id or its key.
        pool_id: Only those of this pool.
        constraint_kind: Only those of this kind.
        status: Only those with this status.
        """
        return self._call(LIST_GROUPS, locals())

    def get_group(
        self,
        *,
        pool_id: str,
        constraint_kind: Literal["singleton", "debounce", "throttle", "concurrency"],
        group_id: str,
        call: CallOptions | None = None,
    ) -> AdmissionGroup:
        """
        Returns one admission group.

        pool_id: The pool.
        constraint_kind: singleton, debounce, throttle or concurrency.
        group_id: The group.
        """
        return self._call(GET_GROUP, locals())

    def clear_group(
        self,
        *,
        pool_id: str,
        constraint_kind: Literal["singleton", "debounce", "throttle", "concurrency"],
        group_id: str,
        reason: str,
        call: CallOptions | None = None,
    ) -> AdmissionGroup:
        """
        Clears a singleton, debounce or throttle group immediately, with a reason.

        pool_id: The pool.
        constraint_kind: singleton, debounce or throttle.
        group_id: The group.
        reason: The reason, which is stored.
        """
        return self._call(CLEAR_GROUP, locals())


class AsyncAdmissionService(AsyncService):
    """Admission: which items a queue accepts, and what holds an item."""

    async def preview(
        self,
        *,
        pool_id: str,
        item: RouteItemInput,
        call: CallOptions | None = None,
    ) -> AdmissionPreview:
        """
        Previews what would happen to an item, without taking anything.

        pool_id: The pool.
        item: The item.
        """
        return await self._call(PREVIEW, locals())

    async def explain(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        call: CallOptions | None = None,
    ) -> AdmissionExplanation:
        """
        Explains what holds an item, and until when.

        pool_id: The pool.
        queue_item_id: The item.
        """
        return await self._call(EXPLAIN, locals())

    def list_groups(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        environment_id: str | None = None,
        pool_id: str | None = None,
        constraint_kind: Literal["", "singleton", "debounce", "throttle", "concurrency"] | None = None,
        status: Literal["", "open", "saturated", "cooling", "expired", "cleared"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[AdmissionGroup]:
        """
        Lists admission groups.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        environment_id: Only those of this environment: its id or its key.
        pool_id: Only those of this pool.
        constraint_kind: Only those of this kind.
        status: Only those with this status.
        """
        return self._list(LIST_GROUPS, locals())

    async def get_group(
        self,
        *,
        pool_id: str,
        constraint_kind: Literal["singleton", "debounce", "throttle", "concurrency"],
        group_id: str,
        call: CallOptions | None = None,
    ) -> AdmissionGroup:
        """
        Returns one admission group.

        pool_id: The pool.
        constraint_kind: singleton, debounce, throttle or concurrency.
        group_id: The group.
        """
        return await self._call(GET_GROUP, locals())

    async def clear_group(
        self,
        *,
        pool_id: str,
        constraint_kind: Literal["singleton", "debounce", "throttle", "concurrency"],
        group_id: str,
        reason: str,
        call: CallOptions | None = None,
    ) -> AdmissionGroup:
        """
        Clears a singleton, debounce or throttle group immediately, with a reason.

        pool_id: The pool.
        constraint_kind: singleton, debounce or throttle.
        group_id: The group.
        reason: The reason, which is stored.
        """
        return await self._call(CLEAR_GROUP, locals())
