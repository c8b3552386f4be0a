"""Starts handlers: functions in threads, coroutines on the loop of their program."""

from __future__ import annotations

import asyncio
import threading
from typing import Any, Awaitable, Callable

from .protocol import Job
from .worker import Finish


def start_thread(handle: Callable[[], Any], finish: Finish) -> None:
    """Runs a function in a thread that does not keep the process from ending."""

    def run() -> None:
        try:
            result = handle()
        except BaseException as error:
            finish(None, error)
        else:
            finish(result, None)

    threading.Thread(target=run, name="switchyard-handler", daemon=True).start()


def start_coroutine(
    loop: asyncio.AbstractEventLoop, job: Job, handle: Callable[[], Awaitable[Any]], finish: Finish
) -> None:
    """Runs a coroutine. Its task is cancelled when the job must stop."""

    async def run() -> None:
        task = asyncio.ensure_future(handle())
        job.end_handler = lambda: loop.call_soon_threadsafe(task.cancel)
        if job.stopped.is_set():
            task.cancel()
        try:
            result = await task
        except BaseException as error:
            finish(None, error)
        else:
            finish(result, None)

    asyncio.run_coroutine_threadsafe(run(), loop)
