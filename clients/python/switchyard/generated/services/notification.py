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
    from ..types.notification import Broadcast, CancelNotificationResponse, ContentOverrides, Delivery, InlineSubscriber, IntegrationDraft, LayoutDraft, NotificationDeadLetter, NotificationDeadLetterFilter, NotificationRun, NotificationWorkflowDraft, NotificationWorkflowUserDraft, Observation, RedriveNotificationDeadLettersResponse, TriggerNotificationBatchResponse, TriggerNotificationRequest, TriggerNotificationResponse, TriggerSimulation

TRIGGER = Operation("POST", "/api/v2/notifications/trigger", body="*", keyed=True)
TRIGGER_BATCH = Operation("POST", "/api/v2/notifications/trigger:batch", body="*", keyed=True)
LIST_DELIVERIES = Operation("GET", "/api/v2/notifications/deliveries", result="cursor")
GET_DELIVERY = Operation("GET", "/api/v2/notifications/deliveries/{delivery_id}")
LIST_OBSERVATIONS = Operation("GET", "/api/v2/notifications/deliveries/{delivery_id}/observations", result="cursor")
GET_BROADCAST = Operation("GET", "/api/v2/notifications/broadcasts/{transaction_id}")
CANCEL_BROADCAST = Operation("POST", "/api/v2/notifications/broadcasts/{transaction_id}:cancel", body="*", keyed=True)
LIST_DEAD_LETTERS = Operation("GET", "/api/v2/notifications/dead-letters", result="cursor")
REDRIVE_DEAD_LETTER = Operation("POST", "/api/v2/notifications/dead-letters/{dead_letter_id}:redrive", body="*", keyed=True)
LIST_RUNS = Operation("GET", "/api/v2/notifications/runs", result="cursor")
GET_RUN = Operation("GET", "/api/v2/notifications/runs/{run_id}")
CANCEL = Operation("POST", "/api/v2/notifications/triggers/{transaction_id}:cancel", body="*", keyed=True)
REDRIVE_DEAD_LETTERS = Operation("POST", "/api/v2/notifications/dead-letters:redrive", body="*", keyed=True)
SIMULATE_TRIGGERS = Operation("POST", "/api/v2/notifications/triggers:simulate", body="*")


