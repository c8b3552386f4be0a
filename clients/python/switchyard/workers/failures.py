"""How handlers fail and stop."""

from __future__ import annotations

import re
from typing import Any, Optional

from ..operation import dump_json

_MESSAGE_MAX = 1000


class WorkFailure(Exception):
    """
    Says how a handler failed. Any other exception of a handler is a failure too, with its `code`, if that is one of a workflow,
    and may be retried unless its `retryable` is False.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "",
        retryable: bool = True,
        retry_after: Optional[float] = None,
        details: Any = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        #: A stable code: lower-case letters, digits and underscores. Empty for none.
        self.code = code
        #: Whether another attempt makes sense.
        self.retryable = retryable
        #: Seconds until the next attempt. Only workflow tasks obey it; items of queues have the back-off of their pool.
        self.retry_after = retry_after
        #: Further data for the workflow. Items of queues have none.
        self.details = details


class LeaseLost(Exception):
    """Somebody else has the work now, or nobody needs it."""

    def __init__(self, message: str = "the lease is lost: the result is not needed any more") -> None:
        super().__init__(message)


class WorkerStopped(Exception):
    """The worker stops, and its time to finish is over."""

    def __init__(self) -> None:
        super().__init__("the worker stops")


def to_work_failure(error: BaseException) -> WorkFailure:
    """Converts what a handler has raised to a failure that can be reported."""
    if isinstance(error, WorkFailure):
        try:
            dump_json(error.details)
            return error
        except (TypeError, ValueError, RecursionError) as cause:
            # They must not fail the call that reports them.
            error.details = {"error": f"the details are no JSON: {cause}"[:_MESSAGE_MAX]}
            return error
    code = getattr(error, "code", "")
    is_code = isinstance(code, str) and re.fullmatch(r"[a-z][a-z0-9_]*", code)
    message = (str(error) or type(error).__name__)[:_MESSAGE_MAX]
    return WorkFailure(message, code=code if is_code else "", retryable=getattr(error, "retryable", True) is not False)
