# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _WorkflowRunRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The environment.
    environment_id: str
    #: The definition.
    definition_id: str
    #: The key of the definition.
    definition_key: str
    #: The version of the definition. It never changes.
    version: int
    #: The run key; empty if it has none.
    run_key: str
    #: pending, running, waiting, paused, succeeded, failed, cancelled or timed_out.
    status: str
    #: The steps in progress, in the order in which they started.
    active_steps: List[WorkflowRunStep]
    #: Who started it.
    started_by: str
    #: How it was started: api, schedule, event, replay, subworkflow or continue_as_new.
    started_via: str
    #: The run that waits for it; empty if none does.
    parent_run_id: str
    #: The run that it replays; empty if it is no replay.
    replay_of_run_id: str
    #: The number of advances so far.
    revision: int
    #: What it is about, such as a customer. They never change.
    attributes: Dict[str, str]
    #: The steps of an ended run whose compensation has failed and can be retried, with their positions in the maps around them.
    failed_compensations: List[str]
    #: The run that continues this one with a new input; empty if none does.
    continued_by_run_id: str
    #: The run that this one continues; empty if it continues none.
    continues_run_id: str


class WorkflowRun(_WorkflowRunRequired, total=False):
    """An execution of a published workflow definition."""

    #: The input.
    input: Any
    #: The output of a run that succeeded.
    output: Any
    #: Why it failed, timed out or was cancelled.
    error: WorkflowRunError
    #: The outputs of completed steps that later steps may read, by step.
    values: Dict[str, Any]
    #: When it was created.
    created_at: str
    #: When its first step started.
    started_at: str
    #: When it ended.
    ended_at: str
    #: When it times out.
    deadline: str
    #: When it continues by itself, if nothing happens before.
    wakes_at: str


class _WorkflowRunErrorRequired(TypedDict):
    #: A stable code.
    code: str
    #: A message for people.
    message: str
    #: The id of the step that failed; empty for the run itself.
    step: str


class WorkflowRunError(_WorkflowRunErrorRequired, total=False):
    """Why a run or a step failed."""

    #: Further data.
    details: Any


class _WorkflowRunStepRequired(TypedDict):
    #: The step, with its positions in the maps around it, such as ocr[3]. A compensation starts with a tilde.
    step: str
    #: What it does: task, effect, event, timer, approval, arm, catch, timeout, parallel or map.
    activity: str
    #: The current attempt; 0 if it has none.
    attempt: int
    #: The task of an external worker; empty if it has none.
    task_id: str
    #: The run that it waits for; empty if it waits for none.
    child_run_id: str


class WorkflowRunStep(_WorkflowRunStepRequired, total=False):
    """A step in progress."""

    #: When it started.
    since: str
    #: When something is due: the end of a timer or a wait, or the next attempt.
    due_at: str


class WorkflowReplayPlan(TypedDict):
    """What a replay executes, and what not."""

    #: The run that is replayed.
    run_id: str
    #: The version of the definition.
    version: int
    #: The step that it continues at: start for the beginning, empty if it continues where the run stopped.
    from_step: str
    #: The completed steps that are not executed again; 1000 at most.
    kept_steps: List[str]
    #: The number of completed steps that are not executed again.
    kept_count: int
    #: The steps that the run has started and that start again; 1000 at most.
    repeated_steps: List[str]
    #: The number of steps that start again.
    repeated_count: int
    #: The steps that start first; 1000 at most.
    continued_steps: List[str]


class _StartWorkflowRunResponseRequired(TypedDict):
    #: False if a run with this key was in progress already.
    started: bool
    #: The id of the event; empty if the request has none.
    event_id: str


class StartWorkflowRunResponse(_StartWorkflowRunResponseRequired, total=False):
    """The started run."""

    #: The run.
    run: WorkflowRun


class _StartSignalRequired(TypedDict):
    #: The name of the event.
    event: str


