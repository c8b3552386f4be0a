# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _ItemOfferRequired(TypedDict):
    #: The number of the offer among those of the item, from 1.
    offer_number: int
    #: The recipient that it was made to.
    recipient_id: str
    #: open, accepted, declined, expired or withdrawn. A withdrawn offer ended without a refusal: an operator assigned the item, or its queue was paused.
    state: str
    #: Why it was declined, as a stable code.
    reason_code: str
    #: Why it was declined, in words.
    reason: str
    #: Who accepted, declined or withdrew it; empty for the service itself.
    ended_by: str


class ItemOffer(_ItemOfferRequired, total=False):
    """An offer of an item to a recipient, open or ended."""

    #: When it was made.
    offered_at: str
    #: When an open offer expires.
    expires_at: str
    #: When it ended.
    ended_at: str
