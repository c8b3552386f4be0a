# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict

if TYPE_CHECKING:
    from .preference import PreferenceSettings


class _MailAttachmentInputRequired(TypedDict):
    #: The name of the file, as a template.
    filename: str
    #: The bytes in base64, as a template, such as {{payload.invoice}}. If it renders as empty, nothing is attached.
    content: str


class MailAttachmentInput(_MailAttachmentInputRequired, total=False):
    """A file that is attached to a mail. The attachments of a mail may take 1 MiB together."""

    #: The media type, such as application/pdf; application/octet-stream when empty.
    content_type: str


class ChannelContentsInput(TypedDict, total=False):
    """The content of each channel; nothing is sent on absent channels."""

    #: The channel email.
    email: ChannelContentInput
    #: The channel sms.
    sms: ChannelContentInput
    #: The channel push.
    push: ChannelContentInput
    #: The channel chat.
    chat: ChannelContentInput
    #: The channel in_app.
    in_app: ChannelContentInput


class _ChannelContentInputRequired(TypedDict):
    #: The text; HTML on email.
    body: str


class ChannelContentInput(_ChannelContentInputRequired, total=False):
    """The content on one channel. The texts are templates over payload, subscriber and more."""

    #: The template language: handlebars or liquid; handlebars when empty.
    engine: Literal["handlebars", "liquid"]
    #: The subject line, if the channel has one.
    subject: str
    #: The title, if the channel has one.
    title: str
    #: The text without markup, if the channel has both.
    text_body: str
    #: The layout; the channel's default when empty.
    layout_id: str
    #: Additional data for programs, at most 16 KiB as JSON. Every string in it is a template, names are not; the rendered data may take 64 KiB.
    data: Mapping[str, Any]
    #: Whether a missing template variable is a failure; otherwise it is rendered as empty.
    strict_variables: bool
    #: On email: the files to attach.
    attachments: Sequence[MailAttachmentInput]
    #: The texts in other languages, by BCP 47 tag, such as de or pt-BR. Each text is that of the subscriber's locale, or else of its language, or else of the content itself.
    locales: Mapping[str, LocalizedContentInput]


class LocalizedContentInput(TypedDict, total=False):
    """The texts of a channel in one language. An empty text is that of a shorter tag, or of the content itself."""

    #: The subject line, if the channel has one.
    subject: str
    #: The title, if the channel has one.
    title: str
    #: The text; HTML on email.
    body: str
    #: The text without markup, if the channel has both.
    text_body: str


class _NotificationStepInputRequired(TypedDict):
    #: The key, unique in the workflow: a lower-case letter, then letters and digits, separated by single underscores (for example: reminder_mail).
    key: str


class NotificationStepInput(_NotificationStepInputRequired, total=False):
    """One step of a workflow: exactly one of send, delay, digest, throttle and await_inbox."""

    #: A CEL condition over payload, subscriber, preferences, steps, digest, workflow_key, topic_key, context_keys and user_id. If it is false or fails to evaluate, the step is skipped and the next one follows.
    condition: str
    #: Sends messages.
    send: SendStepInput
    #: Waits.
    delay: StepWaitInput
    #: Collects triggers into one notification.
    digest: DigestStepInput
    #: Limits how often a subscriber is notified.
    throttle: ThrottleStepInput
    #: Waits for an inbox message to be seen or read.
    await_inbox: AwaitInboxStepInput


class SendStepInput(TypedDict):
    """Sends messages. Preferences are checked when the step is reached and again when a message is sent."""

    #: The channels; the workflow must have content for each of them.
    channels: Sequence[Literal["email", "sms", "push", "chat", "in_app"]]


class StepWaitInput(TypedDict, total=False):
    """When a wait ends: exactly one of for_s, until and at."""

    #: After this many seconds, at most 366 days.
    for_s: int
    #: At the time that this CEL expression returns, as a timestamp or as RFC 3339 text, such as "timestamp(payload.starts_at) - duration('24h')". At once if it is in the past; at most 366 days away. The run stops if the expression fails.
    until: str
    #: At the next time of day, such as 09:00.
    at: str
    #: With at: only on these days: mon, tue, wed, thu, fri, sat, sun; on all when empty.
    days: Sequence[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]]
    #: With at: the time zone as an IANA name; when empty, the subscriber's, or UTC if that is not known.
    timezone: str


