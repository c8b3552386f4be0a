# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .notification_workflow import ChannelContentsInput, MailAttachmentInput, NotificationStepInput
    from .preference import PreferenceSettingsInput


class _TriggerNotificationResponseRequired(TypedDict):
    #: The trigger's id, by which its deliveries can be listed.
    transaction_id: str
    #: The outcome of each message; empty for a topic, whose messages are sent later.
    outcomes: List[TriggerOutcome]
    #: The run, if the workflow has steps; there are no outcomes then.
    run_id: str


class TriggerNotificationResponse(_TriggerNotificationResponseRequired, total=False):
    """The result of a trigger."""

    #: The broadcast, if a topic was notified.
    broadcast: Broadcast


class _TriggerOutcomeRequired(TypedDict):
    #: The channel.
    channel: str
    #: The endpoint; empty for the inbox and for an address of the subscriber's profile.
    endpoint_id: str
    #: "sent", "failed", "skipped" or "held". A message that waits for another attempt is "failed" and retryable; one that waits for the end of quiet hours is "held".
    outcome: str
    #: The delivery, which has the later states of the message.
    delivery_id: str
    #: The phase in which it failed.
    failure_phase: str
    #: The failure code.
    failure_code: str
    #: The failure in words.
    failure_detail: str
    #: Whether it will be retried automatically.
    retryable: bool
    #: The reason code of the preference decision.
    preference_reason_code: str
    #: Whether it is unknown if the message arrived.
    reconciliation_required: bool


class TriggerOutcome(_TriggerOutcomeRequired, total=False):
    """The outcome of one message of a trigger."""

    #: When it will be retried or sent, if it will.
    next_attempt_at: str


class _BroadcastRequired(TypedDict):
    #: The trigger.
    transaction_id: str
    #: The owning tenant.
    tenant_id: str
    #: The notification workflow.
    workflow_key: str
    #: The topic.
    topic_key: str
    #: The point in the database's transaction order at which membership is evaluated.
    cutoff: str
    #: "accepted", "expanding", "completed", "failed", "cancelling" (waiting messages are being skipped) or "cancelled".
    status: str
    #: The number of members processed so far.
    expanded: int
    #: The number of members; 0 until they are counted.
    total: int
    #: SHA-256 of the payload, in hexadecimal.
    payload_digest: str
    #: The failure code.
    failure_code: str
    #: Who cancelled it.
    cancelled_by: str


class Broadcast(_BroadcastRequired, total=False):
    """A notification to everyone who was in a topic when it was accepted."""

    #: When it was accepted.
    created_at: str
    #: When it last made progress.
    updated_at: str
    #: What became of its messages so far; absent in the response of a trigger.
    progress: BroadcastProgress


class BroadcastProgress(TypedDict):
    """The messages of a broadcast by status. A member has one message for each channel and address."""

    #: Those that wait to be sent.
    queued: int
    #: Those that are being sent.
    running: int
    #: Those that a provider accepted.
    sent: int
    #: Those that failed permanently.
    failed: int
    #: Those that preferences, a missing address or a cancellation prevented.
    skipped: int
    #: Whether counting stopped at 100,000 messages.
    capped: bool


class InlineSubscriber(TypedDict, total=False):
    """The profile of a subscriber that may not exist yet; absent fields stay unchanged."""

    #: The given name.
    first_name: str
    #: The family name.
    last_name: str
    #: The email address.
    email: str
    #: The phone number, such as +4930901820.
    phone: str
    #: The URL of a picture.
    avatar: str
    #: The language as a BCP 47 tag, such as de-CH.
    locale: str
    #: The time zone as an IANA name, such as Europe/Berlin.
    timezone: str
    #: Free-form data.
    data: Mapping[str, Any]


class ContentOverrides(TypedDict, total=False):
    """Overrides by channel."""

    #: For mail.
    email: ContentOverride
    #: For text messages.
    sms: ContentOverride
    #: For push.
    push: ContentOverride
    #: For chat.
    chat: ContentOverride
    #: For the inbox.
    in_app: ContentOverride


