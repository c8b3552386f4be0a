"""The base of the generated services."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple

from .cancellation import Cancellation
from .lists import AsyncPagedList, PagedList
from .operation import CallOptions, Operation
from .streams import AsyncEventStream, EventStream
from .threads import ThreadRunner
from .transport import RawResponse, Transport

if TYPE_CHECKING:
    from .batching import Batcher


class Service:
    """The operations of one service."""

    def __init__(self, transport: Transport, batcher: "Optional[Batcher]" = None) -> None:
        self._transport = transport
        self._batcher = batcher

    def _call(self, operation: Operation, arguments: Dict[str, Any]) -> Any:
        fields, options = _divide(arguments)
        if operation.result in ("cursor", "numbered"):
            return PagedList(self._transport, operation, fields, options)
        if operation.result == "stream":
            return EventStream(self._transport, operation, fields, options)
        if operation.result == "raw":
            return RawResponse(self._transport.open(operation, fields, options, silence=self._transport.timeout))
        waiting = None if self._batcher is None else self._batcher.submit(operation, fields, options)
        if waiting is not None:
            return waiting.result()
        return self._transport.call(operation, fields, options)["data"]


class AsyncService:
    """The operations of one service, for asyncio."""

    def __init__(self, transport: Transport, threads: ThreadRunner, batcher: "Optional[Batcher]" = None) -> None:
        self._transport = transport
        self._threads = threads
        self._batcher = batcher

    async def _call(self, operation: Operation, arguments: Dict[str, Any]) -> Any:
        fields, options = _divide(arguments)
        waiting = None if self._batcher is None else self._batcher.submit(operation, fields, options)
        if waiting is not None:
            return await waiting.result_async()
        if operation.result == "raw":
            return await self._threads.call(
                lambda each: RawResponse(self._transport.open(operation, fields, each, self._transport.timeout)), options
            )
        return (await self._threads.call(lambda each: self._transport.call(operation, fields, each), options))["data"]

    def _list(self, operation: Operation, arguments: Dict[str, Any]) -> Any:
        return AsyncPagedList(self._threads, self._transport, operation, *_divide(arguments))

    def _stream(self, operation: Operation, arguments: Dict[str, Any]) -> Any:
        fields, options = _divide(arguments)
        cancellation = (options and options.cancellation) or Cancellation()
        options = replace(options or CallOptions(), cancellation=cancellation)
        stream: EventStream[Any] = EventStream(self._transport, operation, fields, options)
        return AsyncEventStream(stream, cancellation)


def _divide(arguments: Dict[str, Any]) -> Tuple[Dict[str, Any], Optional[CallOptions]]:
    """Divides the local variables of a method. A field that is a keyword of Python ends with an underscore there."""
    options = arguments.pop("call", None)
    del arguments["self"]
    return {name.rstrip("_"): value for name, value in arguments.items()}, options