class _DigestStepInputRequired(TypedDict):
    #: When the window ends, counted from the first trigger.
    window: StepWaitInput


class DigestStepInput(_DigestStepInputRequired, total=False):
    """Collects triggers of the workflow for the same subscriber and key into one notification. The first trigger opens the digest, and the following steps run once when its window ends. Templates read digest.count and digest.events."""

    #: A CEL expression whose result separates digests, such as payload.project_id; one digest per subscriber when empty.
    key: str
    #: How many payloads are kept for templates, 100 when 0. Later ones, and those beyond 1 MiB, are only counted.
    events_max: int


class _ThrottleStepInputRequired(TypedDict):
    #: How many runs may pass within the window.
    limit: int
    #: The length of the sliding window in seconds, at most 30 days.
    window_s: int


class ThrottleStepInput(_ThrottleStepInputRequired, total=False):
    """Ends the run when the subscriber has passed this step too often within the window."""

    #: A CEL expression whose result is counted separately, such as payload.project_id; one count per subscriber when empty.
    key: str


class AwaitInboxStepInput(TypedDict):
    """Waits until the subscriber has seen or read the inbox message of an earlier step, but no longer than for_s. Whether it was seen is in steps.<key>.seen and steps.<key>.read for conditions of later steps."""

    #: The key of an earlier step that sends to in_app.
    step: str
    #: "seen" or "read"; a message that was read was also seen.
    state: Literal["seen", "read"]
    #: The longest wait in seconds, at most 366 days.
    for_s: int


class _NotificationWorkflowRequired(TypedDict):
    #: The owning tenant.
    tenant_id: str
    #: The key, unique in the tenant.
    workflow_key: str
    #: The display name.
    name: str
    #: The description.
    description: str
    #: The version of the record; send it back to make an update conditional.
    record_version: int
    #: What happens to a notification before and between its messages, in order. Without steps all channels are sent at once.
    steps: List[NotificationStep]


class NotificationWorkflow(_NotificationWorkflowRequired, total=False):
    """The content of one kind of notification, and the author's preferences for everybody."""

    #: The content of each channel.
    channels: ChannelContents
    #: Layer 1: preferences that apply unless a stronger layer decides.
    preferences: PreferenceSettings
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class ChannelContents(TypedDict, total=False):
    """The content of each channel; nothing is sent on absent channels."""

    #: The channel email.
    email: ChannelContent
    #: The channel sms.
    sms: ChannelContent
    #: The channel push.
    push: ChannelContent
    #: The channel chat.
    chat: ChannelContent
    #: The channel in_app.
    in_app: ChannelContent


class _ChannelContentRequired(TypedDict):
    #: The template language: handlebars or liquid; handlebars when empty.
    engine: str
    #: The subject line, if the channel has one.
    subject: str
    #: The title, if the channel has one.
    title: str
    #: The text; HTML on email.
    body: str
    #: The text without markup, if the channel has both.
    text_body: str
    #: The layout; the channel's default when empty.
    layout_id: str
    #: Whether a missing template variable is a failure; otherwise it is rendered as empty.
    strict_variables: bool
    #: On email: the files to attach.
    attachments: List[MailAttachment]
    #: The texts in other languages, by BCP 47 tag, such as de or pt-BR. Each text is that of the subscriber's locale, or else of its language, or else of the content itself.
    locales: Dict[str, LocalizedContent]


class ChannelContent(_ChannelContentRequired, total=False):
    """The content on one channel. The texts are templates over payload, subscriber and more."""

    #: Additional data for programs, at most 16 KiB as JSON. Every string in it is a template, names are not; the rendered data may take 64 KiB.
    data: Dict[str, Any]


class MailAttachment(TypedDict):
    """A file that is attached to a mail. The attachments of a mail may take 1 MiB together."""

    #: The name of the file, as a template.
    filename: str
    #: The media type, such as application/pdf; application/octet-stream when empty.
    content_type: str
    #: The bytes in base64, as a template, such as {{payload.invoice}}. If it renders as empty, nothing is attached.
    content: str


class LocalizedContent(TypedDict):
    """The texts of a channel in one language. An empty text is that of a shorter tag, or of the content itself."""

    #: The subject line, if the channel has one.
    subject: str
    #: The title, if the channel has one.
    title: str
    #: The text; HTML on email.
    body: str
    #: The text without markup, if the channel has both.
    text_body: str


