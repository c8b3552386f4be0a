"""The engine of all workers."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any, Callable, List, Optional, Sequence, Set

from ..batching import CHARS_MAX
from ..cancellation import Cancellation
from ..errors import SwitchyardError
from ..transport import Backoff
from .failures import LeaseLost, WorkerStopped, WorkFailure, to_work_failure
from .protocol import EXTENDED, FINISHED, LOST, RUNNING, Job, Outcome, Report, Work, WorkProtocol

#: How long results wait for a call that leases work, or for other results.
_LINGER = 0.01
#: How long a stopping worker waits for a call that leases work. Work that is lost with the call would wait for its lease.
_LEASE_GRACE = 0.3
#: How long handlers that were told to stop have for it.
_STOP_GRACE = 1.0
#: How often a stopping worker sends its last reports.
_LAST_TRIES = 5
#: Jobs that are due within this share of their interval join a heartbeat, so that fewer calls are needed.
_EARLY_SHARE = 0.3
#: Keeps heartbeats that fail from following each other without a pause.
_HEARTBEAT_PAUSE = 0.1
_BACKOFF = Backoff(0.2, 10.0)

#: Receives the result of a handler, or what it raised.
Finish = Callable[[Any, Optional[BaseException]], None]
ErrorListener = Callable[[Exception], None]


class Worker:
    """
    Leases work and runs a handler for each piece of it. `run()` returns after `stop()`, when the handlers have finished
    and their results are reported.
    """

    def __init__(
        self,
        protocol: WorkProtocol,
        start_handler: Callable[[Job, Finish], None],
        concurrency: int,
        on_error: Optional[ErrorListener],
    ) -> None:
        self._protocol = protocol
        self._start_handler = start_handler
        self._concurrency = concurrency
        self._on_error = on_error or (lambda error: None)
        self._changed = threading.Condition()
        self._jobs: Set[Job] = set()
        self._running = 0
        self._pending: List[Report] = []
        self._report_failures = 0
        self._leasing = Cancellation()
        self._is_stopping = False
        self._is_over = False

    def stop(self) -> None:
        """Asks the worker to stop. It leases nothing more."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        timer = threading.Timer(_LEASE_GRACE, self._leasing.cancel)
        timer.daemon = True
        timer.start()

    def run(self, drain: float = 25.0) -> None:
        """
        Works until `stop()`. Handlers that need longer than `drain` seconds are told to stop, and their work is given back.
        Raises if the service refuses the worker for good, for example because its key is revoked.
        """
        helpers = [threading.Thread(target=each, daemon=True) for each in (self._send_reports, self._extend_leases)]
        for each in helpers:
            each.start()
        try:
            self._lease_until_stopped()
        finally:
            self._drain(drain)
            with self._changed:
                self._is_over = True
                self._changed.notify_all()
            for each in helpers:
                each.join()
            self._flush()

    def _lease_until_stopped(self) -> None:
        failures = 0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_stopping or self._running < self._concurrency)
                if self._is_stopping:
                    return
                free = self._concurrency - self._running
                reports = self._take_reports()
            try:
                leased = self._protocol.lease(free, reports, self._leasing)
            except Exception as error:
                self._keep(reports, error)
                if self._is_stopping:
                    return
                if not (isinstance(error, SwitchyardError) and error.retryable):
                    raise
                self._on_error(error)
                failures += 1
                self._leasing.wait(_BACKOFF.delay(failures, error.retry_after))
                continue
            failures = 0
            self._settle(reports, leased.outcomes)
            if self._is_stopping:
                self._release(leased.work)
            else:
                self._start(leased.work)

    def _start(self, leased: Sequence[Work]) -> None:
        jobs = [Job(work) for work in leased]
        with self._changed:
            self._jobs.update(jobs)
            self._running += len(jobs)
            self._changed.notify_all()
        for job in jobs:
            self._start_handler(job, partial(self._finish, job))

    def _finish(self, job: Job, result: Any, error: Optional[BaseException]) -> None:
        with self._changed:
            self._running -= 1
            if job.state == LOST:
                self._jobs.discard(job)
            # Work that was stopped on purpose has not failed: it is given back.
            elif error is None or not isinstance(job.stop_reason, WorkerStopped):
                job.state = FINISHED
                failure = None if error is None else to_work_failure(error)
                self._pending.append(Report(job, result, failure))
            self._changed.notify_all()

    # Reports.

    def _take_reports(self) -> List[Report]:
        """Takes as many reports as one call can carry, and at least one."""
        count = chars = 0
        for report in self._pending[: self._protocol.reports_max]:
            chars += self._protocol.report_chars(report)
            if count > 0 and chars > CHARS_MAX:
                break
            count += 1
        taken, self._pending = self._pending[:count], self._pending[count:]
        return taken

    def _send_reports(self) -> None:
        """Sends results that no call to lease work takes along."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._pending or self._is_over)
                if self._is_over:
                    return
                failures = self._report_failures
            time.sleep(_LINGER if failures == 0 else _BACKOFF.delay(failures))
            self._send_batch()

    def _send_batch(self) -> None:
        with self._changed:
            reports = self._take_reports()
        if not reports:
            return
        try:
            self._settle(reports, self._protocol.report(reports))
        except Exception as error:
            self._keep(reports, error)
            self._on_error(error)

    def _flush(self) -> None:
        for tries in range(1, _LAST_TRIES + 1):
            if not self._pending:
                return
            if tries > 1:
                time.sleep(_BACKOFF.delay(tries))
            self._send_batch()

    def _settle(self, reports: Sequence[Report], outcomes: Sequence[Outcome]) -> None:
        self._report_failures = 0
        for report, (code, message) in zip(reports, outcomes):
            if code == "INVALID_ARGUMENT" and report.failure is None:
                # The result itself is refused, for example because it is too large. Another attempt would end in the same way.
                failure = WorkFailure(message, code="invalid_result", retryable=False)
                with self._changed:
                    self._pending.append(Report(report.job, None, failure))
                    self._changed.notify_all()
                continue
            if code:
                self._on_error(LeaseLost(message) if code == "LEASE_LOST" else Exception(f"{code}: {message}"))
            with self._changed:
                self._jobs.discard(report.job)

    def _keep(self, reports: Sequence[Report], error: Exception) -> None:
        """Keeps reports for another try, unless the service has refused them for good."""
        with self._changed:
            if reports:
                self._report_failures += 1
            if isinstance(error, SwitchyardError) and not error.retryable and not self._leasing.is_cancelled:
                self._jobs.difference_update(report.job for report in reports)
            else:
                self._pending[:0] = reports
                self._changed.notify_all()

    # Leases.

    def _extend_leases(self) -> None:
        """Extends the leases of jobs, each when a third of its time has passed."""
        while True:
            with self._changed:
                now = time.monotonic()
                held = [job for job in self._jobs if job.state != LOST]
                wait = min((self._due_at(job) for job in held), default=float("inf")) - now
                if self._is_over:
                    return
                if wait > 0:
                    self._changed.wait(None if wait == float("inf") else wait)
                    continue
                due = [job for job in held if self._due_at(job) - self._interval(job) * _EARLY_SHARE <= now]
            self._beat(due)
            time.sleep(_HEARTBEAT_PAUSE)

    def _beat(self, jobs: Sequence[Job]) -> None:
        now = time.monotonic()
        try:
            states = self._protocol.heartbeat(jobs)
        except Exception as error:
            self._on_error(error)
            states = ["unknown"] * len(jobs)
        for job, state in zip(jobs, states):
            if state == EXTENDED:
                job.extended_at = now
            # Without a heartbeat in its time, a lease is over, whatever the service would say.
            elif state == LOST or time.monotonic() - job.extended_at > self._protocol.lease_seconds(job.work):
                self._abandon(job)

    def _abandon(self, job: Job) -> None:
        with self._changed:
            # The result of a finished job is on its way. Its report says whether the lease still counted.
            if job.state != RUNNING:
                return
            job.state = LOST
        job.stop(LeaseLost())

    def _interval(self, job: Job) -> float:
        return self._protocol.lease_seconds(job.work) / 3

    def _due_at(self, job: Job) -> float:
        return job.extended_at + self._interval(job)

    # The end.

    def _drain(self, drain: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._running == 0, drain)
            unfinished = [job for job in self._jobs if job.state == RUNNING]
        for job in unfinished:
            job.stop(WorkerStopped())
        with self._changed:
            self._changed.wait_for(lambda: self._running == 0, _STOP_GRACE if unfinished else 0)
            released = [job for job in unfinished if job.state == RUNNING]
            for job in released:
                job.state = LOST
        self._release([job.work for job in released])

    def _release(self, work: Sequence[Work]) -> None:
        if not work:
            return
        try:
            self._protocol.release(work)
        except Exception as error:
            self._on_error(error)
