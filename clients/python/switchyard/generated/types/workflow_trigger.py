# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _WorkflowTriggerRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The environment of the runs.
    environment_id: str
    #: The name, unique in the environment.
    name: str
    #: The key or the id of the definition.
    definition: str
    #: The version; 0 for the version that is active when a run starts.
    version: int
    #: Whether it starts runs.
    enabled: bool
    #: Why it is not enabled: manual, or failing after 20 permanent failures in a row; empty if it is enabled.
    disabled_reason: str
    #: The run key: a template like the input; empty for runs without a key.
    run_key: str
    #: The run that it started last; empty if it never did.
    last_run_id: str
    #: Why it last did not start a run; empty after a successful start.
    last_error: str
    #: The number of permanent failures since the last successful start.
    consecutive_failures: int
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class WorkflowTrigger(_WorkflowTriggerRequired, total=False):
    """Starts runs of a definition: at the times of its schedule, or for each event that matches."""

    #: The times at which runs start; absent for an event trigger.
    schedule: WorkflowSchedule
    #: The events for which runs start; absent for a schedule.
    event: WorkflowEventFilter
    #: The input of the runs: a template that may use schedule.time, or event.
    input: Any
    #: The next time of the schedule; absent if there is none.
    next_at: str
    #: When it last started a run.
    last_fired_at: str
    #: When it last started nothing because another run was in progress.
    last_skipped_at: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class _WorkflowScheduleRequired(TypedDict):
    #: A cron expression with five fields, or six with seconds first: minute, hour, day of month, month, day of week.
    cron: str
    #: The IANA time zone of the expression (for example: Europe/Berlin); UTC when empty. A local time that does not exist runs right after, and one that occurs twice runs once. An expression for every hour runs by elapsed time.
    timezone: str
    #: What happens while a run of the trigger is in progress: skip (default), allow, cancel_running, or queue_one, which starts one run when the others have ended.
    overlap: str
    #: Delays all starts of the trigger by the same part of this time, so that triggers with the same times spread.
    jitter_s: int


class WorkflowSchedule(_WorkflowScheduleRequired, total=False):
    """The times at which runs start."""

    #: No run starts before this time.
    start_at: str
    #: No run starts after this time.
    end_at: str
    #: How late a missed time may still start a run; default 60. Of several missed times, only the last one starts a run.
    catch_up_s: int


class WorkflowEventFilter(TypedDict):
    """The events for which runs start: those of the environment of the trigger, and those without an environment."""

    #: Exact types, and families such as queue.item.*. Events of runs of the trigger's own definition never start a run.
    types: List[str]
    #: CEL over event (id, type, subject, time, data); always true when empty. An error counts as false.
    condition: str


class _WorkflowScheduleInputRequired(TypedDict):
    #: A cron expression with five fields, or six with seconds first: minute, hour, day of month, month, day of week.
    cron: str


class WorkflowScheduleInput(_WorkflowScheduleInputRequired, total=False):
    """The times at which runs start."""

    #: The IANA time zone of the expression (for example: Europe/Berlin); UTC when empty. A local time that does not exist runs right after, and one that occurs twice runs once. An expression for every hour runs by elapsed time.
    timezone: str
    #: What happens while a run of the trigger is in progress: skip (default), allow, cancel_running, or queue_one, which starts one run when the others have ended.
    overlap: Literal["", "skip", "allow", "cancel_running", "queue_one"]
    #: Delays all starts of the trigger by the same part of this time, so that triggers with the same times spread.
    jitter_s: int
    #: No run starts before this time.
    start_at: str | datetime
    #: No run starts after this time.
    end_at: str | datetime
    #: How late a missed time may still start a run; default 60. Of several missed times, only the last one starts a run.
    catch_up_s: int


class _WorkflowEventFilterInputRequired(TypedDict):
    #: Exact types, and families such as queue.item.*. Events of runs of the trigger's own definition never start a run.
    types: Sequence[str]


class WorkflowEventFilterInput(_WorkflowEventFilterInputRequired, total=False):
    """The events for which runs start: those of the environment of the trigger, and those without an environment."""

    #: CEL over event (id, type, subject, time, data); always true when empty. An error counts as false.
    condition: str


class FireWorkflowTriggerResponse(TypedDict):
    """The run of a trigger."""

    #: The run.
    run_id: str
    #: False if a run with the same run key was in progress: it is that run.
    started: bool


class _WorkflowTriggerEventRequired(TypedDict):
    #: The type.
    type: str


class WorkflowTriggerEvent(_WorkflowTriggerEventRequired, total=False):
    """An event, as the templates and the condition of a trigger see it."""

    #: The id; any text when empty.
    id: str
    #: What the event is about.
    subject: str
    #: When it happened; now when absent.
    time: str | datetime
    #: The data.
    data: Mapping[str, Any]


class _PreviewWorkflowTriggerResponseRequired(TypedDict):
    #: The next ten times of a schedule, without jitter.
    times: List[str]
    #: Whether a run would start: at the first of the times, or for the sample.
    starts: bool
    #: Why not, or why a template failed; empty if a run would start.
    reason: str
    #: The run key.
    run_key: str


class PreviewWorkflowTriggerResponse(_PreviewWorkflowTriggerResponseRequired, total=False):
    """What a trigger would do."""

    #: The input of the run.
    input: Any
