"""Runs calls of asyncio programs in threads, because the standard library has no asynchronous HTTP client."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Callable, Optional

from .cancellation import Cancellation
from .operation import CallOptions


class ThreadRunner:
    """Runs blocking calls in threads, and ends them when their task is cancelled."""

    def __init__(self, threads_max: int) -> None:
        self._executor = ThreadPoolExecutor(threads_max, thread_name_prefix="switchyard")

    async def call(self, send: Callable[[CallOptions], Any], options: Optional[CallOptions] = None) -> Any:
        """Runs a call with its options."""
        options = options or CallOptions()
        cancellation = options.cancellation or Cancellation()
        future = asyncio.get_running_loop().run_in_executor(
            self._executor, send, replace(options, cancellation=cancellation)
        )
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            cancellation.cancel()
            # Nobody waits for its error any more.
            future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            raise

    def close(self) -> None:
        self._executor.shutdown(wait=False)
