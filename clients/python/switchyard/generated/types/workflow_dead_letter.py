# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .workflow_run import WorkflowReplayPlan, WorkflowRun


class _WorkflowDeadLetterRequired(TypedDict):
    #: The run that failed first. It names the dead letter.
    run_id: str
    #: The owning tenant.
    tenant_id: str
    #: The environment.
    environment_id: str
    #: The definition.
    definition_id: str
    #: The key of the definition.
    definition_key: str
    #: The version that failed last.
    version: int
    #: open, replayed, quarantined or discarded.
    state: str
    #: The code of the last failure.
    error_code: str
    #: The message of the last failure.
    error_message: str
    #: The id of the step that failed last; empty if no step failed.
    step: str
    #: The number of replays so far.
    replay_count: int
    #: The maximum number of replays.
    max_replays: int
    #: The latest replay; empty before the first. The next replay continues from this run.
    replay_run_id: str
    #: Why it was quarantined or discarded.
    reason: str
    #: Who replayed, quarantined, released or discarded it last.
    changed_by: str


class WorkflowDeadLetter(_WorkflowDeadLetterRequired, total=False):
    """A run that failed or timed out."""

    #: When it failed first.
    first_failed_at: str
    #: When it failed last.
    failed_at: str


class _WorkflowDeadLetterStatsRequired(TypedDict):
    #: The number of open ones, counted up to 10,000.
    open_count: int
    #: Whether counting stopped early.
    open_capped: bool
    #: The number of quarantined ones, counted up to 10,000.
    quarantined_count: int
    #: The number of open ones that have reached their maximum number of replays, among those counted.
    exhausted_count: int
    #: The open ones by error code, the most frequent first; 20 codes at most.
    by_error_code: List[WorkflowDeadLetterCount]


class WorkflowDeadLetterStats(_WorkflowDeadLetterStatsRequired, total=False):
    """Counts of dead letters."""

    #: When the open one that failed first failed, among those counted.
    oldest_failure_at: str


class WorkflowDeadLetterCount(TypedDict):
    """A number of dead letters."""

    #: The error code.
    error_code: str
    #: The number of open dead letters with it.
    count: int


class ReplayWorkflowDeadLetterResponse(TypedDict, total=False):
    """The replay."""

    #: The new run.
    run: WorkflowRun
    #: What it executes.
    plan: WorkflowReplayPlan
    #: The dead letter.
    dead_letter: WorkflowDeadLetter


class ReplayAllWorkflowDeadLettersResponse(TypedDict):
    """The result."""

    #: The number of started runs.
    replayed_count: int
    #: The number of dead letters that were not replayed.
    skipped_count: int
    #: Those that were not replayed, with the reason; 100 at most.
    skipped: List[SkippedWorkflowDeadLetter]
    #: The position to continue after; empty if there are no more.
    next: str


class SkippedWorkflowDeadLetter(TypedDict):
    """A dead letter that was not replayed."""

    #: The run that failed first.
    run_id: str
    #: A stable code: changed (somebody else has replayed, quarantined or discarded it), run_key_taken, quota_exceeded, history_expired or refused (the replay is not possible).
    reason: str
    #: What to do about it.
    message: str
