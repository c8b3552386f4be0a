# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .violation import Violation


class PollWorkflowTasksResponse(TypedDict):
    """The leased tasks."""

    #: The tasks; empty if none became ready in time.
    tasks: List[LeasedWorkflowTask]


class _LeasedWorkflowTaskRequired(TypedDict):
    #: The task.
    task_id: str
    #: The number of the attempt, from 1.
    attempt: int
    #: Proves that the worker holds the lease of this attempt.
    token: str
    #: The run.
    run_id: str
    #: The step, with the positions in the maps around it: ocr[3].
    step: str
    #: The type of the task.
    type: str
    #: The range of versions that the step requires; empty for any.
    version_range: str
    #: The longest time between two heartbeats in seconds; 0 if none are needed.
    heartbeat_s: float
    #: The same for all attempts of the step. Send it to systems that recognise repeated requests.
    idempotency_key: str


class LeasedWorkflowTask(_LeasedWorkflowTaskRequired, total=False):
    """A leased task: one attempt of a step."""

    #: The input.
    input: Any
    #: When the attempt ends at the latest.
    deadline: str
    #: When the lease ends without a heartbeat.
    lease_until: str
    #: The details of the last heartbeat of any attempt; absent if there are none.
    details: Any


class _WorkflowCapabilityInputRequired(TypedDict):
    #: The type of the task.
    type: str


class WorkflowCapabilityInput(_WorkflowCapabilityInputRequired, total=False):
    """A type of task that a worker can run."""

    #: The versions that the worker implements, for example 2.1.0; any version when empty.
    versions: Sequence[str]


class HeartbeatWorkflowTasksResponse(TypedDict):
    """The results, in order."""

    #: One for each task.
    results: List[WorkflowHeartbeatResult]


class _WorkflowHeartbeatResultRequired(TypedDict):
    #: The task.
    task_id: str
    #: ok (continue), cancel (the task has ended: stop the work), lost (the lease is over: stop the work) or paused (the run is paused; the lease is extended). Empty if there is an error.
    status: str
    #: The error code; empty if there is none.
    error_code: str
    #: The error in words.
    error_message: str
    #: The invalid fields; empty for other errors.
    violations: List[Violation]


class WorkflowHeartbeatResult(_WorkflowHeartbeatResultRequired, total=False):
    """The result of a heartbeat."""

    #: When the lease ends without another heartbeat; absent if it is not held.
    lease_until: str


class _WorkflowTaskHeartbeatRequired(TypedDict):
    #: The task.
    task_id: str
    #: The token of the lease.
    token: str


class WorkflowTaskHeartbeat(_WorkflowTaskHeartbeatRequired, total=False):
    """A worker's sign of life for a task."""

    #: The progress, for people and for the next attempt, at most 16 KiB as JSON. The stored details stay when absent.
    details: Any


class CompleteWorkflowTasksResponse(TypedDict):
    """The results, and the next tasks."""

    #: One for each completion, in order.
    results: List[WorkflowTaskResult]
    #: The tasks that were leased.
    tasks: List[LeasedWorkflowTask]


class WorkflowTaskResult(TypedDict):
    """The result of a report."""

    #: The task.
    task_id: str
    #: completed, failed, incompatible, released, or stale: the attempt had already ended and the report has no effect. Empty if there is an error.
    status: str
    #: The error code; empty if there is none. For a stale report: LEASE_LOST.
    error_code: str
    #: The error in words.
    error_message: str
    #: The invalid fields; empty for other errors.
    violations: List[Violation]


class _WorkflowTaskCompletionRequired(TypedDict):
    #: The task.
    task_id: str
    #: The token of the lease.
    token: str


class WorkflowTaskCompletion(_WorkflowTaskCompletionRequired, total=False):
    """A completed attempt."""

    #: The output of the step, at most 128 KiB as JSON; null when absent.
    output: Any


class _PollWorkflowTasksRequestRequired(TypedDict):
    #: The queue of the tasks.
    queue: str
    #: The worker's name, unique in its queue.
    worker_id: str
    #: The tasks that the worker can run.
    capabilities: Sequence[WorkflowCapabilityInput]


