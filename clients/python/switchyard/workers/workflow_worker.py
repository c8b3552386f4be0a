"""Workers for the tasks of a workflow queue."""

from __future__ import annotations

import asyncio
import json
import secrets
from typing import TYPE_CHECKING, Any, Awaitable, Callable, List, Mapping, Optional, Sequence, Tuple

from ..cancellation import Cancellation
from ..client import AsyncClient, Client
from ..operation import NO_KEY, CallOptions, dump_json
from ..generated.services.workflow_task import WorkflowTaskService
from ..transport import Transport
from .handlers import start_coroutine, start_thread
from .protocol import EXTENDED, LOST, UNKNOWN, Job, Leased, Outcome, Report, Work
from .worker import ErrorListener, Finish, Worker

if TYPE_CHECKING:
    from ..generated.types.workflow_task import LeasedWorkflowTask

_WAIT = 20
_CALL_GRACE = 10.0
#: The most tasks of one call.
_TASKS_MAX = 100
_STATES = {"ok": EXTENDED, "paused": EXTENDED, "cancel": LOST, "lost": LOST}


class TaskContext:
    """What a handler of tasks gets besides the input."""

    def __init__(self, job: Job) -> None:
        self._job = job

    @property
    def task(self) -> "LeasedWorkflowTask":
        return self._job.work

    @property
    def must_stop(self) -> bool:
        """Whether the task is not needed any more, the lease is lost or the worker must stop."""
        return self._job.stopped.is_set()

    def check(self) -> None:
        """Raises `LeaseLost` or `WorkerStopped` if the handler must stop."""
        if self._job.stop_reason is not None:
            raise self._job.stop_reason

    def wait(self, seconds: float) -> None:
        """Waits. Raises as soon as the handler must stop."""
        self._job.stopped.wait(seconds)
        self.check()

    def report(self, progress: Any) -> None:
        """Stores the progress with the next heartbeat. A later attempt gets it as `task["details"]`."""
        self._job.progress = json.loads(dump_json(progress))


def _complete(output: Any) -> Tuple[Any, int]:
    """The output with its length as JSON. A value that is no JSON fails its own task."""
    return output, 0 if output is None else len(dump_json(output))


class AsyncTaskContext(TaskContext):
    """What a coroutine gets besides the input. It is cancelled when it must stop."""


def create_workflow_worker(
    client: Client,
    *,
    queue: str,
    handlers: Mapping[str, Callable[[Any, TaskContext], Any]],
    versions: Optional[Mapping[str, Sequence[str]]] = None,
    environment_id: Optional[str] = None,
    worker_id: Optional[str] = None,
    build_id: Optional[str] = None,
    concurrency: int = 10,
    on_error: Optional[ErrorListener] = None,
) -> Worker:
    """
    Creates a worker for the tasks of a workflow queue, with a handler for each type of task. A handler runs in a thread, and
    returns the output of the step or raises. Tasks can arrive more than once. `versions` are those that a handler implements,
    any by default.
    """
    poll = _to_poll(queue, handlers, versions, environment_id, worker_id, build_id)

    def start(job: Job, finish: Finish) -> None:
        handle = handlers[job.work["type"]]
        start_thread(lambda: _complete(handle(job.work.get("input"), TaskContext(job))), finish)

    return Worker(_TaskProtocol(client.transport, poll), start, concurrency, on_error)


def create_async_workflow_worker(
    client: AsyncClient,
    *,
    queue: str,
    handlers: Mapping[str, Callable[[Any, AsyncTaskContext], Awaitable[Any]]],
    versions: Optional[Mapping[str, Sequence[str]]] = None,
    environment_id: Optional[str] = None,
    worker_id: Optional[str] = None,
    build_id: Optional[str] = None,
    concurrency: int = 10,
    on_error: Optional[ErrorListener] = None,
) -> Worker:
    """Like `create_workflow_worker`, with coroutines as handlers. Call it in a coroutine."""
    poll = _to_poll(queue, handlers, versions, environment_id, worker_id, build_id)
    loop = asyncio.get_running_loop()

    def start(job: Job, finish: Finish) -> None:
        handle = handlers[job.work["type"]]

        async def run() -> Any:
            return _complete(await handle(job.work.get("input"), AsyncTaskContext(job)))

        start_coroutine(loop, job, run, finish)

    return Worker(_TaskProtocol(client.transport, poll), start, concurrency, on_error)