class ContentOverride(TypedDict, total=False):
    """The content of a channel that overrides that of the workflow; absent fields come from the workflow."""

    #: The template language, "handlebars" or "liquid".
    engine: Literal["handlebars", "liquid"]
    #: The subject of a mail, as a template.
    subject: str
    #: The title of a push, chat or inbox message, as a template.
    title: str
    #: The text, as a template; HTML on the channel email.
    body: str
    #: The text of a mail for readers without HTML, as a template.
    text_body: str
    #: The layout.
    layout_id: str
    #: Additional data, such as a link; every string in it is a template.
    data: Mapping[str, Any]
    #: Whether a missing template variable is a failure.
    strict_variables: bool
    #: On email: the files to attach, instead of those of the workflow; those of the workflow when empty.
    attachments: Sequence[MailAttachmentInput]


class TriggerNotificationBatchResponse(TypedDict):
    """The results, in the order of the request."""

    #: One result for each trigger.
    results: List[TriggerBatchResult]
    #: The number of accepted triggers.
    accepted: int
    #: The number of refused triggers.
    refused: int


class _TriggerBatchResultRequired(TypedDict):
    #: The trigger's id, by which its deliveries can be listed; empty if it was refused.
    transaction_id: str
    #: What was decided for each message: "queued", "sent" (the inbox has it), "skipped" or "failed". Empty for a topic.
    outcomes: List[TriggerOutcome]
    #: The error code, if it was refused.
    error_code: str
    #: The field that was refused, such as triggers[3].workflow_key.
    error_field: str
    #: The error in words.
    error_message: str
    #: The run, if the workflow has steps; there are no outcomes then.
    run_id: str


class TriggerBatchResult(_TriggerBatchResultRequired, total=False):
    """The result of one trigger of a batch."""

    #: The broadcast, if a topic was notified.
    broadcast: Broadcast


class _TriggerNotificationRequestRequired(TypedDict):
    #: The notification workflow.
    workflow_key: str


class TriggerNotificationRequest(_TriggerNotificationRequestRequired, total=False):
    """Notifies a subscriber or a topic. Exactly one of subscriber_external_id, subscriber_id and topic is required."""

    #: The subscriber, by the tenant's own id.
    subscriber_external_id: str
    #: The profile to store before the subscriber is notified; only with subscriber_external_id.
    subscriber: InlineSubscriber
    #: The subscriber, by its id.
    subscriber_id: str
    #: The key of the topic.
    topic: str
    #: Only on these channels; when empty, on all that preferences allow.
    channels: Sequence[Literal["email", "sms", "push", "chat", "in_app"]]
    #: Content that overrides that of the workflow, at most 256 KiB as JSON together with the payload.
    overrides: ContentOverrides
    #: The user whose layer 2 preferences of the workflow apply.
    user_id: str
    #: The data for templates and conditions, at most 256 KiB as JSON together with the overrides.
    payload: Mapping[str, Any]


class _DeliveryRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The trigger that it comes from.
    transaction_id: str
    #: The broadcast that it is part of; empty for a single send.
    broadcast_id: str
    #: The notification workflow.
    workflow_key: str
    #: The subscriber.
    subscriber_id: str
    #: The topic through which the subscriber was reached.
    topic_key: str
    #: The subscriber's context keys in the topic.
    context_keys: List[str]
    #: The user whose layer 2 preferences of the workflow applied.
    user_id: str
    #: The channel.
    channel: str
    #: The endpoint; empty for the inbox and for an address of the subscriber's profile.
    endpoint_id: str
    #: The integration that sent it.
    integration_id: str
    #: Its provider.
    provider_key: str
    #: Its connection.
    connection_id: str
    #: The layout.
    layout_id: str
    #: The version of the layout.
    layout_version: int
    #: "queued", "running", "sent" (accepted by the provider), "failed" or "skipped".
    status: str
    #: The provider's id of the message.
    provider_message_id: str
    #: The phase in which it failed.
    failure_phase: str
    #: The failure code.
    failure_code: str
    #: The failure in words.
    failure_detail: str
    #: Whether it will be retried automatically.
    retryable: bool
    #: The reason code of the preference decision.
    preference_reason_code: str
    #: The version of the resolver.
    resolver_version: str
    #: The number of executions.
    execution_attempt: int
    #: The number of provider calls.
    provider_attempt: int
    #: The maximum number of executions.
    max_attempts: int
    #: "not_expected", "awaiting", "delivered", "engaged", "undelivered", "complained" or "unknown".
    observation_state: str
    #: Whether it is unknown if the message arrived: someone must check before it is sent again.
    reconciliation_required: bool
    #: Its dead letter, if any.
    dead_letter_id: str
    #: The step of the workflow that sent it; empty if the workflow has no steps.
    step_key: str