class PollWorkflowTasksRequest(_PollWorkflowTasksRequestRequired, total=False):
    """Request of a worker for tasks."""

    #: The id or the key of the environment; production when empty.
    environment_id: str
    #: The build of the worker's code, for example a commit. Workers of one build can run the same tasks.
    build_id: str
    #: The version of this protocol; 1 when 0.
    protocol: int
    #: The most tasks to lease; 1 when 0. Large tasks are fewer: a response ends at about 2 MiB, and the rest stays ready.
    slots: int
    #: Seconds to wait for tasks if there are none.
    wait_s: int
    #: Runs whose tasks the worker prefers, for example because it holds their data. It gets tasks of other runs as well.
    sticky_runs: Sequence[str]


class FailWorkflowTasksResponse(TypedDict):
    """The results, in order."""

    #: One for each failure.
    results: List[WorkflowTaskResult]


class _WorkflowTaskFailureRequired(TypedDict):
    #: The task.
    task_id: str
    #: The token of the lease.
    token: str


class WorkflowTaskFailure(_WorkflowTaskFailureRequired, total=False):
    """A failed attempt."""

    #: The code of the error: lower-case letters, digits and underscores; task_failed when empty. The code incompatible says that this build of the worker cannot run the task.
    code: str
    #: The message for people.
    message: str
    #: Further data for the workflow, at most 16 KiB as JSON.
    details: Any
    #: Whether a retry makes sense; default true.
    retryable: bool
    #: Seconds until the next attempt; the step's retry policy decides when absent.
    retry_after_s: float


class ReleaseWorkflowTasksResponse(TypedDict):
    """The results, in order."""

    #: One for each task.
    results: List[WorkflowTaskResult]


class WorkflowTaskLease(TypedDict):
    """A task and its lease."""

    #: The task.
    task_id: str
    #: The token of the lease.
    token: str


class _WorkflowTaskRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The environment.
    environment_id: str
    #: The run.
    run_id: str
    #: The step, with the positions in the maps around it.
    step: str
    #: The queue.
    queue: str
    #: The type.
    type: str
    #: The range of versions that the step requires; empty for any.
    version_range: str
    #: ready, leased, incompatible (workers poll the queue, but none of them can run it) or held (its run is paused).
    state: str
    #: Why a ready or incompatible task waits: retry_delay, no_worker, no_capable_worker or workers_busy. Empty in other states.
    wait_reason: str
    #: The number of the current or next attempt, from 1.
    attempt: int
    #: The worker that holds the lease.
    worker_id: str
    #: The build of that worker.
    build_id: str
    #: Builds of workers that cannot run it.
    refused_by: List[str]


class WorkflowTask(_WorkflowTaskRequired, total=False):
    """A task that has not ended."""

    #: From when on it can be leased.
    ready_at: str
    #: When it was leased.
    leased_at: str
    #: When the lease ends without a heartbeat.
    lease_until: str
    #: When the attempt ends at the latest.
    deadline: str
    #: When it was created.
    created_at: str
    #: The input; only in the response to GetWorkflowTask.
    input: Any
    #: The details of the last heartbeat; only in the response to GetWorkflowTask.
    details: Any


class WorkflowQueue(TypedDict):
    """A queue of tasks."""

    #: The environment.
    environment_id: str
    #: The name.
    queue: str
    #: Tasks that a worker can lease, now or after their retry delay. At most 10,000 waiting tasks of a queue are counted.
    ready: int
    #: Tasks that workers run now. Only the tenant's oldest 10,000 tasks are counted.
    leased: int
    #: Tasks that none of the queue's workers can run. At most 10,000 waiting tasks of a queue are counted.
    incompatible: int
    #: Whether a count stopped early: there are at least that many.
    counts_capped: bool
    #: How long the oldest task that can be leased has waited, in seconds.
    oldest_ready_age_s: float
    #: Why tasks that can be leased wait: no_worker (nobody polls the queue), no_capable_worker (workers poll, but none of them can run the waiting tasks) or workers_busy. Empty if none wait.
    wait_reason: str
    #: The workers that are present, up to 1,000 of the tenant.
    workers: List[WorkflowWorker]


class _WorkflowWorkerRequired(TypedDict):
    #: The worker's name.
    worker_id: str
    #: The build of its code.
    build_id: str
    #: The version of the protocol.
    protocol: int
    #: The tasks that it can run.
    capabilities: List[WorkflowCapability]


class WorkflowWorker(_WorkflowWorkerRequired, total=False):
    """A worker of a queue."""

    #: When it was first seen.
    first_seen_at: str
    #: When it was last seen, within a few seconds.
    seen_at: str


class WorkflowCapability(TypedDict):
    """A type of task that a worker can run."""

    #: The type of the task.
    type: str
    #: The versions that the worker implements, for example 2.1.0; any version when empty.
    versions: List[str]
