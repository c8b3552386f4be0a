"""Errors of calls."""

from __future__ import annotations

import json
import time
from email.utils import parsedate_to_datetime
from typing import Any, Mapping, Optional, Sequence


class SwitchyardError(Exception):
    """A failed call."""

    #: Whether the same call, unchanged, can succeed later.
    retryable = False
    #: The wait that the service asks for, in seconds.
    retry_after: Optional[float] = None


class ApiError(SwitchyardError):
    """The service has refused or failed a call. `code` says why."""

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: Optional[float] = None) -> None:
        super().__init__(f"{problem['errorCode']}: {problem.get('detail', '')}")
        self.code: str = problem["errorCode"]
        self.status = status
        self.retryable = bool(problem.get("retryable", False))
        self.retry_after = retry_after
        #: The id of the request in the logs of the service; empty if the response has none.
        self.request_id: str = problem.get("request_id", "")
        #: The invalid fields, each with `field`, `rule` and `message`; empty for other errors.
        self.violations: Sequence[Mapping[str, str]] = problem.get("violations", ())
        #: What the service would have accepted instead, where that can be known: JSON Patches and values.
        self.corrections: Sequence[Mapping[str, Any]] = problem.get("corrections", ())
        #: The whole problem document (RFC 9457).
        self.problem = problem


class TransportError(SwitchyardError):
    """No usable response has arrived: the connection failed, or something else than the service has answered."""

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = True,
        status: Optional[int] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        #: The HTTP status, if there was a response.
        self.status = status
        self.retry_after = retry_after


class DeadlineError(SwitchyardError):
    """The time of a call is over. Its effect is unknown; repeat it with the same idempotency key to find out."""

    retryable = True

    def __init__(self, timeout: float) -> None:
        super().__init__(f"no response within {timeout:g} s")


class BacklogError(SwitchyardError):
    """Too many calls wait for their batch. The call was not sent: make it again when others have ended."""

    retryable = True

    def __init__(self, waiting_max: int) -> None:
        super().__init__(f"{waiting_max} calls wait to be sent already")


class CallCancelled(SwitchyardError):
    """The caller has cancelled the call. Its effect is unknown."""


def read_error(status: int, retry_after: Optional[str], body: bytes) -> SwitchyardError:
    """Reads an error response. Responses that are not problem documents come from a proxy or another server."""
    wait = read_retry_after(retry_after)
    problem = parse_problem(body)
    if problem is not None:
        return ApiError(status, problem, wait)
    text = body[:200].decode("utf-8", "replace")
    return TransportError(
        f"unexpected response with status {status}: {text}",
        status=status,
        retry_after=wait,
        retryable=status in (408, 429, 502, 503, 504),
    )


def parse_problem(body: "bytes | str") -> Optional[Mapping[str, Any]]:
    """Parses a problem document of the service; None if the body is something else."""
    try:
        value = json.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("errorCode"), str) else None


def read_retry_after(text: Optional[str]) -> Optional[float]:
    """Reads Retry-After, which is a number of seconds or a date, as seconds."""
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
