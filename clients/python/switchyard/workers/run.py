"""Runs workers until the process is asked to stop."""

from __future__ import annotations

import asyncio
import signal
import threading
from types import FrameType
from typing import List, Optional, Sequence

from .worker import Worker

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def run_workers(workers: Sequence[Worker], drain: float = 25.0) -> None:
    """
    Runs workers until SIGTERM or SIGINT, then lets them finish what they have begun; a second signal ends the process. If one
    worker fails, the others stop as well, and its error is raised. Call it in the main thread.
    """
    before = {each: signal.getsignal(each) for each in _SIGNALS}

    def stop(number: int, frame: Optional[FrameType]) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_DFL)
        # A handler of signals must not wait for a lock that the interrupted code may have.
        threading.Thread(target=_stop_all, args=(workers,), daemon=True).start()

    for each in _SIGNALS:
        signal.signal(each, stop)
    try:
        _run_all(workers, drain)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


async def run_workers_async(workers: Sequence[Worker], drain: float = 25.0) -> None:
    """Like `run_workers`, for asyncio programs. The workers also stop when the task is cancelled."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        for each in _SIGNALS:
            loop.remove_signal_handler(each)
        _stop_all(workers)

    for each in _SIGNALS:
        loop.add_signal_handler(each, stop)
    running = asyncio.ensure_future(asyncio.to_thread(_run_all, workers, drain))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        _stop_all(workers)
        await running
        raise
    finally:
        for each in _SIGNALS:
            loop.remove_signal_handler(each)


def _stop_all(workers: Sequence[Worker]) -> None:
    for worker in workers:
        worker.stop()


def _run_all(workers: Sequence[Worker], drain: float) -> None:
    errors: List[BaseException] = []

    def run(worker: Worker) -> None:
        try:
            worker.run(drain)
        except BaseException as error:
            errors.append(error)
            _stop_all(workers)

    threads = [threading.Thread(target=run, args=(worker,), daemon=True) for worker in workers]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if errors:
        raise errors[0]
