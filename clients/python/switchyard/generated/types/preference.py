# Generated from the definitions; do not edit.
from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Dict, List, Literal, Mapping, Sequence, TypedDict


class PreferenceSettingsInput(TypedDict, total=False):
    """The author's preferences of a workflow: layer 1, or layer 2 for one user."""

    #: The value for channels without a preference of their own; undecided when absent.
    all: bool
    #: The preferences by channel.
    channels: ChannelPreferencesInput
    #: The quiet hours, in which nothing is sent.
    schedule: QuietHoursInput
    #: Whether stronger layers cannot change any channel.
    read_only: bool
    #: A CEL condition; if it is false, the row does not apply. If it fails to evaluate, only denials apply.
    condition: str


class ChannelPreferencesInput(TypedDict, total=False):
    """The preferences of a row by channel."""

    #: The channel email.
    email: ChannelPreferenceInput
    #: The channel sms.
    sms: ChannelPreferenceInput
    #: The channel push.
    push: ChannelPreferenceInput
    #: The channel chat.
    chat: ChannelPreferenceInput
    #: The channel in_app.
    in_app: ChannelPreferenceInput


class ChannelPreferenceInput(TypedDict, total=False):
    """The preference of a row for one channel."""

    #: Whether the channel is allowed; the value of all when absent.
    enabled: bool
    #: Whether stronger layers cannot change the channel.
    read_only: bool
    #: A CEL condition that must be true for the channel to be allowed: over subscriber, payload, workflow_key, channel, topic_key, context_keys and user_id. If it fails to evaluate, the channel is denied.
    condition: str


class QuietHoursInput(TypedDict, total=False):
    """Weekly quiet hours. Without ranges there are none, and those of weaker layers do not apply."""

    #: The time zone as an IANA name; when empty, the subscriber's, or UTC if that is not known.
    timezone: str
    #: The time ranges in which nothing is sent.
    ranges: Sequence[QuietRangeInput]
    #: What happens to a message in quiet hours: "skip", also when empty, never sends it; "hold" sends it when they end, if preferences still allow it.
    mode: Literal["skip", "hold"]


class QuietRangeInput(TypedDict):
    """A time range on some days of the week."""

    #: The days on which it starts: mon, tue, wed, thu, fri, sat, sun.
    days: Sequence[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]]
    #: The start in local time, such as 22:00.
    start: str
    #: The end in local time, exclusive, such as 07:00. Before the start: on the next day. Equal to the start: the whole day, from midnight to midnight.
    end: str


class _PreferenceSettingsRequired(TypedDict):
    #: Whether stronger layers cannot change any channel.
    read_only: bool
    #: A CEL condition; if it is false, the row does not apply. If it fails to evaluate, only denials apply.
    condition: str


class PreferenceSettings(_PreferenceSettingsRequired, total=False):
    """The author's preferences of a workflow: layer 1, or layer 2 for one user."""

    #: The value for channels without a preference of their own; undecided when absent.
    all: bool
    #: The preferences by channel.
    channels: ChannelPreferences
    #: The quiet hours, in which nothing is sent.
    schedule: QuietHours


class ChannelPreferences(TypedDict, total=False):
    """The preferences of a row by channel."""

    #: The channel email.
    email: ChannelPreference
    #: The channel sms.
    sms: ChannelPreference
    #: The channel push.
    push: ChannelPreference
    #: The channel chat.
    chat: ChannelPreference
    #: The channel in_app.
    in_app: ChannelPreference


class _ChannelPreferenceRequired(TypedDict):
    #: Whether stronger layers cannot change the channel.
    read_only: bool
    #: A CEL condition that must be true for the channel to be allowed: over subscriber, payload, workflow_key, channel, topic_key, context_keys and user_id. If it fails to evaluate, the channel is denied.
    condition: str


class ChannelPreference(_ChannelPreferenceRequired, total=False):
    """The preference of a row for one channel."""

    #: Whether the channel is allowed; the value of all when absent.
    enabled: bool


class QuietHours(TypedDict):
    """Weekly quiet hours. Without ranges there are none, and those of weaker layers do not apply."""

    #: The time zone as an IANA name; when empty, the subscriber's, or UTC if that is not known.
    timezone: str
    #: The time ranges in which nothing is sent.
    ranges: List[QuietRange]
    #: What happens to a message in quiet hours: "skip", also when empty, never sends it; "hold" sends it when they end, if preferences still allow it.
    mode: str


class QuietRange(TypedDict):
    """A time range on some days of the week."""

    #: The days on which it starts: mon, tue, wed, thu, fri, sat, sun.
    days: List[str]
    #: The start in local time, such as 22:00.
    start: str
    #: The end in local time, exclusive, such as 07:00. Before the start: on the next day. Equal to the start: the whole day, from midnight to midnight.
    end: str


class _PreferenceRequired(TypedDict):
    #: The id, a ULID.
    id: str
    #: The owning tenant.
    tenant_id: str
    #: The subscriber.
    subscriber_id: str
    #: 3: for everything. 4: for one workflow. 5: for one workflow in one topic.
    layer: int
    #: The workflow; empty on layer 3.
    workflow_key: str
    #: The topic; empty except on layer 5.
    topic_key: str
    #: The context keys, sorted: the row applies if the subscriber has exactly these in the topic.
    context_keys: List[str]
    #: Whether stronger layers cannot change any channel.
    read_only: bool
    #: A CEL condition; if it is false, the row does not apply.
    condition: str
    #: The version of the record.
    record_version: int


class Preference(_PreferenceRequired, total=False):
    """A subscriber's preferences: a row of layer 3, 4 or 5."""

    #: The value for channels without a preference of their own; undecided when absent.
    all: bool
    #: The preferences by channel.
    channels: ChannelPreferences
    #: The quiet hours, in which nothing is sent.
    schedule: QuietHours
    #: When it was created.
    created_at: str
    #: When it last changed.
    updated_at: str


class _ChannelDecisionRequired(TypedDict):
    #: The channel.
    channel: str
    #: Whether it is used.
    allowed: bool
    #: The reason: allowed_default, allowed_by_layer, allowed_read_only, denied_by_layer, denied_read_only, denied_quiet_hours, held_quiet_hours, denied_channel_condition, denied_condition_error, denied_subscriber_inactive or denied_not_requested.
    reason_code: str
    #: The effect of each layer, from 1 to 5.
    trace: List[LayerTrace]


class ChannelDecision(_ChannelDecisionRequired, total=False):
    """The decision for one channel."""

    #: The deciding layer, from 1 to 5; 0 when none decided.
    winning_layer: int
    #: When quiet hours end, if a message would be held until then.
    held_until: str


class _LayerTraceRequired(TypedDict):
    #: The layer, from 1, the weakest, to 5, the strongest.
    layer: int
    #: Whether it has a row.
    present: bool
    #: Whether the row applied to the channel.
    applied: bool
    #: Whether it sets the channel read-only.
    read_only: bool
    #: The worse result of its conditions: none, true, false or error.
    condition: str
    #: The effect: absent, not_asked, ignored, silent_on_channel, locked, not_counted, allows, denies, affirms or silences.
    effect: str


class LayerTrace(_LayerTraceRequired, total=False):
    """The effect of one layer on the decision for one channel."""

    #: The row's value for the channel; absent if it has none.
    enabled: bool
