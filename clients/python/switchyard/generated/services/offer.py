# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence

from ...operation import Operation
from ...service import AsyncService, Service

if TYPE_CHECKING:
    from ...lists import AsyncPagedList, PagedList
    from ...operation import CallOptions
    from ...streams import AsyncEventStream, EventStream
    from ...transport import RawResponse
    from ..types.item_offer import ItemOffer
    from ..types.offer import Offer
    from ..types.work import LeasedItem

LIST = Operation("GET", "/api/queues/{pool_id}/offers", result="cursor")
ACCEPT = Operation("POST", "/api/queues/{pool_id}/items/{queue_item_id}/accept", body="*", keyed=True)
DECLINE = Operation("POST", "/api/queues/{pool_id}/items/{queue_item_id}/decline", body="*", keyed=True)


class OfferService(Service):
    """Offers: in a pool with reservations, a recipient accepts or declines an item before it works on it."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str,
        recipient_id: str | None = None,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Offer]:
        """
        Lists the open offers of a pool, oldest item first. With wait_s, waits while there are none, and returns an empty list at the latest after that time.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: The pool.
        recipient_id: Only offers to this recipient.
        wait_s: Seconds to wait for an offer while there is none. Only the first page waits.
        """
        return self._call(LIST, locals())

    def accept(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        recipient_id: str,
        offer_number: int,
        lease_s: int | None = None,
        call: CallOptions | None = None,
    ) -> LeasedItem:
        """
        Accepts an offer: the item is leased to the recipient. A repeated call returns the same lease while it is held.

        pool_id: The pool.
        queue_item_id: The item.
        recipient_id: The recipient that accepts it: the one that the offer was made to.
        offer_number: The number of the offer.
        lease_s: Seconds until the lease expires; the pool's value when 0.
        """
        return self._call(ACCEPT, locals())

    def decline(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        recipient_id: str,
        offer_number: int,
        reason_code: str | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> ItemOffer:
        """
        Declines an offer: the item goes to the next recipient. It uses up no attempt.

        pool_id: The pool.
        queue_item_id: The item.
        recipient_id: The recipient that declines it: the one that the offer was made to.
        offer_number: The number of the offer.
        reason_code: A stable code for the reason.
        reason: The message for people.
        """
        return self._call(DECLINE, locals())


class AsyncOfferService(AsyncService):
    """Offers: in a pool with reservations, a recipient accepts or declines an item before it works on it."""

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        pool_id: str,
        recipient_id: str | None = None,
        wait_s: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Offer]:
        """
        Lists the open offers of a pool, oldest item first. With wait_s, waits while there are none, and returns an empty list at the latest after that time.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        pool_id: The pool.
        recipient_id: Only offers to this recipient.
        wait_s: Seconds to wait for an offer while there is none. Only the first page waits.
        """
        return self._list(LIST, locals())

    async def accept(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        recipient_id: str,
        offer_number: int,
        lease_s: int | None = None,
        call: CallOptions | None = None,
    ) -> LeasedItem:
        """
        Accepts an offer: the item is leased to the recipient. A repeated call returns the same lease while it is held.

        pool_id: The pool.
        queue_item_id: The item.
        recipient_id: The recipient that accepts it: the one that the offer was made to.
        offer_number: The number of the offer.
        lease_s: Seconds until the lease expires; the pool's value when 0.
        """
        return await self._call(ACCEPT, locals())

    async def decline(
        self,
        *,
        pool_id: str,
        queue_item_id: str,
        recipient_id: str,
        offer_number: int,
        reason_code: str | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> ItemOffer:
        """
        Declines an offer: the item goes to the next recipient. It uses up no attempt.

        pool_id: The pool.
        queue_item_id: The item.
        recipient_id: The recipient that declines it: the one that the offer was made to.
        offer_number: The number of the offer.
        reason_code: A stable code for the reason.
        reason: The message for people.
        """
        return await self._call(DECLINE, locals())
