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
    from ..types.webhook import WebhookDelivery, WebhookDeliveryStatus, WebhookEndpoint, WebhookEndpointStatus, WebhookEventTypes, WebhookHeaders, WebhookReplay, WebhookReplaySelection, WebhookRetryDelays

CREATE_ENDPOINT = Operation("POST", "/api/v2/webhooks/endpoints", body="*", keyed=True)
GET_ENDPOINT = Operation("GET", "/api/v2/webhooks/endpoints/{endpoint_id}")
LIST_ENDPOINTS = Operation("GET", "/api/v2/webhooks/endpoints", result="cursor")
UPDATE_ENDPOINT = Operation("PATCH", "/api/v2/webhooks/endpoints/{endpoint_id}", body="*", keyed=True)
DELETE_ENDPOINT = Operation("DELETE", "/api/v2/webhooks/endpoints/{endpoint_id}", keyed=True)
ROTATE_SECRET = Operation("POST", "/api/v2/webhooks/endpoints/{endpoint_id}:rotate_secret", body="*", keyed=True)
TEST_ENDPOINT = Operation("POST", "/api/v2/webhooks/endpoints/{endpoint_id}:send-test", body="*", keyed=True)
REPLAY_ENDPOINT = Operation("POST", "/api/v2/webhooks/endpoints/{endpoint_id}:replay", body="*", keyed=True)
GET_REPLAY = Operation("GET", "/api/v2/webhooks/endpoints/{endpoint_id}/replays/{replay_id}")
LIST_DELIVERIES = Operation("GET", "/api/v2/webhooks/endpoints/{endpoint_id}/deliveries", result="cursor")
LIST_EVENT_DELIVERIES = Operation("GET", "/api/events/{event_id}/deliveries", result="cursor")
GET_DELIVERY = Operation("GET", "/api/v2/webhooks/endpoints/{endpoint_id}/deliveries/{delivery_id}")
REPLAY_DELIVERY = Operation("POST", "/api/v2/webhooks/endpoints/{endpoint_id}/deliveries/{delivery_id}:replay", body="*", keyed=True)


