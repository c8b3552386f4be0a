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
    from ..types.preference import ChannelPreferencesInput, Preference, QuietHoursInput
    from ..types.subscriber import ChannelEndpoint, EraseSubscriberResponse, ExplainSubscriberResponse, ExportSubscriberResponse, PreviewPreferencesResponse, Subscriber, SubscriberProfile, UpsertSubscriberBatchResponse
    from ..types.topic import Subscription

UPSERT = Operation("POST", "/api/v2/notification/subscribers", body="*", keyed=True)
UPSERT_BATCH = Operation("POST", "/api/v2/notification/subscribers:batch", body="*", keyed=True)
GET = Operation("GET", "/api/v2/notification/subscribers/{id}")
LIST = Operation("GET", "/api/v2/notification/subscribers", result="cursor")
UPDATE = Operation("PUT", "/api/v2/notification/subscribers/{id}", body="*", keyed=True)
DELETE = Operation("DELETE", "/api/v2/notification/subscribers/{id}", keyed=True)
UPSERT_ENDPOINT = Operation("POST", "/api/v2/notification/subscribers/{subscriber_id}/endpoints", body="*", keyed=True)
DELETE_ENDPOINT = Operation("DELETE", "/api/v2/notification/subscribers/{subscriber_id}/endpoints/{endpoint_id}", keyed=True)
LIST_ENDPOINTS = Operation("GET", "/api/v2/notification/subscribers/{subscriber_id}/endpoints", result="cursor")
UPSERT_SUBSCRIPTION = Operation("POST", "/api/v2/notification/subscribers/{subscriber_id}/subscriptions", body="*", keyed=True)
DELETE_SUBSCRIPTION = Operation("DELETE", "/api/v2/notification/subscribers/{subscriber_id}/subscriptions/{topic_key}", keyed=True)
LIST_SUBSCRIPTIONS = Operation("GET", "/api/v2/notification/subscribers/{subscriber_id}/subscriptions", result="cursor")
LIST_PREFERENCES = Operation("GET", "/api/v2/notification/subscribers/{subscriber_id}/preferences", result="cursor")
UPSERT_PREFERENCE = Operation("POST", "/api/v2/notification/subscribers/{subscriber_id}/preferences", body="*", keyed=True)
PREVIEW_PREFERENCES = Operation("POST", "/api/v2/notification/subscribers/{subscriber_id}/preferences:preview", body="*")
EXPLAIN = Operation("GET", "/api/v2/notification/subscribers/{id}:explain")
EXPORT = Operation("GET", "/api/v2/notification/subscribers/{id}:export")
ERASE = Operation("POST", "/api/v2/notification/subscribers/{id}:erase", body="*", keyed=True)


