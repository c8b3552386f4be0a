"""Sends calls: with credentials, within a deadline, and again when that is safe."""

from __future__ import annotations

import http.client
import json
import os
import random
import secrets
import socket
import ssl
import time
from collections import deque
from email.message import Message
from typing import Any, Callable, Deque, Dict, Iterator, Mapping, NamedTuple, Optional, Tuple, Union
from urllib.parse import urlsplit

from .cancellation import Cancellation
from .errors import CallCancelled, DeadlineError, SwitchyardError, TransportError, read_error
from .operation import CallOptions, HttpRequest, Operation, ResponseInfo, to_http_request

Token = Union[str, Callable[[], str]]

_IDLE_MAX = 64
_CHUNK = 65536
_LOST = (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError, ConnectionAbortedError)


class Backoff(NamedTuple):
    """The first wait and the longest wait between retries, in seconds."""

    initial: float = 0.2
    longest: float = 5.0

    def delay(self, failures: int, retry_after: Optional[float] = None) -> float:
        """The wait before the next retry. Half of it is random, so that callers that failed together do not return together."""
        grown = min(self.longest, self.initial * 2 ** min(failures - 1, 30))
        if retry_after is not None:
            return retry_after + random.random() * min(grown, retry_after / 4)
        return grown / 2 + random.random() * grown / 2


class Connection:
    """A connection with the response that is being read from it."""

    def __init__(self, pool: "_ConnectionPool", connection: http.client.HTTPConnection) -> None:
        self._pool = pool
        self._connection = connection
        #: Kept here, because http.client forgets it when the response says `Connection: close`.
        self.socket: Optional[socket.socket] = connection.sock
        self.response: http.client.HTTPResponse

    def set_timeout(self, seconds: Optional[float]) -> None:
        self._connection.timeout = seconds
        if self.socket is not None and self.socket.fileno() >= 0:
            self.socket.settimeout(seconds)

    def send(self, verb: str, target: str, body: Optional[bytes], headers: Mapping[str, str]) -> None:
        if self._connection.sock is None:
            self._connection.connect()
            self.socket = self._connection.sock
        self._connection.request(verb, target, body, dict(headers))

    def receive(self) -> http.client.HTTPResponse:
        self.response = self._connection.getresponse()
        return self.response

    def release(self) -> None:
        """Lets another call use the connection, if the response was read to its end."""
        if self.response.isclosed() and not self.response.will_close:
            self._pool.give_back(self._connection)
        else:
            self.close()

    def close(self) -> None:
        self._connection.close()


class _ConnectionPool:
    """Connections that are open and not in use."""

    def __init__(self, base_url: str, tls: Optional[ssl.SSLContext]) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(
                f"base_url must be an http or https URL (for example: https://switchyard.example), not {base_url}"
            )
        self._scheme = parts.scheme
        self._host = parts.hostname
        self._port = parts.port
        self._tls = tls or (ssl.create_default_context() if parts.scheme == "https" else None)
        self.prefix = parts.path.rstrip("/")
        self._idle: Deque[http.client.HTTPConnection] = deque()
        self._process = os.getpid()

    def take(self) -> Tuple[Connection, bool]:
        """Returns a connection, and whether it was used before."""
        if self._process != os.getpid():
            # The connections belong to the process before the fork.
            self._process = os.getpid()
            self._idle = deque()
        try:
            return Connection(self, self._idle.pop()), True
        except IndexError:
            return Connection(self, self._open()), False

    def give_back(self, connection: http.client.HTTPConnection) -> None:
        if len(self._idle) < _IDLE_MAX:
            self._idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _open(self) -> http.client.HTTPConnection:
        if self._scheme == "https":
            return http.client.HTTPSConnection(self._host, self._port, context=self._tls)
        return http.client.HTTPConnection(self._host, self._port)