class WebhookService(Service):
    """Webhooks: events of the log, sent to HTTP endpoints of the tenant and signed as Standard Webhooks."""

    def create_endpoint(
        self,
        *,
        url: str,
        description: str | None = None,
        event_types: Sequence[str] | None = None,
        environment_mode: Literal["", "any", "production_only", "non_production_only"] | None = None,
        headers: Mapping[str, str] | None = None,
        ordered: bool | None = None,
        retry_delays_s: Sequence[int] | None = None,
        transform: Any | None = None,
        call: CallOptions | None = None,
    ) -> WebhookEndpoint:
        """
        Creates an endpoint for events from now on. Only this response contains its secret.

        url: The URL to post events to, https or http, without credentials.
        description: The description.
        event_types: The event types, exact or with a prefix such as "order.*"; all when empty or "*".
        environment_mode: The environments whose events are sent: any, production_only or non_production_only; the caller's mode when empty.
        headers: Headers that are sent with every message, such as an authorization that the receiver needs. Sealed and never returned.
        ordered: Sends events one after the other, in the order of the log. An event that fails blocks the next ones until its attempts end.
        retry_delays_s: The delays between attempts, in seconds; the default schedule when empty.
        transform: A template of the body: JSON in which texts that start with "=" are CEL expressions over the variable event. Without one, the body is the event in the CloudEvents format.
        """
        return self._call(CREATE_ENDPOINT, locals())

    def get_endpoint(
        self,
        *,
        endpoint_id: str,
        call: CallOptions | None = None,
    ) -> WebhookEndpoint:
        """
        Returns one endpoint, never its secret.

        endpoint_id: The endpoint's id.
        """
        return self._call(GET_ENDPOINT, locals())

    def list_endpoints(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[WebhookEndpoint]:
        """
        Lists the endpoints of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_ENDPOINTS, locals())

    def update_endpoint(
        self,
        *,
        endpoint_id: str,
        url: str | None = None,
        description: str | None = None,
        event_type_set: WebhookEventTypes | None = None,
        status: WebhookEndpointStatus | None = None,
        record_version: int | None = None,
        event_types: Sequence[str] | None = None,
        header_set: WebhookHeaders | None = None,
        ordered: bool | None = None,
        retry_delay_set: WebhookRetryDelays | None = None,
        transform: Any | None = None,
        headers: Mapping[str, str] | None = None,
        retry_delays_s: Sequence[int] | None = None,
        call: CallOptions | None = None,
    ) -> WebhookEndpoint:
        """
        Changes the fields that are present. An enabled endpoint gets events from then on.

        endpoint_id: The endpoint's id.
        url: The URL to post events to.
        description: The description.
        event_type_set: Replaces the types of events, like event_types, and can be empty.
        status: Enables or disables it.
        record_version: Makes the change conditional on this version.
        event_types: Replaces the types of events unless empty; ["*"] selects all.
        header_set: Replaces the additional headers, like headers, and can be empty.
        ordered: Sends events one after the other, or not.
        retry_delay_set: Replaces the delays between attempts, like retry_delays_s, and can be empty.
        transform: Replaces the template of the body; null removes it.
        headers: Replaces the additional headers unless empty.
        retry_delays_s: Replaces the delays between attempts unless empty, in seconds.
        """
        return self._call(UPDATE_ENDPOINT, locals())

    def delete_endpoint(
        self,
        *,
        endpoint_id: str,
        call: CallOptions | None = None,
    ) -> WebhookEndpoint:
        """
        Deletes an endpoint, its secrets and its deliveries.

        endpoint_id: The endpoint's id.
        """
        return self._call(DELETE_ENDPOINT, locals())

    def rotate_secret(
        self,
        *,
        endpoint_id: str,
        call: CallOptions | None = None,
    ) -> WebhookEndpoint:
        """
        Creates a new secret; only this response contains it. The previous secret also signs for another 24 hours.

        endpoint_id: The endpoint's id.
        """
        return self._call(ROTATE_SECRET, locals())

    def test_endpoint(
        self,
        *,
        endpoint_id: str,
        data: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> WebhookDelivery:
        """
        Sends an event of the type webhook.endpoint.test to one endpoint, whatever its event types are.

        endpoint_id: The endpoint's id.
        data: The data of the event, for example to try the endpoint's template.
        """
        return self._call(TEST_ENDPOINT, locals())

    def replay_endpoint(
        self,
        *,
        endpoint_id: str,
        since: str | datetime,
        until: str | datetime | None = None,
        selection: WebhookReplaySelection | None = None,
        call: CallOptions | None = None,
    ) -> WebhookReplay:
        """
        Replays the events of a time range in the background.

        endpoint_id: The endpoint's id.
        since: Events that were recorded at or after this time.
        until: Events that were recorded before this time; now when absent.
        selection: The events to send; default: those whose delivery failed.
        """
        return self._call(REPLAY_ENDPOINT, locals())

    def get_replay(
        self,
        *,
        endpoint_id: str,
        replay_id: str,
        call: CallOptions | None = None,
    ) -> WebhookReplay:
        """
        Returns the progress of a replay.

        endpoint_id: The endpoint's id.
        replay_id: The replay's id.
        """
        return self._call(GET_REPLAY, locals())

    def list_deliveries(
        self,
        *,
        endpoint_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: WebhookDeliveryStatus | None = None,
        event_types: Sequence[str] | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[WebhookDelivery]:
        """
        Lists the deliveries of an endpoint, newest event first.

        endpoint_id: The endpoint's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        status: Only deliveries in this status.
        event_types: Only deliveries of these event types, exact or with a prefix such as "order.*".
        since: Only events that were recorded at or after this time.
        until: Only events that were recorded before this time.
        """
        return self._call(LIST_DELIVERIES, locals())

    def list_event_deliveries(
        self,
        *,
        event_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[WebhookDelivery]:
        """
        Lists the deliveries of one event to all endpoints.

        event_id: The event's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_EVENT_DELIVERIES, locals())

    def get_delivery(
        self,
        *,
        endpoint_id: str,
        delivery_id: str,
        call: CallOptions | None = None,
    ) -> WebhookDelivery:
        """
        Returns one delivery with its attempts.

        endpoint_id: The endpoint's id.
        delivery_id: The delivery's id.
        """
        return self._call(GET_DELIVERY, locals())

    def replay_delivery(
        self,
        *,
        endpoint_id: str,
        delivery_id: str,
        call: CallOptions | None = None,
    ) -> WebhookDelivery:
        """
        Replays one delivery now, with a new series of attempts.

        endpoint_id: The endpoint's id.
        delivery_id: The delivery's id.
        """
        return self._call(REPLAY_DELIVERY, locals())


class AsyncWebhookService(AsyncService):
    """Webhooks: events of the log, sent to HTTP endpoints of the tenant and signed as Standard Webhooks."""

    async def create_endpoint(
        self,
        *,
        url: str,
        description: str | None = None,
        event_types: Sequence[str] | None = None,
        environment_mode: Literal["", "any", "production_only", "non_production_only"] | None = None,
        headers: Mapping[str, str] | None = None,
        ordered: bool | None = None,
        retry_delays_s: Sequence[int] | None = None,
        transform: Any | None = None,
        call: CallOptions | None = None,
    ) -> WebhookEndpoint:
        """
        Creates an endpoint for events from now on. Only this response contains its secret.

        url: The URL to post events to, https or http, without credentials.
        description: The description.
        event_types: The event types, exact or with a prefix such as "order.*"; all when empty or "*".
        environment_mode: The environments whose events are sent: any, production_only or non_production_only; the caller's mode when empty.
        headers: Headers that are sent with every message, such as an authorization that the receiver needs. Sealed and never returned.
        ordered: Sends events one after the other, in the order of the log. An event that fails blocks the next ones until its attempts end.
        retry_delays_s: The delays between attempts, in seconds; the default schedule when empty.
        transform: A template of the body: JSON in which texts that start with "=" are CEL expressions over the variable event. Without one, the body is the event in the CloudEvents format.
        """
        return await self._call(CREATE_ENDPOINT, locals())

    async def get_endpoint(
        self,
        *,
        endpoint_id: str,
        call: CallOptions | None = None,
    ) -> WebhookEndpoint:
        """
        Returns one endpoint, never its secret.

        endpoint_id: The endpoint's id.
        """
        return await self._call(GET_ENDPOINT, locals())

    def list_endpoints(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[WebhookEndpoint]:
        """
        Lists the endpoints of the caller's tenant.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_ENDPOINTS, locals())

    async def update_endpoint(
        self,
        *,
        endpoint_id: str,
        url: str | None = None,
        description: str | None = None,
        event_type_set: WebhookEventTypes | None = None,
        status: WebhookEndpointStatus | None = None,
        record_version: int | None = None,
        event_types: Sequence[str] | None = None,
        header_set: WebhookHeaders | None = None,
        ordered: bool | None = None,
        retry_delay_set: WebhookRetryDelays | None = None,
        transform: Any | None = None,
        headers: Mapping[str, str] | None = None,
        retry_delays_s: Sequence[int] | None = None,
        call: CallOptions | None = None,
    ) -> WebhookEndpoint:
        """
        Changes the fields that are present. An enabled endpoint gets events from then on.

        endpoint_id: The endpoint's id.
        url: The URL to post events to.
        description: The description.
        event_type_set: Replaces the types of events, like event_types, and can be empty.
        status: Enables or disables it.
        record_version: Makes the change conditional on this version.
        event_types: Replaces the types of events unless empty; ["*"] selects all.
        header_set: Replaces the additional headers, like headers, and can be empty.
        ordered: Sends events one after the other, or not.
        retry_delay_set: Replaces the delays between attempts, like retry_delays_s, and can be empty.
        transform: Replaces the template of the body; null removes it.
        headers: Replaces the additional headers unless empty.
        retry_delays_s: Replaces the delays between attempts unless empty, in seconds.
        """
        return await self._call(UPDATE_ENDPOINT, locals())

    async def delete_endpoint(
        self,
        *,
        endpoint_id: str,
        call: CallOptions | None = None,
    ) -> WebhookEndpoint:
        """
        Deletes an endpoint, its secrets and its deliveries.

        endpoint_id: The endpoint's id.
        """
        return await self._call(DELETE_ENDPOINT, locals())

    async def rotate_secret(
        self,
        *,
        endpoint_id: str,
        call: CallOptions | None = None,
    ) -> WebhookEndpoint:
        """
        Creates a new secret; only this response contains it. The previous secret also signs for another 24 hours.

        endpoint_id: The endpoint's id.
        """
        return await self._call(ROTATE_SECRET, locals())

    async def test_endpoint(
        self,
        *,
        endpoint_id: str,
        data: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> WebhookDelivery:
        """
        Sends an event of the type webhook.endpoint.test to one endpoint, whatever its event types are.

        endpoint_id: The endpoint's id.
        data: The data of the event, for example to try the endpoint's template.
        """
        return await self._call(TEST_ENDPOINT, locals())

    async def replay_endpoint(
        self,
        *,
        endpoint_id: str,
        since: str | datetime,
        until: str | datetime | None = None,
        selection: WebhookReplaySelection | None = None,
        call: CallOptions | None = None,
    ) -> WebhookReplay:
        """
        Replays the events of a time range in the background.

        endpoint_id: The endpoint's id.
        since: Events that were recorded at or after this time.
        until: Events that were recorded before this time; now when absent.
        selection: The events to send; default: those whose delivery failed.
        """
        return await self._call(REPLAY_ENDPOINT, locals())

    async def get_replay(
        self,
        *,
        endpoint_id: str,
        replay_id: str,
        call: CallOptions | None = None,
    ) -> WebhookReplay:
        """
        Returns the progress of a replay.

        endpoint_id: The endpoint's id.
        replay_id: The replay's id.
        """
        return await self._call(GET_REPLAY, locals())

    def list_deliveries(
        self,
        *,
        endpoint_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        status: WebhookDeliveryStatus | None = None,
        event_types: Sequence[str] | None = None,
        since: str | datetime | None = None,
        until: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[WebhookDelivery]:
        """
        Lists the deliveries of an endpoint, newest event first.

        endpoint_id: The endpoint's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        status: Only deliveries in this status.
        event_types: Only deliveries of these event types, exact or with a prefix such as "order.*".
        since: Only events that were recorded at or after this time.
        until: Only events that were recorded before this time.
        """
        return self._list(LIST_DELIVERIES, locals())

    def list_event_deliveries(
        self,
        *,
        event_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[WebhookDelivery]:
        """
        Lists the deliveries of one event to all endpoints.

        event_id: The event's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_EVENT_DELIVERIES, locals())

    async def get_delivery(
        self,
        *,
        endpoint_id: str,
        delivery_id: str,
        call: CallOptions | None = None,
    ) -> WebhookDelivery:
        """
        Returns one delivery with its attempts.

        endpoint_id: The endpoint's id.
        delivery_id: The delivery's id.
        """
        return await self._call(GET_DELIVERY, locals())

    async def replay_delivery(
        self,
        *,
        endpoint_id: str,
        delivery_id: str,
        call: CallOptions | None = None,
    ) -> WebhookDelivery:
        """
        Replays one delivery now, with a new series of attempts.

        endpoint_id: The endpoint's id.
        delivery_id: The delivery's id.
        """
        return await self._call(REPLAY_DELIVERY, locals())
