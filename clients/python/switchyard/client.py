"""The clients."""

from __future__ import annotations

import ssl
from typing import Mapping, Optional

from .batching import Batcher
from .generated.all_services import AsyncServices, Services
from .threads import ThreadRunner
from .transport import Backoff, Token, Transport


class Client(Services):
    """
    Calls the service. One client serves all threads of a program.

    With `batching`, calls of `routing.route`, `work.complete_item`, `work.fail_item`, `workflow_streams.append_record`,
    `experiments.record_score` and `experiments.assign` that are made by several threads at the same time share requests.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: Optional[str] = None,
        token: Optional[Token] = None,
        timeout: float = 30.0,
        max_retries: int = 2,
        backoff: Backoff = Backoff(),
        headers: Optional[Mapping[str, str]] = None,
        tls: Optional[ssl.SSLContext] = None,
        batching: bool = False,
    ) -> None:
        self.transport = Transport(
            base_url,
            api_key=api_key,
            token=token,
            timeout=timeout,
            max_retries=max_retries,
            backoff=backoff,
            headers=headers,
            tls=tls,
        )
        super().__init__(self.transport, Batcher(self.transport) if batching else None)

    def close(self) -> None:
        """Closes the connections that are not in use."""
        self.transport.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(AsyncServices):
    """
    Calls the service from asyncio programs. The calls run in up to `threads` threads; with `batching`, calls that share
    requests do not count. A task that is cancelled ends its call.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: Optional[str] = None,
        token: Optional[Token] = None,
        timeout: float = 30.0,
        max_retries: int = 2,
        backoff: Backoff = Backoff(),
        headers: Optional[Mapping[str, str]] = None,
        tls: Optional[ssl.SSLContext] = None,
        batching: bool = False,
        threads: int = 64,
    ) -> None:
        self.transport = Transport(
            base_url,
            api_key=api_key,
            token=token,
            timeout=timeout,
            max_retries=max_retries,
            backoff=backoff,
            headers=headers,
            tls=tls,
        )
        self._threads = ThreadRunner(threads)
        super().__init__(self.transport, self._threads, Batcher(self.transport) if batching else None)

    async def close(self) -> None:
        """Closes the connections that are not in use, and ends the threads that have no call."""
        self._threads.close()
        self.transport.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