class Delivery(_DeliveryRequired, total=False):
    """One message to one address."""

    #: The deciding layer, from 1 to 5; 0 when none decided.
    preference_winning_layer: int
    #: When the next attempt is due.
    next_attempt_at: str
    #: When it was stored.
    queued_at: str
    #: When its first execution started.
    started_at: str
    #: When the provider accepted it.
    sent_at: str
    #: When it ended.
    completed_at: str


class _ObservationRequired(TypedDict):
    #: The delivery.
    delivery_id: str
    #: Its position among the observations of the delivery.
    sequence: int
    #: What was observed, such as "delivered" or "bounced".
    kind: str
    #: "delivery" or "engagement".
    category: str
    #: The adapter that reported it.
    adapter_key: str
    #: The version of the adapter.
    adapter_version: str
    #: The connection.
    connection_id: str
    #: How the report was verified: "signature", "poll" or "sdk".
    verification: str
    #: The provider's id of the report.
    provider_event_id: str
    #: "hard" or "soft", for a message that was not delivered.
    severity: str
    #: Whether a machine caused it, not the recipient.
    machine_generated: bool
    #: SHA-256 of the report, in hexadecimal.
    evidence_digest: str


class Observation(_ObservationRequired, total=False):
    """A report about a delivery after it was sent."""

    #: When it happened.
    occurred_at: str
    #: When it was received.
    received_at: str
    #: Additional data of the report.
    attributes: Dict[str, Any]


class _NotificationDeadLetterRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: "delivery" or "fanout_page".
    kind: str
    #: The delivery.
    delivery_id: str
    #: The broadcast.
    broadcast_id: str
    #: The trigger.
    transaction_id: str
    #: The subscriber.
    subscriber_id: str
    #: The channel.
    channel: str
    #: The phase in which it failed.
    failure_phase: str
    #: The failure code.
    failure_code: str
    #: The failure in words.
    failure_detail: str
    #: The number of attempts.
    attempts: int
    #: SHA-256 of the payload, in hexadecimal.
    payload_digest: str
    #: "open", "redriving", "redriven", "discarded" or "expired".
    status: str
    #: The number of redrives.
    redrive_count: int
    #: The maximum number of redrives.
    max_redrives: int
    #: Who redrove it last.
    redriven_by: str
    #: The reason.
    redrive_reason: str


class NotificationDeadLetter(_NotificationDeadLetterRequired, total=False):
    """A message that could not be sent. Its payload is never shown."""

    #: When it failed first.
    first_failed_at: str
    #: When it failed last.
    last_failed_at: str
    #: When the payload is deleted.
    payload_expires_at: str


class _NotificationRunRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The trigger.
    transaction_id: str
    #: The notification workflow.
    workflow_key: str
    #: The subscriber.
    subscriber_id: str
    #: The topic through which the subscriber was reached; empty for a single trigger.
    topic_key: str
    #: "waiting" (for a time or a node), "running", "collected" (in a digest that another run leads), "completed", "stopped" (before its last step) or "cancelled".
    status: str
    #: Why it ended, if not by its last step: digested, throttled, subscriber_not_found, subscriber_inactive, payload_expired, step_removed, expression_error, cancelled or failed.
    reason: str
    #: The step that it waits in; empty before the first step and after the last.
    step_key: str
    #: The run that leads the digest that it was collected into.
    leader_run_id: str
    #: What happened, in order.
    outcomes: List[StepOutcome]
    #: How many triggers its digest collected; 0 without a digest.
    digest_count: int