class NotificationService(Service):
    """Notifications: triggers, deliveries and their results."""

    def trigger(
        self,
        *,
        workflow_key: str,
        subscriber_external_id: str | None = None,
        subscriber: InlineSubscriber | None = None,
        subscriber_id: str | None = None,
        topic: str | None = None,
        channels: Sequence[Literal["email", "sms", "push", "chat", "in_app"]] | None = None,
        overrides: ContentOverrides | None = None,
        user_id: str | None = None,
        payload: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> TriggerNotificationResponse:
        """
        Notifies a subscriber, or all members of a topic. For a subscriber it is sent immediately, and the response has the outcome of each message; for a topic it is accepted and sent later.

        workflow_key: The notification workflow.
        subscriber_external_id: The subscriber, by the tenant's own id.
        subscriber: The profile to store before the subscriber is notified; only with subscriber_external_id.
        subscriber_id: The subscriber, by its id.
        topic: The key of the topic.
        channels: Only on these channels; when empty, on all that preferences allow.
        overrides: Content that overrides that of the workflow, at most 256 KiB as JSON together with the payload.
        user_id: The user whose layer 2 preferences of the workflow apply.
        payload: The data for templates and conditions, at most 256 KiB as JSON together with the overrides.
        """
        return self._call(TRIGGER, locals())

    def trigger_batch(
        self,
        *,
        triggers: Sequence[TriggerNotificationRequest],
        call: CallOptions | None = None,
    ) -> TriggerNotificationBatchResponse:
        """
        Accepts up to 100 different triggers at once. They are stored together and sent by the queue: the response has what was decided for each message, not yet what its provider said. A trigger that is refused is reported in its result and does not affect the others.

        triggers: The triggers, each for its own recipient and workflow.
        """
        return self._call(TRIGGER_BATCH, locals())

    def list_deliveries(
        self,
        *,
        transaction_id: str | None = None,
        subscriber_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Delivery]:
        """
        Lists deliveries, newest first: all of them, or those to one subscriber. Those of one trigger come oldest first.

        transaction_id: Only deliveries of this trigger. Not together with subscriber_id.
        subscriber_id: Only deliveries to this subscriber.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_DELIVERIES, locals())

    def get_delivery(
        self,
        *,
        delivery_id: str,
        call: CallOptions | None = None,
    ) -> Delivery:
        """
        Returns one delivery.

        delivery_id: The delivery.
        """
        return self._call(GET_DELIVERY, locals())

    def list_observations(
        self,
        *,
        delivery_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[Observation]:
        """
        Lists the observations of a delivery after it was sent, oldest first. Observations are never changed or deleted.

        delivery_id: The delivery.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_OBSERVATIONS, locals())

    def get_broadcast(
        self,
        *,
        transaction_id: str,
        call: CallOptions | None = None,
    ) -> Broadcast:
        """
        Returns the progress of a broadcast to a topic.

        transaction_id: The trigger.
        """
        return self._call(GET_BROADCAST, locals())

    def cancel_broadcast(
        self,
        *,
        transaction_id: str,
        call: CallOptions | None = None,
    ) -> Broadcast:
        """
        Cancels a broadcast: no further member is notified, and messages that wait are skipped. Messages that were handed to a provider are not recalled.

        transaction_id: The trigger.
        """
        return self._call(CANCEL_BROADCAST, locals())

    def list_dead_letters(
        self,
        *,
        status: Literal["", "open", "redriving", "redriven", "discarded", "expired"] | None = None,
        channel: Literal["", "email", "sms", "push", "chat", "in_app"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[NotificationDeadLetter]:
        """
        Lists dead letters, newest first.

        status: Only those with this status.
        channel: Only those of this channel.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_DEAD_LETTERS, locals())

    def redrive_dead_letter(
        self,
        *,
        dead_letter_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> NotificationDeadLetter:
        """
        Retries a dead letter. The subscriber's preferences are checked again.

        dead_letter_id: The dead letter.
        reason: The reason.
        """
        return self._call(REDRIVE_DEAD_LETTER, locals())

    def list_runs(
        self,
        *,
        transaction_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> PagedList[NotificationRun]:
        """
        Lists runs, newest first, or those of one trigger, oldest first: the way of each recipient through the steps of a workflow.

        transaction_id: Only runs of this trigger.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._call(LIST_RUNS, locals())

    def get_run(
        self,
        *,
        run_id: str,
        call: CallOptions | None = None,
    ) -> NotificationRun:
        """
        Returns one run with the outcome of each step.

        run_id: The run.
        """
        return self._call(GET_RUN, locals())

    def cancel(
        self,
        *,
        transaction_id: str,
        call: CallOptions | None = None,
    ) -> CancelNotificationResponse:
        """
        Cancels what a trigger has not sent yet: its waiting runs and its messages that wait in the queue. Its events leave open digests. What has been handed over to a provider is not recalled.

        transaction_id: The trigger.
        """
        return self._call(CANCEL, locals())

    def redrive_dead_letters(
        self,
        *,
        filter: NotificationDeadLetterFilter | None = None,
        preview: bool | None = None,
        limit: int | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> RedriveNotificationDeadLettersResponse:
        """
        Retries the open dead letters that match a filter, oldest first, at most 1,000 at a time. With preview, they are only counted. The subscribers' preferences are checked again.

        filter: Which ones; all that are open when absent.
        preview: Only counts them.
        limit: The maximum number to redrive; 1,000 when absent.
        reason: The reason.
        """
        return self._call(REDRIVE_DEAD_LETTERS, locals())

    def simulate_triggers(
        self,
        *,
        from_: str | datetime | None = None,
        until: str | datetime | None = None,
        messages_max: int | None = None,
        workflow_key: str | None = None,
        workflows: Sequence[NotificationWorkflowDraft] | None = None,
        workflow_users: Sequence[NotificationWorkflowUserDraft] | None = None,
        layouts: Sequence[LayoutDraft] | None = None,
        integrations: Sequence[IntegrationDraft] | None = None,
        without_integration_ids: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> TriggerSimulation:
        """
        Resolves recorded triggers again, as notifications are configured now and as they would be after some changes, and counts what would have been sent, not sent, or sent otherwise. Nothing is stored, sent, enqueued or metered.

        from_: The oldest time of a trigger; by default seven days before `until`.
        until: Triggers before this time; by default now.
        messages_max: How many recorded messages at most, the newest ones; default 10,000.
        workflow_key: Only triggers of this notification workflow.
        workflows: Notification workflows with other contents, preferences or steps.
        workflow_users: Users of notification workflows with other preferences.
        layouts: Layouts with other templates.
        integrations: New integrations, and integrations with other values.
        without_integration_ids: The ids of integrations to leave out.
        """
        return self._call(SIMULATE_TRIGGERS, locals())


class AsyncNotificationService(AsyncService):
    """Notifications: triggers, deliveries and their results."""

    async def trigger(
        self,
        *,
        workflow_key: str,
        subscriber_external_id: str | None = None,
        subscriber: InlineSubscriber | None = None,
        subscriber_id: str | None = None,
        topic: str | None = None,
        channels: Sequence[Literal["email", "sms", "push", "chat", "in_app"]] | None = None,
        overrides: ContentOverrides | None = None,
        user_id: str | None = None,
        payload: Mapping[str, Any] | None = None,
        call: CallOptions | None = None,
    ) -> TriggerNotificationResponse:
        """
        Notifies a subscriber, or all members of a topic. For a subscriber it is sent immediately, and the response has the outcome of each message; for a topic it is accepted and sent later.

        workflow_key: The notification workflow.
        subscriber_external_id: The subscriber, by the tenant's own id.
        subscriber: The profile to store before the subscriber is notified; only with subscriber_external_id.
        subscriber_id: The subscriber, by its id.
        topic: The key of the topic.
        channels: Only on these channels; when empty, on all that preferences allow.
        overrides: Content that overrides that of the workflow, at most 256 KiB as JSON together with the payload.
        user_id: The user whose layer 2 preferences of the workflow apply.
        payload: The data for templates and conditions, at most 256 KiB as JSON together with the overrides.
        """
        return await self._call(TRIGGER, locals())

    async def trigger_batch(
        self,
        *,
        triggers: Sequence[TriggerNotificationRequest],
        call: CallOptions | None = None,
    ) -> TriggerNotificationBatchResponse:
        """
        Accepts up to 100 different triggers at once. They are stored together and sent by the queue: the response has what was decided for each message, not yet what its provider said. A trigger that is refused is reported in its result and does not affect the others.

        triggers: The triggers, each for its own recipient and workflow.
        """
        return await self._call(TRIGGER_BATCH, locals())

    def list_deliveries(
        self,
        *,
        transaction_id: str | None = None,
        subscriber_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Delivery]:
        """
        Lists deliveries, newest first: all of them, or those to one subscriber. Those of one trigger come oldest first.

        transaction_id: Only deliveries of this trigger. Not together with subscriber_id.
        subscriber_id: Only deliveries to this subscriber.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_DELIVERIES, locals())

    async def get_delivery(
        self,
        *,
        delivery_id: str,
        call: CallOptions | None = None,
    ) -> Delivery:
        """
        Returns one delivery.

        delivery_id: The delivery.
        """
        return await self._call(GET_DELIVERY, locals())

    def list_observations(
        self,
        *,
        delivery_id: str,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[Observation]:
        """
        Lists the observations of a delivery after it was sent, oldest first. Observations are never changed or deleted.

        delivery_id: The delivery.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_OBSERVATIONS, locals())

    async def get_broadcast(
        self,
        *,
        transaction_id: str,
        call: CallOptions | None = None,
    ) -> Broadcast:
        """
        Returns the progress of a broadcast to a topic.

        transaction_id: The trigger.
        """
        return await self._call(GET_BROADCAST, locals())

    async def cancel_broadcast(
        self,
        *,
        transaction_id: str,
        call: CallOptions | None = None,
    ) -> Broadcast:
        """
        Cancels a broadcast: no further member is notified, and messages that wait are skipped. Messages that were handed to a provider are not recalled.

        transaction_id: The trigger.
        """
        return await self._call(CANCEL_BROADCAST, locals())

    def list_dead_letters(
        self,
        *,
        status: Literal["", "open", "redriving", "redriven", "discarded", "expired"] | None = None,
        channel: Literal["", "email", "sms", "push", "chat", "in_app"] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[NotificationDeadLetter]:
        """
        Lists dead letters, newest first.

        status: Only those with this status.
        channel: Only those of this channel.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_DEAD_LETTERS, locals())

    async def redrive_dead_letter(
        self,
        *,
        dead_letter_id: str,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> NotificationDeadLetter:
        """
        Retries a dead letter. The subscriber's preferences are checked again.

        dead_letter_id: The dead letter.
        reason: The reason.
        """
        return await self._call(REDRIVE_DEAD_LETTER, locals())

    def list_runs(
        self,
        *,
        transaction_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        offset: int | None = None,
        call: CallOptions | None = None,
    ) -> AsyncPagedList[NotificationRun]:
        """
        Lists runs, newest first, or those of one trigger, oldest first: the way of each recipient through the steps of a workflow.

        transaction_id: Only runs of this trigger.
        limit: Maximum number of items per page.
        cursor: Cursor from a previous response; the first page when empty.
        offset: Number of items to skip.
        """
        return self._list(LIST_RUNS, locals())

    async def get_run(
        self,
        *,
        run_id: str,
        call: CallOptions | None = None,
    ) -> NotificationRun:
        """
        Returns one run with the outcome of each step.

        run_id: The run.
        """
        return await self._call(GET_RUN, locals())

    async def cancel(
        self,
        *,
        transaction_id: str,
        call: CallOptions | None = None,
    ) -> CancelNotificationResponse:
        """
        Cancels what a trigger has not sent yet: its waiting runs and its messages that wait in the queue. Its events leave open digests. What has been handed over to a provider is not recalled.

        transaction_id: The trigger.
        """
        return await self._call(CANCEL, locals())

    async def redrive_dead_letters(
        self,
        *,
        filter: NotificationDeadLetterFilter | None = None,
        preview: bool | None = None,
        limit: int | None = None,
        reason: str | None = None,
        call: CallOptions | None = None,
    ) -> RedriveNotificationDeadLettersResponse:
        """
        Retries the open dead letters that match a filter, oldest first, at most 1,000 at a time. With preview, they are only counted. The subscribers' preferences are checked again.

        filter: Which ones; all that are open when absent.
        preview: Only counts them.
        limit: The maximum number to redrive; 1,000 when absent.
        reason: The reason.
        """
        return await self._call(REDRIVE_DEAD_LETTERS, locals())

    async def simulate_triggers(
        self,
        *,
        from_: str | datetime | None = None,
        until: str | datetime | None = None,
        messages_max: int | None = None,
        workflow_key: str | None = None,
        workflows: Sequence[NotificationWorkflowDraft] | None = None,
        workflow_users: Sequence[NotificationWorkflowUserDraft] | None = None,
        layouts: Sequence[LayoutDraft] | None = None,
        integrations: Sequence[IntegrationDraft] | None = None,
        without_integration_ids: Sequence[str] | None = None,
        call: CallOptions | None = None,
    ) -> TriggerSimulation:
        """
        Resolves recorded triggers again, as notifications are configured now and as they would be after some changes, and counts what would have been sent, not sent, or sent otherwise. Nothing is stored, sent, enqueued or metered.

        from_: The oldest time of a trigger; by default seven days before `until`.
        until: Triggers before this time; by default now.
        messages_max: How many recorded messages at most, the newest ones; default 10,000.
        workflow_key: Only triggers of this notification workflow.
        workflows: Notification workflows with other contents, preferences or steps.
        workflow_users: Users of notification workflows with other preferences.
        layouts: Layouts with other templates.
        integrations: New integrations, and integrations with other values.
        without_integration_ids: The ids of integrations to leave out.
        """
        return await self._call(SIMULATE_TRIGGERS, locals())
