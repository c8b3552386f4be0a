"""How a worker leases, extends, reports and gives back its work. Queues and workflow tasks have one protocol each."""

from __future__ import annotations

import threading
import time
from typing import Any, Callable, List, NamedTuple, Optional, Protocol, Sequence

from ..cancellation import Cancellation
from .failures import WorkFailure

#: Leased work, a dictionary of the API.
Work = Any

RUNNING, FINISHED, LOST = "running", "finished", "lost"
#: The results of a heartbeat: the worker may go on, it must stop, or the heartbeat has failed.
EXTENDED, UNKNOWN = "extended", "unknown"


class Job:
    """A piece of work in progress."""

    def __init__(self, work: Work) -> None:
        self.work = work
        #: running: the handler has no result yet. finished: the result is to be reported. lost: nobody wants the result.
        self.state = RUNNING
        #: Why the handler must stop.
        self.stop_reason: Optional[Exception] = None
        self.stopped = threading.Event()
        #: When the lease was last extended, by `time.monotonic()`.
        self.extended_at = time.monotonic()
        #: The progress that the next heartbeat carries.
        self.progress: Any = None
        #: Ends the handler, if that can be done from outside.
        self.end_handler: Callable[[], Any] = lambda: None

    def stop(self, reason: Exception) -> None:
        self.stop_reason = reason
        self.stopped.set()
        self.end_handler()


class Report(NamedTuple):
    """The result of a job."""

    job: Job
    result: Any = None
    failure: Optional[WorkFailure] = None


class Outcome(NamedTuple):
    """What became of a report: an empty code if it was accepted."""

    code: str
    message: str


class Leased(NamedTuple):
    """Leased work, and the outcomes of the reports of the same call."""

    work: Sequence[Work]
    outcomes: Sequence[Outcome]


class WorkProtocol(Protocol):
    #: The most reports of one call.
    reports_max: int

    def report_chars(self, report: Report) -> int:
        """The size of a report's result."""

    def lease(self, count: int, reports: Sequence[Report], cancellation: Cancellation) -> Leased:
        """Sends reports, leases the next work in the same call if possible, and waits for work if there is none."""

    def report(self, reports: Sequence[Report]) -> List[Outcome]:
        """Sends reports. Returns one outcome for each, in order."""

    def lease_seconds(self, work: Work) -> float:
        """The time without a heartbeat after which the lease is over; infinity if it needs none."""

    def heartbeat(self, jobs: Sequence[Job]) -> List[str]:
        """Extends leases. Returns what became of each, in order."""

    def release(self, work: Sequence[Work]) -> None:
        """Gives back work that the worker will not finish."""