def _to_poll(
    queue: str,
    handlers: Mapping[str, Any],
    versions: Optional[Mapping[str, Sequence[str]]],
    environment_id: Optional[str],
    worker_id: Optional[str],
    build_id: Optional[str],
) -> Any:
    return {
        "queue": queue,
        "worker_id": worker_id or f"worker-{secrets.token_hex(8)}",
        "environment_id": environment_id or "",
        "build_id": build_id or "",
        "capabilities": [{"type": each, "versions": list((versions or {}).get(each, ()))} for each in handlers],
    }


class _TaskProtocol:
    reports_max = _TASKS_MAX

    def __init__(self, transport: Transport, poll: Any) -> None:
        self._service = WorkflowTaskService(transport)
        self._poll = poll

    def report_chars(self, report: Report) -> int:
        return 0 if report.failure is not None else report.result[1]

    def lease_seconds(self, work: Work) -> float:
        return work["heartbeat_s"] if work["heartbeat_s"] > 0 else float("inf")

    def lease(self, count: int, reports: Sequence[Report], cancellation: Cancellation) -> Leased:
        completed, failed = _divide(reports)
        results = self._fail(failed)
        poll: Any = {**self._poll, "slots": min(count, _TASKS_MAX)}
        if completed:
            completion = self._service.complete(
                completions=_to_completions(completed), poll=poll, call=CallOptions(cancellation=cancellation)
            )
            return Leased(completion["tasks"], _to_outcomes(reports, [*results, *completion["results"]]))
        # Failures are reported already, so a wait does not delay them.
        response = self._service.poll(
            **poll, wait_s=_WAIT, call=CallOptions(timeout=_WAIT + _CALL_GRACE, cancellation=cancellation)
        )
        return Leased(response["tasks"], _to_outcomes(reports, results))

    def report(self, reports: Sequence[Report]) -> List[Outcome]:
        completed, failed = _divide(reports)
        results = self._fail(failed)
        if completed:
            results += self._service.complete(completions=_to_completions(completed))["results"]
        return _to_outcomes(reports, results)

    def heartbeat(self, jobs: Sequence[Job]) -> List[str]:
        states: List[str] = []
        for at in range(0, len(jobs), _TASKS_MAX):
            batch = jobs[at : at + _TASKS_MAX]
            timeout = min(job.work["heartbeat_s"] for job in batch) / 3
            tasks: Any = [
                {**_lease_of(job.work), **({} if job.progress is None else {"details": job.progress})} for job in batch
            ]
            response = self._service.heartbeat(
                tasks=tasks,
                call=CallOptions(idempotency_key=NO_KEY, timeout=timeout),
            )
            states += [_STATES.get(result["status"], UNKNOWN) for result in response["results"]]
        return states

    def release(self, work: Sequence[Work]) -> None:
        for at in range(0, len(work), _TASKS_MAX):
            self._service.release(tasks=[_lease_of(each) for each in work[at : at + _TASKS_MAX]])

    def _fail(self, reports: Sequence[Report]) -> List[Any]:
        if not reports:
            return []
        return list(self._service.fail(failures=[_to_failure(report) for report in reports])["results"])


def _lease_of(task: Work) -> Any:
    return {"task_id": task["task_id"], "token": task["token"]}


def _divide(reports: Sequence[Report]) -> Tuple[List[Report], List[Report]]:
    return [each for each in reports if each.failure is None], [each for each in reports if each.failure is not None]


def _to_completions(reports: Sequence[Report]) -> List[Any]:
    return [
        {**_lease_of(job.work), **({} if result[0] is None else {"output": result[0]})} for job, result, _ in reports
    ]


def _to_failure(report: Report) -> Any:
    failure = report.failure
    assert failure is not None
    optional = {"details": failure.details, "retry_after_s": failure.retry_after}
    return {
        **_lease_of(report.job.work),
        "code": failure.code,
        "message": failure.message,
        "retryable": failure.retryable,
        **{name: value for name, value in optional.items() if value is not None},
    }


def _to_outcomes(reports: Sequence[Report], results: Sequence[Any]) -> List[Outcome]:
    """Finds the outcome of each report among results by task."""
    by_task = {result["task_id"]: result for result in results}
    found = [by_task.get(job.work["task_id"], {}) for job, _, _ in reports]
    return [Outcome(each.get("error_code", ""), each.get("error_message", "")) for each in found]