class NotificationRun(_NotificationRunRequired, total=False):
    """The way of one recipient through the steps of a workflow."""

    #: When it continues.
    wake_at: str
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class _StepOutcomeRequired(TypedDict):
    #: The step.
    step_key: str
    #: "send", "delay", "digest", "throttle" or "await_inbox".
    kind: str
    #: "sent" (handed over to the queue), "skipped", "waiting", "waited", "collected", "passed", "throttled", "seen", "read" or "timed_out".
    outcome: str
    #: Why it was skipped: condition_false, condition_error, not_requested, not_allowed, no_address or no_message.
    reason: str
    #: The outcome in words.
    detail: str
    #: The deliveries that it created.
    delivery_ids: List[str]


class StepOutcome(_StepOutcomeRequired, total=False):
    """The outcome of one step of a run."""

    #: Until when it waits or waited.
    until: str
    #: When it happened.
    at: str


class CancelNotificationResponse(TypedDict):
    """What was cancelled."""

    #: The trigger.
    transaction_id: str
    #: How many runs were cancelled, at most 10,000. The others of a larger broadcast are cancelled when they wake.
    cancelled_runs: int
    #: How many queued messages were cancelled, at most 10,000.
    cancelled_deliveries: int


class RedriveNotificationDeadLettersResponse(TypedDict):
    """The result of a redrive."""

    #: The number of open dead letters that match and can be redriven, before the redrive; counted up to 10,000.
    matched: int
    #: Whether counting stopped early: there are at least as many as matched.
    matched_capped: bool
    #: The number that were redriven; 0 for a preview.
    redriven: int
    #: The number that match but cannot be redriven, because their payload expired or they reached their limit of redrives; counted up to 10,000.
    refused: int


class NotificationDeadLetterFilter(TypedDict, total=False):
    """Selects dead letters; an empty field matches all."""

    #: Only those of this channel.
    channel: Literal["", "email", "sms", "push", "chat", "in_app"]
    #: Only those that failed in this phase, such as provider.
    failure_phase: str
    #: Only those with this failure code, such as unavailable.
    failure_code: str
    #: Only those of this subscriber.
    subscriber_id: str
    #: Only those of this trigger or broadcast.
    transaction_id: str
    #: Only those that failed last at this time or later.
    failed_after: str | datetime
    #: Only those that failed last before this time.
    failed_before: str | datetime


#: What changes would have changed about recorded triggers.
TriggerSimulation = TypedDict(
    "TriggerSimulation",
    {
        #: The triggers that were resolved again: one for each recipient, and for each step that sent.
        "triggers": "int",
        #: Those of which a message changes.
        "changed": "int",
        #: Those for which the configuration of now gives the recorded messages. The rest changed since then.
        "reproduced": "int",
        #: Those without a stored payload, because it has expired or all their messages ended at once. Conditions and templates see an empty payload.
        "without_payload": "int",
        #: The time of the first trigger.
        "first_at": "str",
        #: The time of the last trigger.
        "last_at": "str",
        #: Whether more was recorded in the time range: earlier triggers are left out.
        "is_cut": "bool",
        #: What changes, most frequent first.
        "changes": "List[TriggerSimulationChange]",
        #: The channels.
        "channels": "List[TriggerSimulationChannelShift]",
        #: The integrations whose number of messages changes most, at most 50.
        "integrations": "List[TriggerSimulationIntegrationShift]",
        #: The outcomes that change, at most 50.
        "outcomes": "List[TriggerSimulationShift]",
        #: Some messages that change, at most 20.
        "examples": "List[TriggerSimulationExample]",
        #: The oldest time of a trigger.
        "from": "str",
        #: Triggers are before this time.
        "until": "str",
    },
    total=False,
)


