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
    from ..types.recipient import BatchCreateRecipientsResponse, NewRecipient, Recipient, RecipientDeliveryInput, RecipientSkills, RecipientStatus

CREATE = Operation("POST", "/api/pools/{pool_id}/recipients", body="*", keyed=True)
BATCH_CREATE = Operation("POST", "/api/pools/{pool_id}/recipients:batch", body="*", keyed=True)
GET = Operation("GET", "/api/recipients/{recipient_id}")
LIST = Operation("GET", "/api/pools/{pool_id}/recipients", result="cursor")
UPDATE = Operation("PATCH", "/api/recipients/{recipient_id}", body="*", keyed=True)
PAUSE = Operation("POST", "/api/recipients/{recipient_id}/pause", body="*", keyed=True)
RESUME = Operation("POST", "/api/recipients/{recipient_id}/resume", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/recipients/{recipient_id}", keyed=True)


class RecipientService(Service):
    """Recipients: people, programs or systems that process work, each in one pool."""

    def create(
        self,
        *,
        pool_id: str,
        name: str,
        status: RecipientStatus | None = None,
        weight: int | None = None,
        capacity: int | None = None,
        priority: int | None = None,
        attributes: Mapping[str, Any] | None = None,
        skills: Mapping[str, int] | None = None,
        cost: float | None = None,
        delivery: RecipientDeliveryInput | None = None,
        call: CallOptions | None = None,
    ) -> Recipient:
        """
        Adds a recipient to a pool.

        pool_id: The pool.
        name: The display name, unique in its pool.
        status: The initial status: active (when unspecified), paused, draining or offline.
        weight: Its weight relative to others, 0 to 1,000,000; default 100, 0 excludes it.
        capacity: The maximum number of items it processes at the same time; default 0, no limit.
        priority: Lower is chosen first; default 100.
        attributes: The attributes for rules, at most 16 KiB as JSON.
        skills: Skills by name, each with its level, 1 to 5.
        cost: The expected cost of an item, until outcomes report it; default 0.
        delivery: How items are delivered to it; default: it leases them.
        """
        return self._call(CREATE, locals())

    def batch_create(
        self,
        *,
        pool_id: str,
        recipients: Sequence[NewRecipient],
        call: CallOptions | None = None,
    ) -> BatchCreateRecipientsResponse:
        """
        Adds up to 1,000 recipients to a pool: all of them or none.

        pool_id: The pool.
        recipients: The recipients, with unique names.
        """
        return self._call(BATCH_CREATE, locals())

    def get(
        self,
        *,
        recipient_id: str,
        call: CallOptions | None = None,
    ) -> Recipient:
        """
        Returns one recipient.

        recipient_id: The recipient's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        pool_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: RecipientStatus | None = None,
        name: str | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Recipient]:
        """
        Lists the recipients of a pool, or of all pools.

        pool_id: The pool's id, or - for all pools.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        status: Only recipients in this status; removed ones are never listed.
        name: Only those with this name.
        """
        return self._call(LIST, locals())

    def update(
        self,
        *,
        recipient_id: str,
        name: str | None = None,
        status: RecipientStatus | None = None,
        weight: int | None = None,
        capacity: int | None = None,
        priority: int | None = None,
        attributes: Mapping[str, Any] | None = None,
        skill_set: RecipientSkills | None = None,
        cost: float | None = None,
        delivery: RecipientDeliveryInput | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Recipient:
        """
        Changes the fields that are present.

        recipient_id: The recipient's id.
        name: The display name.
        status: STATUS_ACTIVE, STATUS_PAUSED, STATUS_DRAINING or STATUS_OFFLINE.
        weight: Its weight relative to others; 0 excludes it.
        capacity: The maximum number of items it processes at the same time; 0 for no limit.
        priority: Lower is chosen first.
        attributes: Replaces the attributes for rules.
        skill_set: Replaces the skills.
        cost: The expected cost of an item, until outcomes report it.
        delivery: The changed fields of the delivery.
        record_version: Makes the change conditional on this version.
        """
        return self._call(UPDATE, locals())

    def pause(
        self,
        *,
        recipient_id: str,
        reason: str | None = None,
        for_s: int | None = None,
        call: CallOptions | None = None,
    ) -> Recipient:
        """
        Pauses a recipient: it gets no new items. It keeps the items that it has leased. With for_s, it is resumed by itself.

        recipient_id: The recipient's id.
        reason: The reason, for people.
        for_s: Seconds until it is resumed by itself; 0 if somebody has to resume it. A repeated call with another end replaces the pause.
        """
        return self._call(PAUSE, locals())

    def resume(
        self,
        *,
        recipient_id: str,
        call: CallOptions | None = None,
    ) -> Recipient:
        """
        Resumes a recipient. It ramps up during the pool's slow start.

        recipient_id: The recipient's id.
        """
        return self._call(RESUME, locals())

    def delete(
        self,
        *,
        recipient_id: str,
        call: CallOptions | None = None,
    ) -> Recipient:
        """
        Removes a recipient from its pool. Items that it has leased can still be completed.

        recipient_id: The recipient's id.
        """
        return self._call(DELETE, locals())


class AsyncRecipientService(AsyncService):
    """Recipients: people, programs or systems that process work, each in one pool."""

    async def create(
        self,
        *,
        pool_id: str,
        name: str,
        status: RecipientStatus | None = None,
        weight: int | None = None,
        capacity: int | None = None,
        priority: int | None = None,
        attributes: Mapping[str, Any] | None = None,
        skills: Mapping[str, int] | None = None,
        cost: float | None = None,
        delivery: RecipientDeliveryInput | None = None,
        call: CallOptions | None = None,
    ) -> Recipient:
        """
        Adds a recipient to a pool.

        pool_id: The pool.
        name: The display name, unique in its pool.
        status: The initial status: active (when unspecified), paused, draining or offline.
        weight: Its weight relative to others, 0 to 1,000,000; default 100, 0 excludes it.
        capacity: The maximum number of items it processes at the same time; default 0, no limit.
        priority: Lower is chosen first; default 100.
        attributes: The attributes for rules, at most 16 KiB as JSON.
        skills: Skills by name, each with its level, 1 to 5.
        cost: The expected cost of an item, until outcomes report it; default 0.
        delivery: How items are delivered to it; default: it leases them.
        """
        return await self._call(CREATE, locals())

    async def batch_create(
        self,
        *,
        pool_id: str,
        recipients: Sequence[NewRecipient],
        call: CallOptions | None = None,
    ) -> BatchCreateRecipientsResponse:
        """
        Adds up to 1,000 recipients to a pool: all of them or none.

        pool_id: The pool.
        recipients: The recipients, with unique names.
        """
        return await self._call(BATCH_CREATE, locals())

    async def get(
        self,
        *,
        recipient_id: str,
        call: CallOptions | None = None,
    ) -> Recipient:
        """
        Returns one recipient.

        recipient_id: The recipient's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        pool_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: RecipientStatus | None = None,
        name: str | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Recipient]:
        """
        Lists the recipients of a pool, or of all pools.

        pool_id: The pool's id, or - for all pools.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        status: Only recipients in this status; removed ones are never listed.
        name: Only those with this name.
        """
        return self._list(LIST, locals())

    async def update(
        self,
        *,
        recipient_id: str,
        name: str | None = None,
        status: RecipientStatus | None = None,
        weight: int | None = None,
        capacity: int | None = None,
        priority: int | None = None,
        attributes: Mapping[str, Any] | None = None,
        skill_set: RecipientSkills | None = None,
        cost: float | None = None,
        delivery: RecipientDeliveryInput | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Recipient:
        """
        Changes the fields that are present.

        recipient_id: The recipient's id.
        name: The display name.
        status: STATUS_ACTIVE, STATUS_PAUSED, STATUS_DRAINING or STATUS_OFFLINE.
        weight: Its weight relative to others; 0 excludes it.
        capacity: The maximum number of items it processes at the same time; 0 for no limit.
        priority: Lower is chosen first.
        attributes: Replaces the attributes for rules.
        skill_set: Replaces the skills.
        cost: The expected cost of an item, until outcomes report it.
        delivery: The changed fields of the delivery.
        record_version: Makes the change conditional on this version.
        """
        return await self._call(UPDATE, locals())

    async def pause(
        self,
        *,
        recipient_id: str,
        reason: str | None = None,
        for_s: int | None = None,
        call: CallOptions | None = None,
    ) -> Recipient:
        """
        Pauses a recipient: it gets no new items. It keeps the items that it has leased. With for_s, it is resumed by itself.

        recipient_id: The recipient's id.
        reason: The reason, for people.
        for_s: Seconds until it is resumed by itself; 0 if somebody has to resume it. A repeated call with another end replaces the pause.
        """
        return await self._call(PAUSE, locals())

    async def resume(
        self,
        *,
        recipient_id: str,
        call: CallOptions | None = None,
    ) -> Recipient:
        """
        Resumes a recipient. It ramps up during the pool's slow start.

        recipient_id: The recipient's id.
        """
        return await self._call(RESUME, locals())

    async def delete(
        self,
        *,
        recipient_id: str,
        call: CallOptions | None = None,
    ) -> Recipient:
        """
        Removes a recipient from its pool. Items that it has leased can still be completed.

        recipient_id: The recipient's id.
        """
        return await self._call(DELETE, locals())
