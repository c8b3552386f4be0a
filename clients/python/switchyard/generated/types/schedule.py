# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .routing import RouteItem


class _ScheduleRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The environment of the pool.
    environment_id: str
    #: The name, unique in the environment.
    name: str
    #: Whether it is paused.
    paused: bool
    #: Why it is paused: manual, or failing after 20 permanent failures in a row; empty if it is not paused.
    paused_reason: str
    #: Who paused it; empty if the service did.
    paused_by: str
    #: The item that it routed last; empty if it never did.
    last_item_id: str
    #: Why it last routed no item; empty after a success.
    last_error: str
    #: The number of permanent failures since the last success.
    consecutive_failures: int
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class Schedule(_ScheduleRequired, total=False):
    """Routes an item at each of its times."""

    #: The times.
    timing: ScheduleTiming
    #: The item that is routed. Its key, attributes and payload are templates that may use schedule.time, schedule.id and schedule.name.
    item: RouteItem
    #: The next time; absent if there is none.
    next_at: str
    #: When it last routed an item.
    last_fired_at: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class _ScheduleTimingRequired(TypedDict):
    #: A cron expression with five fields, or six with seconds first: minute, hour, day of month, month, day of week.
    cron: str
    #: The IANA time zone of the expression (for example: Europe/Berlin); UTC when empty. A local time that does not exist fires right after, and one that occurs twice fires once. An expression for every hour fires by elapsed time.
    timezone: str
    #: What happens while the item of an earlier run is unfinished: skip (default), allow, cancel_running, which cancels that item, or queue_one, which fires once when the item has ended.
    overlap: str
    #: Which of several missed times still fire: latest (default) fires once for the last of them, all fires for each.
    catch_up: str
    #: Delays all firings of the schedule by the same part of this time, so that schedules with the same times spread.
    jitter_s: int


class ScheduleTiming(_ScheduleTimingRequired, total=False):
    """The times of a schedule."""

    #: How late a missed time may still fire; default 60.
    catch_up_s: int
    #: It does not fire before this time.
    start_at: str
    #: It does not fire after this time.
    end_at: str


class _ScheduleTimingInputRequired(TypedDict):
    #: A cron expression with five fields, or six with seconds first: minute, hour, day of month, month, day of week.
    cron: str


class ScheduleTimingInput(_ScheduleTimingInputRequired, total=False):
    """The times of a schedule."""

    #: The IANA time zone of the expression (for example: Europe/Berlin); UTC when empty. A local time that does not exist fires right after, and one that occurs twice fires once. An expression for every hour fires by elapsed time.
    timezone: str
    #: What happens while the item of an earlier run is unfinished: skip (default), allow, cancel_running, which cancels that item, or queue_one, which fires once when the item has ended.
    overlap: Literal["", "skip", "allow", "cancel_running", "queue_one"]
    #: Which of several missed times still fire: latest (default) fires once for the last of them, all fires for each.
    catch_up: Literal["", "latest", "all"]
    #: How late a missed time may still fire; default 60.
    catch_up_s: int
    #: Delays all firings of the schedule by the same part of this time, so that schedules with the same times spread.
    jitter_s: int
    #: It does not fire before this time.
    start_at: str | datetime
    #: It does not fire after this time.
    end_at: str | datetime


class _ScheduleRunRequired(TypedDict):
    #: The id, a ULID. It follows from the schedule and its time, so that no time has two runs.
    id: str
    #: The schedule.
    schedule_id: str
    #: What fired it: schedule or manual.
    cause: str
    #: starting: the item is being routed. waiting: an earlier item is unfinished. routed: the item was accepted. skipped: an earlier item was unfinished, or a newer run replaced it before its item could be routed. missed: no node handled the time before catch_up_s had passed. failed: nothing was routed.
    state: str
    #: The item; empty if there is none.
    item_id: str
    #: The decision; empty if there is none.
    decision_id: str
    #: The outcome of the decision, such as routed, queued, held or deduplicated.
    outcome: str
    #: A stable code for the reason of a failure, also of the last attempt while the state is starting.
    error_code: str
    #: The reason of a failure.
    error_message: str


class ScheduleRun(_ScheduleRunRequired, total=False):
    """One firing of a schedule."""

    #: The time of the schedule, or when somebody fired it.
    time: str
    #: When the run was recorded.
    created_at: str
    #: When it got its final state.
    ended_at: str


class ListScheduleTimesResponse(TypedDict):
    """The next times."""

    #: The times, without jitter.
    times: List[str]


class _PreviewScheduleResponseRequired(TypedDict):
    #: The next times, without jitter.
    times: List[str]


class PreviewScheduleResponse(_PreviewScheduleResponseRequired, total=False):
    """What the schedule would do."""

    #: The item of the first time; absent if the request has no item, or if there are no times.
    item: RouteItem