class StartSignal(_StartSignalRequired, total=False):
    """An event that is sent to a run when it starts, or when it is in progress already."""

    #: What it is about. Only a wait with the same scope takes it.
    scope: str
    #: Data for the run, at most 64 KiB as JSON.
    payload: Any
    #: Identifies the event: another one with the same id for the same run is ignored. A new id when empty.
    event_id: str


class SignalWorkflowRunResponse(TypedDict):
    """What became of the event."""

    #: The id of the event.
    event_id: str
    #: Whether an event with this id was sent to the run before.
    duplicate: bool


class SignalWorkflowRunByKeyResponse(TypedDict):
    """What became of the event."""

    #: The run that got the event.
    run_id: str
    #: The id of the event.
    event_id: str
    #: Whether an event with this id was sent to the run before.
    duplicate: bool


class _ApplyWorkflowRunUpdateResponseRequired(TypedDict):
    #: The id of the update.
    update_id: str
    #: Whether there is an answer. Without one, the run has taken the update, and a call with its id waits again.
    answered: bool
    #: Whether an update with this id was applied before.
    duplicate: bool


class ApplyWorkflowRunUpdateResponse(_ApplyWorkflowRunUpdateResponseRequired, total=False):
    """What became of the update."""

    #: The output of the step that answers.
    answer: Any


class ChangeWorkflowRunsResponse(TypedDict):
    """The result."""

    #: The number of runs that were changed.
    changed_count: int
    #: The number of runs that were not: those that were as requested already, or have ended meanwhile.
    unchanged_count: int
    #: The runs that refused the change, with the reason.
    refused: List[RefusedRunChange]
    #: The position to continue after; empty if there are no more.
    next: str


class RefusedRunChange(TypedDict):
    """A run that refused a change."""

    #: The run.
    run_id: str
    #: The code of the error.
    error_code: str
    #: The error.
    error_message: str


#: How runs are replayed together.
ReplayChoice = TypedDict(
    "ReplayChoice",
    {
        #: The version of the definition: each run's own when 0, the active one when -1.
        "version": "int",
        #: Where each replay continues: failed_step (default) or start.
        "from": "Literal[\"\", \"failed_step\", \"start\"]",
    },
    total=False,
)


class ReplayWorkflowRunResponse(TypedDict, total=False):
    """The replay."""

    #: The new run; absent for a dry run.
    run: WorkflowRun
    #: What it executes.
    plan: WorkflowReplayPlan


class _WorkflowRunAdvanceRequired(TypedDict):
    #: The revision of the run after it.
    revision: int
    #: What happened. Each entry has a kind, and fields that depend on it.
    entries: List[Dict[str, Any]]


class WorkflowRunAdvance(_WorkflowRunAdvanceRequired, total=False):
    """Everything that was stored together."""

    #: When it happened.
    at: str


class WorkflowRunExplanation(TypedDict):
    """Why a run is where it is."""

    #: The run.
    run_id: str
    #: Its status.
    status: str
    #: One sentence that sums it up.
    summary: str
    #: What each step in progress waits for, or what the run has failed with.
    reasons: List[WorkflowRunReason]


class _WorkflowRunReasonRequired(TypedDict):
    #: The step; empty for the run itself.
    step: str
    #: A stable code, such as waiting_for_event or no_worker.
    code: str
    #: What it waits for or has failed with.
    message: str
    #: What would move it.
    remedy: str


class WorkflowRunReason(_WorkflowRunReasonRequired, total=False):
    """What a step waits for, or has failed with."""

    #: Since when.
    since: str
    #: When it continues by itself.
    until: str


class _WorkflowSimulationRequired(TypedDict):
    #: The status of the run at the end of the simulation: succeeded, failed, timed_out, or waiting or running if the simulation stopped before.
    status: str
    #: The virtual time from the start to the end.
    duration_s: float
    #: Why the simulation stopped before the end of the run: max_time, max_steps (10,000), max_bytes (2 MiB of steps) or max_expression_steps (5,000,000). Empty if the run ended.
    stopped_by: str
    #: The steps in the order in which they started. Compensations follow the steps.
    path: List[SimulatedWorkflowStep]
    #: The ids of executed steps that had no stub. Their output was {}.
    steps_without_stub: List[str]
    #: The stubs that no step used.
    unused_stubs: List[str]
    #: What was ignored, for people.
    notes: List[str]


