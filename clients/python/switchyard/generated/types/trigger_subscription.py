# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class _TriggerSubscriptionRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The environment of the target.
    environment_id: str
    #: The name.
    name: str
    #: The key of the trigger, such as github.issue.changed.
    trigger_key: str
    #: The provider of the trigger.
    provider_key: str
    #: The connection whose account is observed.
    connection_id: str
    #: How events arrive: webhook or poll.
    kind: str
    #: CEL over event; events for which it is false are ignored.
    condition: str
    #: active, paused, failing (something fails, and the service keeps trying) or expired (the provider ended the registration).
    status: str
    #: What fails, without credentials; empty if nothing does.
    last_error: str
    #: The URL for the provider's deliveries, without its secret part; empty for polls.
    callback_url: str
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class TriggerSubscription(_TriggerSubscriptionRequired, total=False):
    """Receives the events of a trigger for one connection and passes them to a target."""

    #: The parameters of the trigger.
    input: Dict[str, Any]
    #: What receives the events.
    target: TriggerTarget
    #: Since when events are received; absent until the webhook is registered or the first poll is complete.
    ready_at: str
    #: When the last event was received, if ever.
    last_event_at: str
    #: The registration at the provider; absent if the trigger has none.
    registration: TriggerRegistration
    #: The polls of the provider; absent for webhooks.
    polling: TriggerPolling
    #: The URL with its secret part, for triggers that are protected by it and are registered by hand. Only the response that creates the subscription contains it.
    secret_callback_url: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class TriggerTarget(TypedDict, total=False):
    """What receives events: exactly one field is present."""

    #: Starts a workflow run per event.
    workflow: TriggerWorkflowTarget
    #: Routes an item per event: the fields of a route request with pool (a name or id) instead of pool_id. Values can be expressions, such as "=event.data.priority".
    route: Dict[str, Any]
    #: Only records events.
    record: TriggerRecordTarget


class _TriggerWorkflowTargetRequired(TypedDict):
    #: The key or the id of the definition. It need not be published yet.
    definition: str
    #: The version; 0 for the version that is active when a run starts.
    version: int
    #: The run key: a template like the input. At most one run per key is in progress.
    run_key: str


class TriggerWorkflowTarget(_TriggerWorkflowTargetRequired, total=False):
    """Starts a workflow run per event."""

    #: The input of the runs: a template that may use event; the event itself when absent.
    input: Any


class TriggerRecordTarget(TypedDict):
    """Only records events."""


class _TriggerRegistrationRequired(TypedDict):
    #: pending, active or expired.
    state: str
    #: The provider's id of the registration; empty until it is known.
    external_id: str
    #: The number of failed attempts in a row to register or renew.
    failures: int


class TriggerRegistration(_TriggerRegistrationRequired, total=False):
    """A webhook that the service registered at the provider."""

    #: When it expires, if ever. The service renews it before.
    expires_at: str
    #: When the service registers or renews next, if it does.
    next_attempt_at: str


class _TriggerPollingRequired(TypedDict):
    #: The number of failed polls in a row.
    failures: int


class TriggerPolling(_TriggerPollingRequired, total=False):
    """The polls of a provider."""

    #: When the provider was last read completely, if ever.
    last_completed_at: str
    #: When the next poll is due, if any.
    next_poll_at: str


class TriggerTargetInput(TypedDict, total=False):
    """What receives events: exactly one field is present."""

    #: Starts a workflow run per event.
    workflow: TriggerWorkflowTargetInput
    #: Routes an item per event: the fields of a route request with pool (a name or id) instead of pool_id. Values can be expressions, such as "=event.data.priority".
    route: Mapping[str, Any]
    #: Only records events.
    record: TriggerRecordTargetInput


class _TriggerWorkflowTargetInputRequired(TypedDict):
    #: The key or the id of the definition. It need not be published yet.
    definition: str


class TriggerWorkflowTargetInput(_TriggerWorkflowTargetInputRequired, total=False):
    """Starts a workflow run per event."""

    #: The version; 0 for the version that is active when a run starts.
    version: int
    #: The input of the runs: a template that may use event; the event itself when absent.
    input: Any
    #: The run key: a template like the input. At most one run per key is in progress.
    run_key: str


class TriggerRecordTargetInput(TypedDict):
    """Only records events."""


class _TriggerEventRequired(TypedDict):
    #: The id, a ULID. It is the idempotency key of what the event starts.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The subscription that received it.
    subscription_id: str
    #: The type, as the manifest of the provider names it.
    type: str
    #: The provider's key of the event; empty if it has none.
    dedup_key: str
    #: pending, delivered, ignored (the condition is false), recorded or dead (all attempts failed).
    status: str
    #: The number of attempts to deliver it.
    attempts: int
    #: Why the last attempt failed; empty if it did not.
    last_error: str
    #: The number of replays.
    replays: int


class TriggerEvent(_TriggerEventRequired, total=False):
    """Something that happened in a connected account."""

    #: The payload. Lists do not contain it.
    payload: Any
    #: When the next attempt is due, if any.
    next_attempt_at: str
    #: What it started: run_id, or decision_id, outcome and queue_item_id.
    result: Dict[str, Any]
    #: When it was received.
    received_at: str
    #: When its delivery ended, if it has.
    ended_at: str


class ReplayTriggerEventsResponse(TypedDict):
    """The result of a replay."""

    #: The number of events that are pending again.
    replayed: int
    #: Whether the range has more such events: call again.
    has_more: bool
