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
    from ..types.trigger_subscription import ReplayTriggerEventsResponse, TriggerEvent, TriggerSubscription, TriggerTargetInput

CREATE = Operation("POST", "/api/v2/connector/trigger-subscriptions", body="*", keyed=True)
GET = Operation("GET", "/api/v2/connector/trigger-subscriptions/{subscription_id}")
LIST = Operation("GET", "/api/v2/connector/trigger-subscriptions", result="cursor")
UPDATE = Operation("PATCH", "/api/v2/connector/trigger-subscriptions/{subscription_id}", body="*", keyed=True)
PAUSE = Operation("POST", "/api/v2/connector/trigger-subscriptions/{subscription_id}:pause", body="*", keyed=True)
RESUME = Operation("POST", "/api/v2/connector/trigger-subscriptions/{subscription_id}:resume", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/v2/connector/trigger-subscriptions/{subscription_id}", keyed=True)
LIST_TRIGGER_EVENTS = Operation("GET", "/api/v2/connector/trigger-events", result="cursor")
GET_TRIGGER_EVENT = Operation("GET", "/api/v2/connector/trigger-events/{event_id}")
REPLAY_TRIGGER_EVENT = Operation("POST", "/api/v2/connector/trigger-events/{event_id}:replay", body="*", keyed=True)
REPLAY_TRIGGER_EVENTS = Operation("POST", "/api/v2/connector/trigger-subscriptions/{subscription_id}:replay", body="*", keyed=True)


class TriggerSubscriptionService(Service):
    """Trigger subscriptions: what happens in a connected account starts a workflow run, routes an item, or is only recorded."""

    def create(
        self,
        *,
        name: str,
        trigger_key: str,
        connection_id: str,
        environment_id: str | None = None,
        input: Mapping[str, Any] | None = None,
        condition: str | None = None,
        target: TriggerTargetInput | None = None,
        signing_secret: str | None = None,
        call: CallOptions | None = None,
    ) -> TriggerSubscription:
        """
        Creates a subscription to a trigger of a provider. A webhook is registered at the provider, or the first poll is made, right after the response; ready_at is set when events are received.

        name: The name.
        trigger_key: The key of the trigger, such as github.issue.changed.
        connection_id: The connection whose account is observed.
        environment_id: The id or the key of the environment of the target; production when empty.
        input: The parameters of the trigger, as its schema defines them.
        condition: CEL over event (id, type, subject, time, data); always true when empty. An error counts as false.
        target: What receives the events; they are only recorded when absent.
        signing_secret: What the provider signs deliveries with, or its public key. Required for webhooks that the service does not register; not allowed otherwise. Never returned.
        """
        return self._call(CREATE, locals())

    def get(
        self,
        *,
        subscription_id: str,
        call: CallOptions | None = None,
    ) -> TriggerSubscription:
        """
        Returns one subscription, never its secret.

        subscription_id: The subscription's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        connection_id: str | None = None,
        trigger_key: str | None = None,
        status: Literal["", "active", "paused", "failing", "expired"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[TriggerSubscription]:
        """
        Lists the subscriptions of the caller's tenant, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        connection_id: Only subscriptions of this connection.
        trigger_key: Only subscriptions of this trigger.
        status: Only subscriptions with this status.
        """
        return self._call(LIST, locals())

    def update(
        self,
        *,
        subscription_id: str,
        name: str | None = None,
        input: Mapping[str, Any] | None = None,
        condition: str | None = None,
        target: TriggerTargetInput | None = None,
        signing_secret: str | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> TriggerSubscription:
        """
        Changes the fields that are present. A new input is registered at the provider again, and events count from then on.

        subscription_id: The subscription's id.
        name: The name.
        input: The parameters of the trigger.
        condition: CEL over event; always true when empty.
        target: What receives the events.
        signing_secret: What the provider signs deliveries with. The previous secret is no longer accepted.
        record_version: Only if the record still has this version.
        """
        return self._call(UPDATE, locals())

    def pause(
        self,
        *,
        subscription_id: str,
        call: CallOptions | None = None,
    ) -> TriggerSubscription:
        """
        Pauses a subscription: its webhook is removed at the provider and polls stop. What happens meanwhile is not received. A paused subscription stays unchanged.

        subscription_id: The subscription's id.
        """
        return self._call(PAUSE, locals())

    def resume(
        self,
        *,
        subscription_id: str,
        call: CallOptions | None = None,
    ) -> TriggerSubscription:
        """
        Resumes a paused subscription: events count from then on. Any other subscription stays unchanged.

        subscription_id: The subscription's id.
        """
        return self._call(RESUME, locals())

    def delete(
        self,
        *,
        subscription_id: str,
        call: CallOptions | None = None,
    ) -> TriggerSubscription:
        """
        Deletes a subscription and removes its webhook at the provider. Its events stay until their retention ends.

        subscription_id: The subscription's id.
        """
        return self._call(DELETE, locals())

    def list_trigger_events(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        subscription_id: str | None = None,
        status: Literal["", "pending", "delivered", "ignored", "recorded", "dead"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[TriggerEvent]:
        """
        Lists received events, newest first, without their payloads.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        subscription_id: Only events of this subscription.
        status: Only events with this status.
        """
        return self._call(LIST_TRIGGER_EVENTS, locals())

    def get_trigger_event(
        self,
        *,
        event_id: str,
        call: CallOptions | None = None,
    ) -> TriggerEvent:
        """
        Returns one event with its payload. Credentials in the payload are redacted.

        event_id: The event's id.
        """
        return self._call(GET_TRIGGER_EVENT, locals())

    def replay_trigger_event(
        self,
        *,
        event_id: str,
        call: CallOptions | None = None,
    ) -> TriggerEvent:
        """
        Delivers an ended event to the target of its subscription again, as a new effect. An event that is still being delivered is refused.

        event_id: The event's id.
        """
        return self._call(REPLAY_TRIGGER_EVENT, locals())

    def replay_trigger_events(
        self,
        *,
        subscription_id: str,
        from_: str | datetime,
        to: str | datetime,
        status: Literal["", "dead", "delivered", "ignored", "recorded"] | None = None,
        call: CallOptions | None = None,
    ) -> ReplayTriggerEventsResponse:
        """
        Delivers the ended events of a subscription in a time range again, oldest first, at most 1,000 per call.

        subscription_id: The subscription's id.
        from_: Events received at this time or later.
        to: Events received before this time.
        status: Only events with this status: dead (default), delivered, ignored or recorded.
        """
        return self._call(REPLAY_TRIGGER_EVENTS, locals())


class AsyncTriggerSubscriptionService(AsyncService):
    """Trigger subscriptions: what happens in a connected account starts a workflow run, routes an item, or is only recorded."""

    async def create(
        self,
        *,
        name: str,
        trigger_key: str,
        connection_id: str,
        environment_id: str | None = None,
        input: Mapping[str, Any] | None = None,
        condition: str | None = None,
        target: TriggerTargetInput | None = None,
        signing_secret: str | None = None,
        call: CallOptions | None = None,
    ) -> TriggerSubscription:
        """
        Creates a subscription to a trigger of a provider. A webhook is registered at the provider, or the first poll is made, right after the response; ready_at is set when events are received.

        name: The name.
        trigger_key: The key of the trigger, such as github.issue.changed.
        connection_id: The connection whose account is observed.
        environment_id: The id or the key of the environment of the target; production when empty.
        input: The parameters of the trigger, as its schema defines them.
        condition: CEL over event (id, type, subject, time, data); always true when empty. An error counts as false.
        target: What receives the events; they are only recorded when absent.
        signing_secret: What the provider signs deliveries with, or its public key. Required for webhooks that the service does not register; not allowed otherwise. Never returned.
        """
        return await self._call(CREATE, locals())

    async def get(
        self,
        *,
        subscription_id: str,
        call: CallOptions | None = None,
    ) -> TriggerSubscription:
        """
        Returns one subscription, never its secret.

        subscription_id: The subscription's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        connection_id: str | None = None,
        trigger_key: str | None = None,
        status: Literal["", "active", "paused", "failing", "expired"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[TriggerSubscription]:
        """
        Lists the subscriptions of the caller's tenant, oldest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        connection_id: Only subscriptions of this connection.
        trigger_key: Only subscriptions of this trigger.
        status: Only subscriptions with this status.
        """
        return self._list(LIST, locals())

    async def update(
        self,
        *,
        subscription_id: str,
        name: str | None = None,
        input: Mapping[str, Any] | None = None,
        condition: str | None = None,
        target: TriggerTargetInput | None = None,
        signing_secret: str | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> TriggerSubscription:
        """
        Changes the fields that are present. A new input is registered at the provider again, and events count from then on.

        subscription_id: The subscription's id.
        name: The name.
        input: The parameters of the trigger.
        condition: CEL over event; always true when empty.
        target: What receives the events.
        signing_secret: What the provider signs deliveries with. The previous secret is no longer accepted.
        record_version: Only if the record still has this version.
        """
        return await self._call(UPDATE, locals())

    async def pause(
        self,
        *,
        subscription_id: str,
        call: CallOptions | None = None,
    ) -> TriggerSubscription:
        """
        Pauses a subscription: its webhook is removed at the provider and polls stop. What happens meanwhile is not received. A paused subscription stays unchanged.

        subscription_id: The subscription's id.
        """
        return await self._call(PAUSE, locals())

    async def resume(
        self,
        *,
        subscription_id: str,
        call: CallOptions | None = None,
    ) -> TriggerSubscription:
        """
        Resumes a paused subscription: events count from then on. Any other subscription stays unchanged.

        subscription_id: The subscription's id.
        """
        return await self._call(RESUME, locals())

    async def delete(
        self,
        *,
        subscription_id: str,
        call: CallOptions | None = None,
    ) -> TriggerSubscription:
        """
        Deletes a subscription and removes its webhook at the provider. Its events stay until their retention ends.

        subscription_id: The subscription's id.
        """
        return await self._call(DELETE, locals())

    def list_trigger_events(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        subscription_id: str | None = None,
        status: Literal["", "pending", "delivered", "ignored", "recorded", "dead"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[TriggerEvent]:
        """
        Lists received events, newest first, without their payloads.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        subscription_id: Only events of this subscription.
        status: Only events with this status.
        """
        return self._list(LIST_TRIGGER_EVENTS, locals())

    async def get_trigger_event(
        self,
        *,
        event_id: str,
        call: CallOptions | None = None,
    ) -> TriggerEvent:
        """
        Returns one event with its payload. Credentials in the payload are redacted.

        event_id: The event's id.
        """
        return await self._call(GET_TRIGGER_EVENT, locals())

    async def replay_trigger_event(
        self,
        *,
        event_id: str,
        call: CallOptions | None = None,
    ) -> TriggerEvent:
        """
        Delivers an ended event to the target of its subscription again, as a new effect. An event that is still being delivered is refused.

        event_id: The event's id.
        """
        return await self._call(REPLAY_TRIGGER_EVENT, locals())

    async def replay_trigger_events(
        self,
        *,
        subscription_id: str,
        from_: str | datetime,
        to: str | datetime,
        status: Literal["", "dead", "delivered", "ignored", "recorded"] | None = None,
        call: CallOptions | None = None,
    ) -> ReplayTriggerEventsResponse:
        """
        Delivers the ended events of a subscription in a time range again, oldest first, at most 1,000 per call.

        subscription_id: The subscription's id.
        from_: Events received at this time or later.
        to: Events received before this time.
        status: Only events with this status: dead (default), delivered, ignored or recorded.
        """
        return await self._call(REPLAY_TRIGGER_EVENTS, locals())
