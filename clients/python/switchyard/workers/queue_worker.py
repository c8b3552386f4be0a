"""Workers for the items of a pool."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Dict, List, Optional, Sequence, Tuple

from ..cancellation import Cancellation
from ..client import AsyncClient, Client
from ..errors import ApiError, SwitchyardError
from ..operation import NO_KEY, CallOptions, dump_json
from ..generated.services.work import WorkService
from ..transport import Transport
from .failures import WorkFailure
from .handlers import start_coroutine, start_thread
from .protocol import EXTENDED, LOST, UNKNOWN, Job, Leased, Outcome, Report, Work
from .worker import ErrorListener, Finish, Worker

if TYPE_CHECKING:
    from ..generated.types.work import LeasedItem

#: The longest wait for items in one call, in seconds.
_WAIT = 20
_CALL_GRACE = 10.0
#: The most items of one call.
_ITEMS_MAX = 1000
#: The number of heartbeats that are sent at the same time.
_HEARTBEATS_AT_ONCE = 10


class ItemContext:
    """What a handler of items gets besides its item."""

    def __init__(self, job: Job, work: WorkService, lease_s: int, on_error: ErrorListener) -> None:
        self._job = job
        self._work = work
        self._lease_s = lease_s
        self._on_error = on_error
        self._rating: Dict[str, float] = {}

    @property
    def must_stop(self) -> bool:
        """Whether the lease is lost or the worker must stop."""
        return self._job.stopped.is_set()

    def check(self) -> None:
        """Raises `LeaseLost` or `WorkerStopped` if the handler must stop."""
        if self._job.stop_reason is not None:
            raise self._job.stop_reason

    def wait(self, seconds: float) -> None:
        """Waits. Raises as soon as the handler must stop."""
        self._job.stopped.wait(seconds)
        self.check()

    def progress(self, percent: float, note: str = "") -> None:
        """Stores how much of the work is done, in percent, and extends the lease. An error is told to `on_error`."""
        item = self._job.work
        try:
            self._work.report_item_progress(
                pool_id=item["pool_id"],
                queue_item_id=item["queue_item_id"],
                lease_token=item["lease_token"],
                percent=percent,
                note=note,
                lease_s=self._lease_s,
                # A report can be repeated without a key.
                call=CallOptions(idempotency_key=NO_KEY),
            )
        except SwitchyardError as error:
            self._on_error(error)

    def rate(self, *, cost: Optional[float] = None, score: Optional[float] = None) -> None:
        """Sets the cost and the quality score that are reported with the completion."""
        self._rating = {name: value for name, value in (("cost", cost), ("score", score)) if value is not None}

    def complete(self, result: Any) -> Tuple[Dict[str, float], Any, int]:
        """The completion with the length of the result as JSON. A value or a rating that is no JSON fails its own item."""
        dump_json(self._rating)
        return self._rating, result, 0 if result is None else len(dump_json(result))


class AsyncItemContext(ItemContext):
    """What a coroutine gets besides its item. It is cancelled when its lease is lost or the worker must stop."""

    async def progress(self, percent: float, note: str = "") -> None:  # type: ignore[override]
        """Stores how much of the work is done, in percent, and extends the lease. An error is told to `on_error`."""
        await asyncio.to_thread(super().progress, percent, note)


def create_queue_worker(
    client: Client,
    *,
    pool_id: str,
    handle: "Callable[[LeasedItem, ItemContext], Any]",
    recipient_id: Optional[str] = None,
    lease_seconds: int = 30,
    concurrency: int = 10,
    on_error: Optional[ErrorListener] = None,
) -> Worker:
    """
    Creates a worker for the items of a pool. `handle` runs in a thread for each item. The item is completed when it returns,
    with the returned value as its result, and failed when it raises. Items can arrive more than once. A crashed worker's items
    return after `lease_seconds`, which heartbeats extend.
    """
    protocol = _QueueProtocol(client.transport, pool_id, recipient_id, lease_seconds)

    def start(job: Job, finish: Finish) -> None:
        context = ItemContext(job, protocol.service, lease_seconds, on_error or (lambda error: None))
        start_thread(lambda: context.complete(handle(job.work, context)), finish)

    return Worker(protocol, start, concurrency, on_error)


def create_async_queue_worker(
    client: AsyncClient,
    *,
    pool_id: str,
    handle: "Callable[[LeasedItem, AsyncItemContext], Awaitable[Any]]",
    recipient_id: Optional[str] = None,
    lease_seconds: int = 30,
    concurrency: int = 10,
    on_error: Optional[ErrorListener] = None,
) -> Worker:
    """Like `create_queue_worker`, with a coroutine as handler. Call it in a coroutine."""
    protocol = _QueueProtocol(client.transport, pool_id, recipient_id, lease_seconds)
    loop = asyncio.get_running_loop()

    def start(job: Job, finish: Finish) -> None:
        context = AsyncItemContext(job, protocol.service, lease_seconds, on_error or (lambda error: None))

        async def run() -> Any:
            return context.complete(await handle(job.work, context))

        start_coroutine(loop, job, run, finish)

    return Worker(protocol, start, concurrency, on_error)


class _QueueProtocol:
    reports_max = _ITEMS_MAX

    def __init__(self, transport: Transport, pool_id: str, recipient_id: Optional[str], lease_seconds: int) -> None:
        self.service = WorkService(transport)
        self._pool_id = pool_id
        self._recipient_id = recipient_id
        self._lease_seconds = lease_seconds
        self._heartbeats = ThreadPoolExecutor(_HEARTBEATS_AT_ONCE, thread_name_prefix="switchyard-heartbeat")

    def report_chars(self, report: Report) -> int:
        return 0 if report.failure is not None else report.result[2]

    def lease_seconds(self, work: Work) -> float:
        return self._lease_seconds

    def lease(self, count: int, reports: Sequence[Report], cancellation: Cancellation) -> Leased:
        completed, failed = _to_reports(reports)
        response = self.service.lease_items(
            pool_id=self._pool_id,
            recipient_id=self._recipient_id,
            completed=completed,
            failed=failed,
            max_items=min(count, _ITEMS_MAX),
            wait_s=_WAIT,
            lease_s=self._lease_seconds,
            call=CallOptions(timeout=_WAIT + _CALL_GRACE, cancellation=cancellation),
        )
        return Leased(response["items"], _to_outcomes(reports, response["results"]))

    def report(self, reports: Sequence[Report]) -> List[Outcome]:
        completed, failed = _to_reports(reports)
        response = self.service.lease_items(
            pool_id=self._pool_id,
            recipient_id=self._recipient_id,
            completed=completed,
            failed=failed,
            report_only=True,
        )
        return _to_outcomes(reports, response["results"])

    def heartbeat(self, jobs: Sequence[Job]) -> List[str]:
        return list(self._heartbeats.map(self._extend, jobs))

    def release(self, work: Sequence[Work]) -> None:
        for at in range(0, len(work), _ITEMS_MAX):
            released = [_lease_of(each) for each in work[at : at + _ITEMS_MAX]]
            self.service.lease_items(
                pool_id=self._pool_id, recipient_id=self._recipient_id, released=released, report_only=True
            )

    def _extend(self, job: Job) -> str:
        # A heartbeat can be repeated without a key.
        options = CallOptions(idempotency_key=NO_KEY, timeout=self._lease_seconds / 3)
        try:
            self.service.heartbeat_item(
                pool_id=self._pool_id, lease_s=self._lease_seconds, call=options, **_lease_of(job.work)
            )
            return EXTENDED
        except ApiError as error:
            return LOST if error.code in ("LEASE_LOST", "NOT_FOUND") else UNKNOWN
        except SwitchyardError:
            return UNKNOWN


def _lease_of(item: Work) -> Any:
    return {"queue_item_id": item["queue_item_id"], "lease_token": item["lease_token"]}


def _to_reports(reports: Sequence[Report]) -> Tuple[List[Any], List[Any]]:
    completed, failed = [], []
    for job, result, failure in reports:
        if failure is None:
            rating, value, _ = result
            completed.append({**_lease_of(job.work), **rating, **({} if value is None else {"result": value})})
        else:
            failed.append(_to_failed_item(job, failure))
    return completed, failed


def _to_failed_item(job: Job, failure: WorkFailure) -> Dict[str, Any]:
    return {
        **_lease_of(job.work),
        "reason_code": failure.code,
        "reason": failure.message,
        "retryable": failure.retryable,
    }


def _to_outcomes(reports: Sequence[Report], results: Sequence[Any]) -> List[Outcome]:
    """The results have the order of the request: first completed, then failed items."""
    sent = [each for each in reports if each.failure is None] + [each for each in reports if each.failure is not None]
    outcomes = {id(report): Outcome(result["error_code"], result["error_message"]) for report, result in zip(sent, results)}
    return [outcomes[id(report)] for report in reports]