class TriggerSimulationChange(TypedDict):
    """Messages that change."""

    #: started (only sent with the changes), stopped (not sent any more), channel (sent on another channel instead), integration (sent by another one), content, or time (held until quiet hours end, or not held any more).
    change: str
    #: The number of messages.
    messages: int


class TriggerSimulationChannelShift(TypedDict):
    """The messages of a channel."""

    #: The channel.
    channel: str
    #: The messages that were really sent.
    recorded: int
    #: The messages without the changes.
    before: int
    #: The messages with the changes.
    after: int


class TriggerSimulationIntegrationShift(TypedDict):
    """The messages of an integration."""

    #: The integration; empty for a new one, and for the inbox and the outbox.
    integration_id: str
    #: Its name, or in_app or development.
    name: str
    #: The messages that it really sent.
    recorded: int
    #: The messages without the changes.
    before: int
    #: The messages with the changes.
    after: int


class TriggerSimulationShift(TypedDict):
    """Messages whose outcome changes."""

    #: The outcome without the changes: sent, the reason code of the preference decision, or the failure code.
    before: str
    #: The outcome with the changes.
    after: str
    #: The number of messages.
    messages: int


class TriggerSimulationExample(TypedDict):
    """A message that changes."""

    #: A delivery of the trigger: that of the message, if it has one.
    delivery_id: str
    #: The trigger.
    transaction_id: str
    #: The notification workflow.
    workflow_key: str
    #: The subscriber.
    subscriber_id: str
    #: The channel.
    channel: str
    #: What changes, as in `changes`.
    change: str
    #: The outcome without the changes, or the part of the content that changes.
    before: str
    #: The outcome with the changes, or the part of the content that changes.
    after: str


class _NotificationWorkflowDraftRequired(TypedDict):
    #: The key of the workflow.
    workflow_key: str


class NotificationWorkflowDraft(_NotificationWorkflowDraftRequired, total=False):
    """A notification workflow with changes. Absent fields stay as they are."""

    #: The content of each channel; a channel without content is not used.
    channels: ChannelContentsInput
    #: Layer 1: preferences that apply unless a stronger layer decides.
    preferences: PreferenceSettingsInput
    #: The steps. Only the channels of steps that sent are simulated.
    steps: Sequence[NotificationStepInput]


class _NotificationWorkflowUserDraftRequired(TypedDict):
    #: The key of the workflow.
    workflow_key: str
    #: The user.
    user_id: str


class NotificationWorkflowUserDraft(_NotificationWorkflowUserDraftRequired, total=False):
    """The preferences of a notification workflow for one user: layer 2."""

    #: The preferences.
    preferences: PreferenceSettingsInput


class _LayoutDraftRequired(TypedDict):
    #: The id of the layout.
    id: str


class LayoutDraft(_LayoutDraftRequired, total=False):
    """A layout with changes. Absent fields stay as they are."""

    #: The template language, handlebars or liquid.
    engine: Literal["handlebars", "liquid"]
    #: The template around the content, with {{ content }} in its place; HTML on email.
    body: str
    #: The template around the content without markup, also with {{ content }}; empty for none.
    text_body: str


class IntegrationDraft(TypedDict, total=False):
    """A new integration, or one with changes. Absent fields stay as they are, or have the defaults of a new one."""

    #: The id of the integration; empty for a new one.
    id: str
    #: The channel that a new one serves: email, sms, push, chat or in_app.
    channel: Literal["email", "sms", "push", "chat", "in_app"]
    #: The name of a new one.
    name: str
    #: The provider that sends; it must serve the channel.
    provider_key: str
    #: The connection that holds the provider's credentials; empty for in_app and development, which need none.
    connection_id: str
    #: The lowest priority is used first; the oldest among equals. Default 100.
    priority: int
    #: Whether it is used; default true.
    active: bool
    #: The messages for which it is used, as a CEL condition over subscriber, payload, workflow_key and channel; all when empty.
    condition: str
    #: The letter case of the messages: upper, lower, title or sentence; unchanged when empty.
    casing_override: Literal["", "upper", "lower", "title", "sentence"]
