"""Operations of the API, and the requests that they become."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime, timezone
from email.message import Message
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple
from urllib.parse import quote, urlencode

from .cancellation import Cancellation


class Operation(NamedTuple):
    """An operation of the API, as far as a call needs it."""

    verb: str
    #: The path with its variables: `/api/pools/{pool_id}`.
    path: str
    #: The field that is the body, or "*" for all fields that are not in the path. Without it, they are in the query.
    body: str = ""
    #: What a call returns: one record (default), a list with cursors or page numbers, a stream, or a raw response.
    result: str = ""
    #: Whether a call has an idempotency key. Every other call changes nothing, so it can be repeated as well.
    keyed: bool = False


class ResponseInfo(NamedTuple):
    """What is known about a response besides its data."""

    status: int
    headers: Message
    #: The id of the request in the logs of the service; empty if the response has none.
    request_id: str
    #: The number of the attempt, from 1.
    attempt: int


#: Sends no idempotency key, which suits a call that is harmless to repeat, such as a heartbeat.
NO_KEY = ""


@dataclass(frozen=True)
class CallOptions:
    """Settings of one call."""

    #: The time for the call with all its retries, in seconds.
    timeout: Optional[float] = None
    #: How often the call is repeated after a failure that allows it.
    max_retries: Optional[int] = None
    #: The idempotency key; a random one by default. All retries of the call have the same.
    idempotency_key: Optional[str] = None
    #: Additional request headers, such as `if-match`.
    headers: Optional[Mapping[str, str]] = None
    #: Is called with every response, also with those that are retried.
    on_response: Optional[Callable[[ResponseInfo], None]] = None
    #: Ends the call from another thread.
    cancellation: Optional[Cancellation] = None


class JsonList(List[str]):
    """A list whose items are JSON already."""


class HttpRequest(NamedTuple):
    """A call as HTTP."""

    #: The path with the query.
    target: str
    body: Optional[bytes]
    content_type: str


def to_http_request(operation: Operation, fields: Dict[str, Any]) -> HttpRequest:
    """Converts the fields of a call to HTTP: they go to the path, the body or the query."""
    rest = {name: value for name, value in fields.items() if value is not None}
    path = re.sub(r"\{(\w+)\}", lambda match: _take_segment(operation, rest, match.group(1)), operation.path)
    if operation.body == "":
        return HttpRequest(path + _query(rest), None, "")
    if operation.body == "*":
        return HttpRequest(path, dump_json(rest).encode(), "application/json")
    raw = rest.pop(operation.body, b"")
    body = raw.encode() if isinstance(raw, str) else bytes(raw)
    return HttpRequest(path + _query(rest), body, "application/octet-stream")


def dump_json(value: Any) -> str:
    """Writes a value as JSON. Times become RFC 3339."""
    if isinstance(value, dict):
        name = next((name for name, each in value.items() if isinstance(each, JsonList)), None)
        if name is not None:
            rest = dump_json({key: each for key, each in value.items() if key != name})[1:]
            return f'{{"{name}":[{",".join(value[name])}]{"" if rest == "}" else ","}{rest}'
    return json.dumps(value, separators=(",", ":"), allow_nan=False, default=_to_json)


def _to_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return _format_time(value)
    raise TypeError(f"{type(value).__name__} is no JSON: {value!r}")


def _format_time(time: datetime) -> str:
    if time.tzinfo is None:
        raise ValueError(f"{time!r} has no time zone (for example: datetime.now(timezone.utc))")
    return time.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def _take_segment(operation: Operation, fields: Dict[str, Any], name: str) -> str:
    value = fields.pop(name, "")
    if value == "":
        raise ValueError(f"{name} is missing: it is part of the path {operation.path}")
    return quote(str(value), safe="-_.~")


def _query(fields: Mapping[str, Any]) -> str:
    pairs: List[Tuple[str, str]] = []
    for name, value in fields.items():
        for each in value if isinstance(value, (list, tuple, set, frozenset)) else [value]:
            pairs.append((name, _query_text(each)))
    return f"?{urlencode(pairs)}" if pairs else ""


def _query_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _format_time(value) if isinstance(value, datetime) else str(value)