class RawResponse:
    """A response whose body is no JSON. Read it to its end or close it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.status = connection.response.status
        self.headers: Message = connection.response.headers

    def read(self) -> bytes:
        """Reads the rest of the body."""
        return b"".join(self)

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from _chunks(self._connection.response)
        except (OSError, http.client.HTTPException) as error:
            raise _lost(error) from error
        finally:
            self._connection.release()

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> "RawResponse":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Transport:
    """Sends calls over connections that it keeps. It may be used by many threads."""

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
    ) -> None:
        self._connections = _ConnectionPool(base_url, tls)
        self._api_key = api_key
        self._token = token
        self._headers = dict(headers or {})
        #: The time for a call that sets none, in seconds.
        self.timeout = timeout
        #: How often a call that does not set it is repeated.
        self.max_retries = max_retries
        self.backoff = backoff

    def call(self, operation: Operation, fields: Dict[str, Any], options: Optional[CallOptions] = None) -> Any:
        """Sends a call and reads its JSON response."""
        return self._attempt(operation, fields, options or CallOptions(), _read_json)

    def open(
        self,
        operation: Operation,
        fields: Dict[str, Any],
        options: Optional[CallOptions] = None,
        silence: Optional[float] = None,
    ) -> Connection:
        """Sends a call and returns its connection as soon as the headers arrive. `silence` limits each later read."""

        def keep(connection: Connection, _: Callable[[], float]) -> Connection:
            connection.set_timeout(silence)
            return connection

        return self._attempt(operation, fields, options or CallOptions(), keep)

    def close(self) -> None:
        """Closes the connections that are not in use."""
        self._connections.close()

    def _attempt(
        self,
        operation: Operation,
        fields: Dict[str, Any],
        options: CallOptions,
        read: Callable[[Connection, Callable[[], float]], Any],
    ) -> Any:
        request = to_http_request(operation, fields)
        key = secrets.token_hex(16) if options.idempotency_key is None else options.idempotency_key
        timeout = self.timeout if options.timeout is None else options.timeout
        retries = self.max_retries if options.max_retries is None else options.max_retries
        cancellation = options.cancellation or Cancellation()
        ends_at = time.monotonic() + timeout

        def remaining() -> float:
            left = ends_at - time.monotonic()
            if left <= 0:
                raise DeadlineError(timeout)
            return left

        attempt = 0
        while True:
            attempt += 1
            try:
                headers = self._headers_of(operation, request, key, options)
                connection = self._send(operation.verb, request, headers, remaining, cancellation)
                with cancellation.ends(connection.socket):
                    return self._receive(connection, options, attempt, remaining, read)
            except (OSError, http.client.HTTPException, SwitchyardError) as cause:
                if cancellation.is_cancelled:
                    raise CallCancelled("the call is cancelled") from cause
                if isinstance(cause, socket.timeout) or time.monotonic() >= ends_at:
                    raise DeadlineError(timeout) from cause
                error = cause if isinstance(cause, SwitchyardError) else _lost(cause)
                wait = self.backoff.delay(attempt, error.retry_after)
                if not error.retryable or attempt > retries or wait >= ends_at - time.monotonic():
                    if error is cause:
                        raise
                    raise error from cause
                cancellation.wait(wait)

    def _send(
        self,
        verb: str,
        request: HttpRequest,
        headers: Mapping[str, str],
        remaining: Callable[[], float],
        cancellation: Cancellation,
    ) -> Connection:
        while True:
            connection, was_used = self._connections.take()
            try:
                connection.set_timeout(remaining())
                with cancellation.ends(connection.socket):
                    connection.send(verb, self._connections.prefix + request.target, request.body, headers)
                with cancellation.ends(connection.socket):
                    connection.receive()
                return connection
            except _LOST:
                connection.close()
                # The service closes connections that were idle for long. Every call can be repeated.
                if not was_used or cancellation.is_cancelled:
                    raise
            except BaseException:
                connection.close()
                raise

    def _receive(
        self,
        connection: Connection,
        options: CallOptions,
        attempt: int,
        remaining: Callable[[], float],
        read: Callable[[Connection, Callable[[], float]], Any],
    ) -> Any:
        response = connection.response
        try:
            if options.on_response is not None:
                request_id = response.headers.get("x-request-id", "")
                options.on_response(ResponseInfo(response.status, response.headers, request_id, attempt))
            if 200 <= response.status < 300:
                return read(connection, remaining)
            body = _read_body(connection, remaining)
        except BaseException:
            connection.close()
            raise
        connection.release()
        raise read_error(response.status, response.headers.get("retry-after"), body)

    def _headers_of(
        self, operation: Operation, request: HttpRequest, key: str, options: CallOptions
    ) -> Mapping[str, str]:
        headers = {"accept": "application/json", **self._headers, **(options.headers or {})}
        if request.content_type:
            headers.setdefault("content-type", request.content_type)
        if operation.keyed and key:
            headers["idempotency-key"] = key
        if self._api_key is not None:
            headers["x-api-key"] = self._api_key
        elif self._token is not None:
            headers["authorization"] = f"Bearer {self._token() if callable(self._token) else self._token}"
        return headers


def _read_body(connection: Connection, remaining: Callable[[], float]) -> bytes:
    chunks = []
    connection.set_timeout(remaining())
    for chunk in _chunks(connection.response):
        chunks.append(chunk)
        connection.set_timeout(remaining())
    return b"".join(chunks)


def _chunks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Reads a body as it arrives."""
    while True:
        chunk = response.read1(_CHUNK)
        if not chunk:
            break
        yield chunk
    # read1() takes the end of the connection for the end of the body.
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    response.close()


def _read_json(connection: Connection, remaining: Callable[[], float]) -> Any:
    body = _read_body(connection, remaining)
    try:
        value = json.loads(body)
    except ValueError as cause:
        status = connection.response.status
        raise TransportError("the response is not JSON", status=status, retryable=False) from cause
    connection.release()
    return value


def _lost(cause: Exception) -> TransportError:
    return TransportError(f"the connection failed: {cause or type(cause).__name__}")
