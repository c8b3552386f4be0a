"""Messages that the service sends as they happen."""

from __future__ import annotations

import http.client
import json
from dataclasses import replace
from typing import Any, AsyncIterator, Dict, Generic, Iterator, List, NamedTuple, Optional, TypeVar

from .cancellation import Cancellation
from .errors import ApiError, CallCancelled, SwitchyardError, TransportError, parse_problem
from .operation import CallOptions, Operation
from .threads import ThreadRunner
from .transport import Connection, Transport

Message = TypeVar("Message")

#: The service sends a comment every 15 seconds. A connection that is silent for longer is dead.
_SILENCE_MAX = 45.0
_END = object()


class EventStream(Generic[Message]):
    """
    A stream. A connection that fails or ends is opened again after the last message that was received. The iteration ends
    when the service says that the stream is complete, or after `close()`.
    """

    def __init__(
        self, transport: Transport, operation: Operation, fields: Dict[str, Any], options: Optional[CallOptions]
    ) -> None:
        self._transport = transport
        self._operation = operation
        self._fields = fields
        self._options = options or CallOptions()
        self._cancellation = self._options.cancellation or Cancellation()
        #: The id of the last message, with which another stream continues; empty before the first.
        self.last_event_id = ""

    def close(self) -> None:
        """Ends the stream. It may be called from another thread."""
        self._cancellation.cancel()

    def __iter__(self) -> Iterator[Message]:
        failures = 0
        while not self._cancellation.is_cancelled:
            try:
                for event in self._read():
                    if event.type == "error":
                        raise _to_error(event.data)
                    if event.type == "end":
                        return
                    # Types that a later version of the service may add.
                    if event.type != "message":
                        continue
                    failures = 0
                    self.last_event_id = event.id
                    yield json.loads(event.data)
                # A node that stops closes its connections. Another node continues.
                raise TransportError("the connection ended before the stream was complete")
            except CallCancelled:
                return
            except (OSError, http.client.HTTPException, SwitchyardError) as error:
                if self._cancellation.is_cancelled:
                    return
                if isinstance(error, SwitchyardError) and not error.retryable:
                    raise
                failures += 1
                self._cancellation.wait(
                    self._transport.backoff.delay(failures, getattr(error, "retry_after", None))
                )

    def __enter__(self) -> "EventStream[Message]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> "Iterator[_Event]":
        headers = {**(self._options.headers or {}), "accept": "text/event-stream"}
        if self.last_event_id:
            headers["last-event-id"] = self.last_event_id
        options = replace(self._options, headers=headers, max_retries=0, cancellation=self._cancellation)
        connection = self._transport.open(self._operation, self._fields, options, silence=_SILENCE_MAX)
        try:
            with self._cancellation.ends(connection.socket):
                yield from _events(connection)
        finally:
            connection.close()


class AsyncEventStream(Generic[Message]):
    """A stream, read with `async for` in a thread of its own. Otherwise like `EventStream`."""

    def __init__(self, stream: EventStream[Message], cancellation: Cancellation) -> None:
        self._stream = stream
        self._options = CallOptions(cancellation=cancellation)

    @property
    def last_event_id(self) -> str:
        """The id of the last message, with which another stream continues; empty before the first."""
        return self._stream.last_event_id

    def close(self) -> None:
        """Ends the stream."""
        self._stream.close()

    async def __aiter__(self) -> AsyncIterator[Message]:
        messages = iter(self._stream)
        # A stream holds its thread for as long as it is open, so it takes none of those of calls.
        thread = ThreadRunner(1)
        try:
            while True:
                message = await thread.call(lambda _: next(messages, _END), self._options)
                if message is _END:
                    return
                yield message
        finally:
            self._stream.close()
            thread.close()


class _Event(NamedTuple):
    id: str
    type: str
    data: str


def _events(connection: Connection) -> Iterator[_Event]:
    """Parses the event stream format."""
    event_id, kind = "", ""
    data: List[str] = []
    while True:
        line = connection.response.readline()
        if not line:
            return
        text = line.decode("utf-8").rstrip("\r\n")
        if text == "":
            if data:
                yield _Event(event_id, kind or "message", "\n".join(data))
            kind, data = "", []
            continue
        field, _, value = text.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "data":
            data.append(value)
        elif field == "event":
            kind = value
        elif field == "id" and "\0" not in value:
            event_id = value


def _to_error(data: str) -> SwitchyardError:
    problem = parse_problem(data)
    if problem is None:
        return TransportError("the stream ended with an error that cannot be read")
    return ApiError(int(problem.get("status", 500)), problem)
