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
    from ..types.routing import RouteItemInput
    from ..types.schedule import ListScheduleTimesResponse, PreviewScheduleResponse, Schedule, ScheduleRun, ScheduleTimingInput

CREATE = Operation("POST", "/api/schedules", body="*", keyed=True)
GET = Operation("GET", "/api/schedules/{schedule_id}")
LIST = Operation("GET", "/api/schedules", result="cursor")
UPDATE = Operation("PATCH", "/api/schedules/{schedule_id}", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/schedules/{schedule_id}", keyed=True)
PAUSE = Operation("POST", "/api/schedules/{schedule_id}/pause", body="*", keyed=True)
RESUME = Operation("POST", "/api/schedules/{schedule_id}/resume", body="*", keyed=True)
FIRE = Operation("POST", "/api/schedules/{schedule_id}:fire", body="*", keyed=True)
LIST_TIMES = Operation("GET", "/api/schedules/{schedule_id}/times")
PREVIEW = Operation("POST", "/api/schedules:preview", body="*")
LIST_RUNS = Operation("GET", "/api/schedules/{schedule_id}/runs", result="cursor")
GET_RUN = Operation("GET", "/api/schedules/{schedule_id}/runs/{run_id}")


class ScheduleService(Service):
    """Schedules: items that are routed at the times of a cron expression."""

    def create(
        self,
        *,
        name: str,
        timing: ScheduleTimingInput,
        item: RouteItemInput,
        paused: bool | None = None,
        call: CallOptions | None = None,
    ) -> Schedule:
        """
        Creates a schedule. It routes items from now on.

        name: The name, unique in the environment of the pool.
        timing: The times.
        item: The item. It must name its pool, and has no not_before.
        paused: Creates the schedule paused.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        schedule_id: str,
        call: CallOptions | None = None,
    ) -> Schedule:
        """
        Returns one schedule.

        schedule_id: The schedule's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str | None = None,
        paused_only: bool | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Schedule]:
        """
        Lists the schedules of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: Only schedules of this pool.
        paused_only: Only schedules that are paused.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._call(LIST, locals())

    def update(
        self,
        *,
        schedule_id: str,
        name: str | None = None,
        timing: ScheduleTimingInput | None = None,
        item: RouteItemInput | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Schedule:
        """
        Changes the fields that are present. Times before the change do not fire.

        schedule_id: The schedule's id.
        name: The name, unique in the environment of the pool.
        timing: The times. They replace all earlier ones.
        item: The item. It replaces the earlier one.
        record_version: The version that the record must have.
        """
        return self._call(UPDATE, locals())

    def delete(
        self,
        *,
        schedule_id: str,
        call: CallOptions | None = None,
    ) -> Schedule:
        """
        Deletes a schedule and its runs. Items that it routed stay in their queues.

        schedule_id: The schedule's id.
        """
        return self._call(DELETE, locals())

    def pause(
        self,
        *,
        schedule_id: str,
        call: CallOptions | None = None,
    ) -> Schedule:
        """
        Pauses a schedule: its times pass without a run.

        schedule_id: The schedule's id.
        """
        return self._call(PAUSE, locals())

    def resume(
        self,
        *,
        schedule_id: str,
        call: CallOptions | None = None,
    ) -> Schedule:
        """
        Resumes a schedule. Times that passed meanwhile do not fire.

        schedule_id: The schedule's id.
        """
        return self._call(RESUME, locals())

    def fire(
        self,
        *,
        schedule_id: str,
        call: CallOptions | None = None,
    ) -> ScheduleRun:
        """
        Fires a schedule now, whether it is paused or not, and whatever its overlap policy is. The item is routed right after the call: read the run to learn the id of the item.

        schedule_id: The schedule's id.
        """
        return self._call(FIRE, locals())

    def list_times(
        self,
        *,
        schedule_id: str,
        count: int | None = None,
        after: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> ListScheduleTimesResponse:
        """
        Lists the next times of a schedule. A paused schedule has none.

        schedule_id: The schedule's id.
        count: How many times to list; 10 when 0.
        after: List times after this one; now when absent.
        """
        return self._call(LIST_TIMES, locals())

    def preview(
        self,
        *,
        timing: ScheduleTimingInput,
        item: RouteItemInput | None = None,
        count: int | None = None,
        after: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> PreviewScheduleResponse:
        """
        Shows the next times of a cron expression, and the first item. Nothing is stored and no item is routed.

        timing: The times.
        item: The item; optional.
        count: How many times to list; 10 when 0.
        after: List times after this one; now when absent.
        """
        return self._call(PREVIEW, locals())

    def list_runs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        schedule_id: str,
        state: Literal["", "starting", "waiting", "routed", "skipped", "missed", "failed"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ScheduleRun]:
        """
        Lists the last runs of a schedule, newest first. The last 200 are kept.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        schedule_id: The schedule's id.
        state: Only runs in this state.
        """
        return self._call(LIST_RUNS, locals())

    def get_run(
        self,
        *,
        schedule_id: str,
        run_id: str,
        call: CallOptions | None = None,
    ) -> ScheduleRun:
        """
        Returns one run of a schedule.

        schedule_id: The schedule's id.
        run_id: The run's id.
        """
        return self._call(GET_RUN, locals())


class AsyncScheduleService(AsyncService):
    """Schedules: items that are routed at the times of a cron expression."""

    async def create(
        self,
        *,
        name: str,
        timing: ScheduleTimingInput,
        item: RouteItemInput,
        paused: bool | None = None,
        call: CallOptions | None = None,
    ) -> Schedule:
        """
        Creates a schedule. It routes items from now on.

        name: The name, unique in the environment of the pool.
        timing: The times.
        item: The item. It must name its pool, and has no not_before.
        paused: Creates the schedule paused.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        schedule_id: str,
        call: CallOptions | None = None,
    ) -> Schedule:
        """
        Returns one schedule.

        schedule_id: The schedule's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str | None = None,
        paused_only: bool | None = None,
        environment_id: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Schedule]:
        """
        Lists the schedules of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: Only schedules of this pool.
        paused_only: Only schedules that are paused.
        environment_id: Only those of this environment: its id or its key.
        """
        return self._list(LIST, locals())

    async def update(
        self,
        *,
        schedule_id: str,
        name: str | None = None,
        timing: ScheduleTimingInput | None = None,
        item: RouteItemInput | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Schedule:
        """
        Changes the fields that are present. Times before the change do not fire.

        schedule_id: The schedule's id.
        name: The name, unique in the environment of the pool.
        timing: The times. They replace all earlier ones.
        item: The item. It replaces the earlier one.
        record_version: The version that the record must have.
        """
        return await self._call(UPDATE, locals())

    async def delete(
        self,
        *,
        schedule_id: str,
        call: CallOptions | None = None,
    ) -> Schedule:
        """
        Deletes a schedule and its runs. Items that it routed stay in their queues.

        schedule_id: The schedule's id.
        """
        return await self._call(DELETE, locals())

    async def pause(
        self,
        *,
        schedule_id: str,
        call: CallOptions | None = None,
    ) -> Schedule:
        """
        Pauses a schedule: its times pass without a run.

        schedule_id: The schedule's id.
        """
        return await self._call(PAUSE, locals())

    async def resume(
        self,
        *,
        schedule_id: str,
        call: CallOptions | None = None,
    ) -> Schedule:
        """
        Resumes a schedule. Times that passed meanwhile do not fire.

        schedule_id: The schedule's id.
        """
        return await self._call(RESUME, locals())

    async def fire(
        self,
        *,
        schedule_id: str,
        call: CallOptions | None = None,
    ) -> ScheduleRun:
        """
        Fires a schedule now, whether it is paused or not, and whatever its overlap policy is. The item is routed right after the call: read the run to learn the id of the item.

        schedule_id: The schedule's id.
        """
        return await self._call(FIRE, locals())

    async def list_times(
        self,
        *,
        schedule_id: str,
        count: int | None = None,
        after: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> ListScheduleTimesResponse:
        """
        Lists the next times of a schedule. A paused schedule has none.

        schedule_id: The schedule's id.
        count: How many times to list; 10 when 0.
        after: List times after this one; now when absent.
        """
        return await self._call(LIST_TIMES, locals())

    async def preview(
        self,
        *,
        timing: ScheduleTimingInput,
        item: RouteItemInput | None = None,
        count: int | None = None,
        after: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> PreviewScheduleResponse:
        """
        Shows the next times of a cron expression, and the first item. Nothing is stored and no item is routed.

        timing: The times.
        item: The item; optional.
        count: How many times to list; 10 when 0.
        after: List times after this one; now when absent.
        """
        return await self._call(PREVIEW, locals())

    def list_runs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        schedule_id: str,
        state: Literal["", "starting", "waiting", "routed", "skipped", "missed", "failed"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ScheduleRun]:
        """
        Lists the last runs of a schedule, newest first. The last 200 are kept.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        schedule_id: The schedule's id.
        state: Only runs in this state.
        """
        return self._list(LIST_RUNS, locals())

    async def get_run(
        self,
        *,
        schedule_id: str,
        run_id: str,
        call: CallOptions | None = None,
    ) -> ScheduleRun:
        """
        Returns one run of a schedule.

        schedule_id: The schedule's id.
        run_id: The run's id.
        """
        return await self._call(GET_RUN, locals())
