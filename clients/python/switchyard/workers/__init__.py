"""Workers: programs that lease work, process it and report the results."""

from .failures import LeaseLost, WorkerStopped, WorkFailure
from .queue_worker import AsyncItemContext, ItemContext, create_async_queue_worker, create_queue_worker
from .run import run_workers, run_workers_async
from .worker import Worker
from .workflow_worker import AsyncTaskContext, TaskContext, create_async_workflow_worker, create_workflow_worker

__all__ = [
    "AsyncItemContext",
    "AsyncTaskContext",
    "ItemContext",
    "LeaseLost",
    "TaskContext",
    "WorkFailure",
    "Worker",
    "WorkerStopped",
    "create_async_queue_worker",
    "create_async_workflow_worker",
    "create_queue_worker",
    "create_workflow_worker",
    "run_workers",
    "run_workers_async",
]