class _NotificationStepRequired(TypedDict):
    #: The key, unique in the workflow: a lower-case letter, then letters and digits, separated by single underscores (for example: reminder_mail).
    key: str
    #: A CEL condition over payload, subscriber, preferences, steps, digest, workflow_key, topic_key, context_keys and user_id. If it is false or fails to evaluate, the step is skipped and the next one follows.
    condition: str


class NotificationStep(_NotificationStepRequired, total=False):
    """One step of a workflow: exactly one of send, delay, digest, throttle and await_inbox."""

    #: Sends messages.
    send: SendStep
    #: Waits.
    delay: StepWait
    #: Collects triggers into one notification.
    digest: DigestStep
    #: Limits how often a subscriber is notified.
    throttle: ThrottleStep
    #: Waits for an inbox message to be seen or read.
    await_inbox: AwaitInboxStep


class SendStep(TypedDict):
    """Sends messages. Preferences are checked when the step is reached and again when a message is sent."""

    #: The channels; the workflow must have content for each of them.
    channels: List[str]


class StepWait(TypedDict):
    """When a wait ends: exactly one of for_s, until and at."""

    #: After this many seconds, at most 366 days.
    for_s: int
    #: At the time that this CEL expression returns, as a timestamp or as RFC 3339 text, such as "timestamp(payload.starts_at) - duration('24h')". At once if it is in the past; at most 366 days away. The run stops if the expression fails.
    until: str
    #: At the next time of day, such as 09:00.
    at: str
    #: With at: only on these days: mon, tue, wed, thu, fri, sat, sun; on all when empty.
    days: List[str]
    #: With at: the time zone as an IANA name; when empty, the subscriber's, or UTC if that is not known.
    timezone: str


class _DigestStepRequired(TypedDict):
    #: A CEL expression whose result separates digests, such as payload.project_id; one digest per subscriber when empty.
    key: str
    #: How many payloads are kept for templates, 100 when 0. Later ones, and those beyond 1 MiB, are only counted.
    events_max: int


class DigestStep(_DigestStepRequired, total=False):
    """Collects triggers of the workflow for the same subscriber and key into one notification. The first trigger opens the digest, and the following steps run once when its window ends. Templates read digest.count and digest.events."""

    #: When the window ends, counted from the first trigger.
    window: StepWait


class ThrottleStep(TypedDict):
    """Ends the run when the subscriber has passed this step too often within the window."""

    #: How many runs may pass within the window.
    limit: int
    #: The length of the sliding window in seconds, at most 30 days.
    window_s: int
    #: A CEL expression whose result is counted separately, such as payload.project_id; one count per subscriber when empty.
    key: str


class AwaitInboxStep(TypedDict):
    """Waits until the subscriber has seen or read the inbox message of an earlier step, but no longer than for_s. Whether it was seen is in steps.<key>.seen and steps.<key>.read for conditions of later steps."""

    #: The key of an earlier step that sends to in_app.
    step: str
    #: "seen" or "read"; a message that was read was also seen.
    state: str
    #: The longest wait in seconds, at most 366 days.
    for_s: int


class _NotificationWorkflowUserRequired(TypedDict):
    #: The owning tenant.
    tenant_id: str
    #: The workflow's key.
    workflow_key: str
    #: The user.
    user_id: str
    #: The version of the record; send it back to make an update conditional.
    record_version: int


class NotificationWorkflowUser(_NotificationWorkflowUserRequired, total=False):
    """The author's preferences of a workflow for one user: layer 2."""

    #: The preferences for the user.
    preferences: PreferenceSettings
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class PreviewNotificationContentResponse(TypedDict):
    """The rendered content."""

    #: The subject line.
    subject: str
    #: The title.
    title: str
    #: The text; HTML on email.
    body: str
    #: The text without markup.
    text_body: str
    #: Variables of the templates that the sample does not have, sorted.
    unresolved_variables: List[str]
    #: The attached files, without their content.
    attachments: List[PreviewedAttachment]
    #: The locale whose texts were used; empty for those of the content itself.
    locale: str


class PreviewedAttachment(TypedDict):
    """An attached file of a preview."""

    #: The name of the file.
    filename: str
    #: The media type.
    content_type: str
    #: The number of bytes.
    size_bytes: int
