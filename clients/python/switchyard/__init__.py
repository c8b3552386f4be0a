"""
The client of Switchyard, for Python 3.9 and newer, with the standard library only.

`Client` calls the service, `AsyncClient` does the same for asyncio. Workers are in `switchyard.workers`, the types of requests
and responses in `switchyard.types`.
"""

from .cancellation import Cancellation
from .client import AsyncClient, Client
from .generated.error_codes import ErrorCode
from .errors import ApiError, BacklogError, CallCancelled, DeadlineError, SwitchyardError, TransportError
from .operation import NO_KEY, CallOptions, ResponseInfo
from .transport import Backoff, RawResponse
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "NO_KEY",
    "ApiError",
    "AsyncClient",
    "Backoff",
    "BacklogError",
    "CallCancelled",
    "CallOptions",
    "Cancellation",
    "Client",
    "DeadlineError",
    "ErrorCode",
    "RawResponse",
    "ResponseInfo",
    "SwitchyardError",
    "TransportError",
    "WebhookVerificationError",
    "verify_webhook",
]
