"""Verifies webhooks as Standard Webhooks define them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from typing import TYPE_CHECKING, Mapping, Optional, Sequence, Union

if TYPE_CHECKING:
    from .generated.types.event import Event


class WebhookVerificationError(Exception):
    """A webhook that cannot be trusted. Answer it with status 400 and do not process it."""


def verify_webhook(
    body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance: float = 300.0,
    now: Optional[float] = None,
) -> Event:
    """
    Verifies a webhook and returns its event. The body must be the bytes or the text that arrived, because any other formatting
    has another signature. During a rotation either secret verifies it. `tolerance` is the largest difference between the
    clocks of sender and receiver in seconds.
    """
    names = {name.lower(): value for name, value in headers.items()}
    webhook_id = _header(names, "webhook-id")
    timestamp = _header(names, "webhook-timestamp")
    signatures = [each[3:] for each in _header(names, "webhook-signature").split(" ") if each.startswith("v1,")]
    is_time = timestamp.isascii() and timestamp.isdigit()
    age = (time.time() if now is None else now) - float(timestamp) if is_time else float("inf")
    if abs(age) > tolerance:
        raise WebhookVerificationError("the webhook is too old, or the clock of this machine is wrong")
    payload = body.encode() if isinstance(body, str) else body
    signed = f"{webhook_id}.{timestamp}.".encode() + payload
    for each in [secret] if isinstance(secret, str) else secret:
        expected = base64.b64encode(hmac.new(_key(each), signed, hashlib.sha256).digest())
        for signature in signatures:
            if hmac.compare_digest(expected, signature.encode()):
                return json.loads(payload)
    raise WebhookVerificationError("no signature of the webhook matches")


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name, "")
    if value == "":
        raise WebhookVerificationError(f"the header {name} is missing")
    return value


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    except ValueError:
        key = b""
    if not key:
        raise ValueError("the secret must be whsec_ and base64")
    return key