class SubscriberService(Service):
    """Subscribers: people who receive notifications, with their addresses, topics and preferences."""

    def upsert(
        self,
        *,
        external_id: str,
        first_name: str | None = None,
        last_name: str | None = None,
        email: str | None = None,
        phone: str | None = None,
        avatar: str | None = None,
        locale: str | None = None,
        timezone: str | None = None,
        data: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> Subscriber:
        """
        Creates the subscriber with this external id, or changes the present fields of an existing one. A deleted subscriber becomes active again.

        external_id: The tenant's own id, any text.
        first_name: The given name.
        last_name: The family name.
        email: The email address.
        phone: The phone number in E.164 format, such as +4930901820.
        avatar: The URL of a picture.
        locale: The language as a BCP 47 tag, such as de-CH.
        timezone: The time zone as an IANA name, such as Europe/Berlin.
        data: Free-form data of the tenant, at most 64 KiB as JSON; it replaces the previous data.
        """
        return self._call(UPSERT, locals())

    def upsert_batch(
        self,
        *,
        subscribers: Sequence[SubscriberProfile],
        call: CallOptions | None = None,
    ) -> UpsertSubscriberBatchResponse:
        """
        Creates or changes up to 1,000 subscribers, each like UpsertSubscriber. An invalid one is reported in its result and does not affect the others.

        subscribers: The subscribers. An external id that is given twice is an error of its second item.
        """
        return self._call(UPSERT_BATCH, locals())

    def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Subscriber:
        """
        Returns one subscriber, active or not.

        id: The subscriber's id.
        """
        return self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        external_id: str | None = None,
        email: str | None = None,
        active: bool | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Subscriber]:
        """
        Lists the subscribers of the caller's tenant, active or not, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        external_id: Only the subscriber with this external id.
        email: Only those with this email address, ignoring case.
        active: Only active ones, or only inactive ones.
        """
        return self._call(LIST, locals())

    def update(
        self,
        *,
        id: str,
        first_name: str | None = None,
        last_name: str | None = None,
        email: str | None = None,
        phone: str | None = None,
        avatar: str | None = None,
        locale: str | None = None,
        timezone: str | None = None,
        data: Mapping[str, Any] | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Subscriber:
        """
        Replaces the profile of a subscriber: absent fields are cleared. The external id cannot change.

        id: The subscriber's id.
        first_name: The given name.
        last_name: The family name.
        email: The email address.
        phone: The phone number in E.164 format, such as +4930901820.
        avatar: The URL of a picture.
        locale: The language as a BCP 47 tag, such as de-CH.
        timezone: The time zone as an IANA name, such as Europe/Berlin.
        data: Free-form data of the tenant, at most 64 KiB as JSON.
        record_version: Makes the change conditional on this version.
        """
        return self._call(UPDATE, locals())

    def delete(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Subscriber:
        """
        Deactivates a subscriber: nothing is sent to it. Its endpoints and subscriptions are kept.

        id: The subscriber's id.
        """
        return self._call(DELETE, locals())

    def upsert_endpoint(
        self,
        *,
        subscriber_id: str,
        channel: Literal["email", "sms", "push", "chat", "in_app"],
        provider_key: str | None = None,
        identity: str,
        connection_id: str | None = None,
        verified: bool | None = None,
        metadata: Mapping[str, Any] | None = None,
        take_over: bool | None = None,
        call: CallOptions | None = None,
    ) -> ChannelEndpoint:
        """
        Adds an endpoint to a subscriber, or confirms that it is in use. An address belongs to one subscriber only: a push token moves here by itself, any other address only with take_over.

        subscriber_id: The subscriber's id.
        channel: The channel: email, sms, push, chat or in_app.
        provider_key: The provider that the address was registered with; "default" when empty. On push and chat, only this provider uses it. Email addresses and phone numbers are served by any integration.
        identity: The address or token: an email address, a phone number such as +4930901820, or the provider's id of a device, chat or inbox. At most 2,048 bytes.
        connection_id: The connection to pin the address to, of a provider that serves the channel; an empty string removes the pin. A pinned address is only served by this connection, through an integration of its provider.
        verified: Whether the subscriber confirmed it; default false.
        metadata: Free-form data of the tenant, at most 16 KiB as JSON; it replaces the previous data.
        take_over: Takes the address over from another subscriber, which loses it. Without it, the address of another subscriber is refused. Push tokens always move: a device has one user at a time.
        """
        return self._call(UPSERT_ENDPOINT, locals())

    def delete_endpoint(
        self,
        *,
        subscriber_id: str,
        endpoint_id: str,
        call: CallOptions | None = None,
    ) -> ChannelEndpoint:
        """
        Removes an endpoint of a subscriber.

        subscriber_id: The subscriber's id.
        endpoint_id: The endpoint's id.
        """
        return self._call(DELETE_ENDPOINT, locals())

    def list_endpoints(
        self,
        *,
        subscriber_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        channel: Literal["email", "sms", "push", "chat", "in_app"] | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[ChannelEndpoint]:
        """
        Lists the endpoints of a subscriber.

        subscriber_id: The subscriber's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        channel: Only those of this channel.
        """
        return self._call(LIST_ENDPOINTS, locals())

    def upsert_subscription(
        self,
        *,
        subscriber_id: str,
        topic_key: str,
        context_keys: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> Subscription:
        """
        Adds a subscriber to a topic. A member's context keys are replaced.

        subscriber_id: The subscriber's id.
        topic_key: The topic's key.
        context_keys: The context keys; default none. They replace the previous ones.
        """
        return self._call(UPSERT_SUBSCRIPTION, locals())

    def delete_subscription(
        self,
        *,
        subscriber_id: str,
        topic_key: str,
        call: CallOptions | None = None,
    ) -> Subscription:
        """
        Removes a subscriber from a topic.

        subscriber_id: The subscriber's id.
        topic_key: The topic's key.
        """
        return self._call(DELETE_SUBSCRIPTION, locals())

    def list_subscriptions(
        self,
        *,
        subscriber_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Subscription]:
        """
        Lists the topics of a subscriber.

        subscriber_id: The subscriber's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_SUBSCRIPTIONS, locals())

    def list_preferences(
        self,
        *,
        subscriber_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Preference]:
        """
        Lists the preferences of a subscriber: its rows of layers 3 to 5.

        subscriber_id: The subscriber's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_PREFERENCES, locals())

    def upsert_preference(
        self,
        *,
        subscriber_id: str,
        layer: int | None = None,
        workflow_key: str | None = None,
        topic_key: str | None = None,
        context_keys: Sequence[str] | None = None,
        all: bool | None = None,
        channels: ChannelPreferencesInput | None = None,
        schedule: QuietHoursInput | None = None,
        read_only: bool | None = None,
        condition: str | None = None,
        call: CallOptions | None = None,
    ) -> Preference:
        """
        Replaces one row of a subscriber's preferences: absent fields are cleared. A channel that a weaker layer made read-only can be set, but has no effect while it is read-only.

        subscriber_id: The subscriber's id.
        layer: 3, 4 or 5; derived from the keys when absent. Layers 1 and 2 belong to the author of the workflow.
        workflow_key: The workflow, which must exist unless notification.allow_unknown_workflows allows others; layers 4 and 5 only.
        topic_key: The topic; layer 5 only.
        context_keys: The context keys; layer 5 only.
        all: The value for channels without a preference of their own; undecided when absent.
        channels: The preferences by channel.
        schedule: The quiet hours, in which nothing is sent.
        read_only: Whether stronger layers cannot change any channel.
        condition: A CEL condition; if it is false, the row does not apply. If it fails to evaluate, only denials apply.
        """
        return self._call(UPSERT_PREFERENCE, locals())

    def preview_preferences(
        self,
        *,
        subscriber_id: str,
        workflow_key: str,
        user_id: str | None = None,
        topic_key: str | None = None,
        context_keys: Sequence[str] | None = None,
        channels: Sequence[Literal["email", "sms", "push", "chat", "in_app"]] | None = None,
        payload_context: Mapping[str, Any] | None = None,
        at: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> PreviewPreferencesResponse:
        """
        Previews on which channels a notification would reach a subscriber, and why, with the resolver that triggers use. Nothing is sent or stored.

        subscriber_id: The subscriber's id.
        workflow_key: The workflow's key; the workflow need not exist.
        user_id: The user that the trigger would name; no layer 2 when empty.
        topic_key: The topic that it would be sent to; no layer 5 when empty.
        context_keys: The subscriber's context keys in the topic.
        channels: The channels that the trigger would request; all when empty.
        payload_context: The payload for conditions, at most 64 KiB as JSON. It is neither stored nor logged.
        at: The time of the decision, for example to try quiet hours; now when absent.
        """
        return self._call(PREVIEW_PREFERENCES, locals())

    def explain(
        self,
        *,
        id: str,
        workflow_key: str,
        topic_key: str | None = None,
        user_id: str | None = None,
        call: CallOptions | None = None,
    ) -> ExplainSubscriberResponse:
        """
        Explains whether a notification workflow would reach a subscriber now, channel by channel, and why the last messages did or did not arrive. The first line of the response is a sentence for people. Nothing is sent or stored.

        id: The subscriber's id.
        workflow_key: The notification workflow.
        topic_key: The topic through which the subscriber would be reached; none when empty.
        user_id: The user whose layer 2 preferences of the workflow apply.
        """
        return self._call(EXPLAIN, locals())

    def export(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ExportSubscriberResponse:
        """
        Returns everything that is stored about a subscriber, by kind of record: the profile, addresses, preferences, messages and their reports, memberships, events and connected accounts. Up to 5,000 records and 4 MiB of each kind, newest first where they have ids.

        id: The subscriber's id.
        """
        return self._call(EXPORT, locals())

    def erase(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> EraseSubscriberResponse:
        """
        Erases a subscriber and all that ExportSubscriber returns. Nothing is sent to it from now on, and its records are removed in the background. Events and stored responses of calls stay without what they say about the person. The event subscriber.erased tells when everything is gone.

        id: The subscriber's id.
        """
        return self._call(ERASE, locals())


class AsyncSubscriberService(AsyncService):
    """Subscribers: people who receive notifications, with their addresses, topics and preferences."""

    async def upsert(
        self,
        *,
        external_id: str,
        first_name: str | None = None,
        last_name: str | None = None,
        email: str | None = None,
        phone: str | None = None,
        avatar: str | None = None,
        locale: str | None = None,
        timezone: str | None = None,
        data: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> Subscriber:
        """
        Creates the subscriber with this external id, or changes the present fields of an existing one. A deleted subscriber becomes active again.

        external_id: The tenant's own id, any text.
        first_name: The given name.
        last_name: The family name.
        email: The email address.
        phone: The phone number in E.164 format, such as +4930901820.
        avatar: The URL of a picture.
        locale: The language as a BCP 47 tag, such as de-CH.
        timezone: The time zone as an IANA name, such as Europe/Berlin.
        data: Free-form data of the tenant, at most 64 KiB as JSON; it replaces the previous data.
        """
        return await self._call(UPSERT, locals())

    async def upsert_batch(
        self,
        *,
        subscribers: Sequence[SubscriberProfile],
        call: CallOptions | None = None,
    ) -> UpsertSubscriberBatchResponse:
        """
        Creates or changes up to 1,000 subscribers, each like UpsertSubscriber. An invalid one is reported in its result and does not affect the others.

        subscribers: The subscribers. An external id that is given twice is an error of its second item.
        """
        return await self._call(UPSERT_BATCH, locals())

    async def get(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Subscriber:
        """
        Returns one subscriber, active or not.

        id: The subscriber's id.
        """
        return await self._call(GET, locals())

    def list(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        external_id: str | None = None,
        email: str | None = None,
        active: bool | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Subscriber]:
        """
        Lists the subscribers of the caller's tenant, active or not, newest first.

        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        external_id: Only the subscriber with this external id.
        email: Only those with this email address, ignoring case.
        active: Only active ones, or only inactive ones.
        """
        return self._list(LIST, locals())

    async def update(
        self,
        *,
        id: str,
        first_name: str | None = None,
        last_name: str | None = None,
        email: str | None = None,
        phone: str | None = None,
        avatar: str | None = None,
        locale: str | None = None,
        timezone: str | None = None,
        data: Mapping[str, Any] | None = None,
        record_version: int | None = None,
        call: CallOptions | None = None,
    ) -> Subscriber:
        """
        Replaces the profile of a subscriber: absent fields are cleared. The external id cannot change.

        id: The subscriber's id.
        first_name: The given name.
        last_name: The family name.
        email: The email address.
        phone: The phone number in E.164 format, such as +4930901820.
        avatar: The URL of a picture.
        locale: The language as a BCP 47 tag, such as de-CH.
        timezone: The time zone as an IANA name, such as Europe/Berlin.
        data: Free-form data of the tenant, at most 64 KiB as JSON.
        record_version: Makes the change conditional on this version.
        """
        return await self._call(UPDATE, locals())

    async def delete(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> Subscriber:
        """
        Deactivates a subscriber: nothing is sent to it. Its endpoints and subscriptions are kept.

        id: The subscriber's id.
        """
        return await self._call(DELETE, locals())

    async def upsert_endpoint(
        self,
        *,
        subscriber_id: str,
        channel: Literal["email", "sms", "push", "chat", "in_app"],
        provider_key: str | None = None,
        identity: str,
        connection_id: str | None = None,
        verified: bool | None = None,
        metadata: Mapping[str, Any] | None = None,
        take_over: bool | None = None,
        call: CallOptions | None = None,
    ) -> ChannelEndpoint:
        """
        Adds an endpoint to a subscriber, or confirms that it is in use. An address belongs to one subscriber only: a push token moves here by itself, any other address only with take_over.

        subscriber_id: The subscriber's id.
        channel: The channel: email, sms, push, chat or in_app.
        provider_key: The provider that the address was registered with; "default" when empty. On push and chat, only this provider uses it. Email addresses and phone numbers are served by any integration.
        identity: The address or token: an email address, a phone number such as +4930901820, or the provider's id of a device, chat or inbox. At most 2,048 bytes.
        connection_id: The connection to pin the address to, of a provider that serves the channel; an empty string removes the pin. A pinned address is only served by this connection, through an integration of its provider.
        verified: Whether the subscriber confirmed it; default false.
        metadata: Free-form data of the tenant, at most 16 KiB as JSON; it replaces the previous data.
        take_over: Takes the address over from another subscriber, which loses it. Without it, the address of another subscriber is refused. Push tokens always move: a device has one user at a time.
        """
        return await self._call(UPSERT_ENDPOINT, locals())

    async def delete_endpoint(
        self,
        *,
        subscriber_id: str,
        endpoint_id: str,
        call: CallOptions | None = None,
    ) -> ChannelEndpoint:
        """
        Removes an endpoint of a subscriber.

        subscriber_id: The subscriber's id.
        endpoint_id: The endpoint's id.
        """
        return await self._call(DELETE_ENDPOINT, locals())

    def list_endpoints(
        self,
        *,
        subscriber_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        channel: Literal["email", "sms", "push", "chat", "in_app"] | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[ChannelEndpoint]:
        """
        Lists the endpoints of a subscriber.

        subscriber_id: The subscriber's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        channel: Only those of this channel.
        """
        return self._list(LIST_ENDPOINTS, locals())

    async def upsert_subscription(
        self,
        *,
        subscriber_id: str,
        topic_key: str,
        context_keys: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> Subscription:
        """
        Adds a subscriber to a topic. A member's context keys are replaced.

        subscriber_id: The subscriber's id.
        topic_key: The topic's key.
        context_keys: The context keys; default none. They replace the previous ones.
        """
        return await self._call(UPSERT_SUBSCRIPTION, locals())

    async def delete_subscription(
        self,
        *,
        subscriber_id: str,
        topic_key: str,
        call: CallOptions | None = None,
    ) -> Subscription:
        """
        Removes a subscriber from a topic.

        subscriber_id: The subscriber's id.
        topic_key: The topic's key.
        """
        return await self._call(DELETE_SUBSCRIPTION, locals())

    def list_subscriptions(
        self,
        *,
        subscriber_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Subscription]:
        """
        Lists the topics of a subscriber.

        subscriber_id: The subscriber's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_SUBSCRIPTIONS, locals())

    def list_preferences(
        self,
        *,
        subscriber_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Preference]:
        """
        Lists the preferences of a subscriber: its rows of layers 3 to 5.

        subscriber_id: The subscriber's id.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_PREFERENCES, locals())

    async def upsert_preference(
        self,
        *,
        subscriber_id: str,
        layer: int | None = None,
        workflow_key: str | None = None,
        topic_key: str | None = None,
        context_keys: Sequence[str] | None = None,
        all: bool | None = None,
        channels: ChannelPreferencesInput | None = None,
        schedule: QuietHoursInput | None = None,
        read_only: bool | None = None,
        condition: str | None = None,
        call: CallOptions | None = None,
    ) -> Preference:
        """
        Replaces one row of a subscriber's preferences: absent fields are cleared. A channel that a weaker layer made read-only can be set, but has no effect while it is read-only.

        subscriber_id: The subscriber's id.
        layer: 3, 4 or 5; derived from the keys when absent. Layers 1 and 2 belong to the author of the workflow.
        workflow_key: The workflow, which must exist unless notification.allow_unknown_workflows allows others; layers 4 and 5 only.
        topic_key: The topic; layer 5 only.
        context_keys: The context keys; layer 5 only.
        all: The value for channels without a preference of their own; undecided when absent.
        channels: The preferences by channel.
        schedule: The quiet hours, in which nothing is sent.
        read_only: Whether stronger layers cannot change any channel.
        condition: A CEL condition; if it is false, the row does not apply. If it fails to evaluate, only denials apply.
        """
        return await self._call(UPSERT_PREFERENCE, locals())

    async def preview_preferences(
        self,
        *,
        subscriber_id: str,
        workflow_key: str,
        user_id: str | None = None,
        topic_key: str | None = None,
        context_keys: Sequence[str] | None = None,
        channels: Sequence[Literal["email", "sms", "push", "chat", "in_app"]] | None = None,
        payload_context: Mapping[str, Any] | None = None,
        at: str | datetime | None = None,
        call: CallOptions | None = None,
    ) -> PreviewPreferencesResponse:
        """
        Previews on which channels a notification would reach a subscriber, and why, with the resolver that triggers use. Nothing is sent or stored.

        subscriber_id: The subscriber's id.
        workflow_key: The workflow's key; the workflow need not exist.
        user_id: The user that the trigger would name; no layer 2 when empty.
        topic_key: The topic that it would be sent to; no layer 5 when empty.
        context_keys: The subscriber's context keys in the topic.
        channels: The channels that the trigger would request; all when empty.
        payload_context: The payload for conditions, at most 64 KiB as JSON. It is neither stored nor logged.
        at: The time of the decision, for example to try quiet hours; now when absent.
        """
        return await self._call(PREVIEW_PREFERENCES, locals())

    async def explain(
        self,
        *,
        id: str,
        workflow_key: str,
        topic_key: str | None = None,
        user_id: str | None = None,
        call: CallOptions | None = None,
    ) -> ExplainSubscriberResponse:
        """
        Explains whether a notification workflow would reach a subscriber now, channel by channel, and why the last messages did or did not arrive. The first line of the response is a sentence for people. Nothing is sent or stored.

        id: The subscriber's id.
        workflow_key: The notification workflow.
        topic_key: The topic through which the subscriber would be reached; none when empty.
        user_id: The user whose layer 2 preferences of the workflow apply.
        """
        return await self._call(EXPLAIN, locals())

    async def export(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> ExportSubscriberResponse:
        """
        Returns everything that is stored about a subscriber, by kind of record: the profile, addresses, preferences, messages and their reports, memberships, events and connected accounts. Up to 5,000 records and 4 MiB of each kind, newest first where they have ids.

        id: The subscriber's id.
        """
        return await self._call(EXPORT, locals())

    async def erase(
        self,
        *,
        id: str,
        call: CallOptions | None = None,
    ) -> EraseSubscriberResponse:
        """
        Erases a subscriber and all that ExportSubscriber returns. Nothing is sent to it from now on, and its records are removed in the background. Events and stored responses of calls stay without what they say about the person. The event subscriber.erased tells when everything is gone.

        id: The subscriber's id.
        """
        return await self._call(ERASE, locals())