class WorkflowSimulation(_WorkflowSimulationRequired, total=False):
    """What a run would do."""

    #: The output of a run that succeeded.
    output: Any
    #: Why it failed or timed out.
    error: WorkflowRunError
    #: What the run would cost.
    cost: WorkflowSimulationCost


class _SimulatedWorkflowStepRequired(TypedDict):
    #: The step, with its positions in the maps around it, such as ocr[3]. A compensation starts with a tilde.
    step: str
    #: The kind: task, route, notify, action, subworkflow, branch, parallel, map, wait_event, wait_timer, approval, transform, fail or continue_as_new.
    kind: str
    #: When it started, in seconds after the start of the run.
    started_s: float
    #: When it ended; when the simulation stopped if it is still open.
    ended_s: float
    #: completed, caught (it failed, and its catch gave the output), failed, cancelled or open.
    outcome: str
    #: The arm of a branch that was taken: its position from 0, or else. Empty if none was.
    arm: str
    #: The number of attempts; 0 if it has none.
    attempts: int
    #: Whether its output is the default for steps without a stub.
    default_output: bool


class SimulatedWorkflowStep(_SimulatedWorkflowStepRequired, total=False):
    """A step of a simulated run."""

    #: What it was given: the input of a task, the request of an effect or an approval, the events that it waits for, or the end of its timer. Absent for other kinds.
    input: Any
    #: Its output.
    output: Any
    #: Why it failed, even if the error was caught.
    error: WorkflowRunError


class WorkflowSimulationCost(TypedDict):
    """What a run would cost."""

    #: Steps that were executed, with compensations.
    steps: int
    #: Advances that are stored, if every result and event arrives alone.
    commits: int
    #: Steps of expressions that were evaluated.
    expression_steps: int
    #: Tasks for workers.
    tasks: int
    #: Effects that are performed: items, notifications and other runs, with repeated attempts.
    effects: int


class WorkflowStepStub(TypedDict, total=False):
    """The results of a step."""

    #: The output of every attempt.
    output: Any
    #: The error of every attempt.
    error: WorkflowStubError
    #: The results of the attempts, instead of output and error. The last one repeats.
    outputs: Sequence[WorkflowStubOutcome]
    #: How long an attempt takes.
    after_s: float


class _WorkflowStubErrorRequired(TypedDict):
    #: The code.
    code: str


class WorkflowStubError(_WorkflowStubErrorRequired, total=False):
    """The error of an attempt."""

    #: A message for people.
    message: str
    #: Whether the worker reports it as not retryable.
    not_retryable: bool


class WorkflowStubOutcome(TypedDict, total=False):
    """The result of one attempt: an output or an error."""

    #: The output.
    output: Any
    #: The error.
    error: WorkflowStubError


class _SimulatedWorkflowEventRequired(TypedDict):
    #: The name of the event.
    event: str


class SimulatedWorkflowEvent(_SimulatedWorkflowEventRequired, total=False):
    """An event that is sent to a simulated run."""

    #: What it is about.
    scope: str
    #: Data for the run.
    payload: Any
    #: When it is sent, in seconds after the start of the run.
    after_s: float


class _SimulatedWorkflowDecisionRequired(TypedDict):
    #: The approval step: its id, or one element of a map such as ok[3].
    step: str
    #: Who decides: the subject of a caller.
    by: str


class SimulatedWorkflowDecision(_SimulatedWorkflowDecisionRequired, total=False):
    """A decision on an approval of a simulated run."""

    #: The roles of that caller.
    roles: Sequence[str]
    #: Whether the caller approves.
    approved: bool
    #: A comment.
    comment: str
    #: When, in seconds after the approval was requested.
    after_s: float
