# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _OfferRequired(TypedDict):
    #: The item.
    queue_item_id: str
    #: The pool.
    pool_id: str
    #: The recipient that may accept it.
    recipient_id: str
    #: The number of the offer among those of the item, from 1. It must be sent to accept or decline the offer.
    offer_number: int
    #: The item's type.
    type: str
    #: The item's key.
    key: str
    #: The item's priority.
    priority: int
    #: The number of attempts that were started before.
    attempt: int


class Offer(_OfferRequired, total=False):
    """An open offer, with the item that is offered."""

    #: When it was made.
    offered_at: str
    #: When it expires.
    expires_at: str
    #: The attributes for rules.
    attributes: Dict[str, Any]
    #: The payload for the worker.
    payload: Dict[str, Any]
    #: When the item was accepted by the service.
    enqueued_at: str
