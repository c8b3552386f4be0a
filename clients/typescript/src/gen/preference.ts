// Generated from the definitions; do not edit.
/** The author's preferences of a workflow: layer 1, or layer 2 for one user. */
export type PreferenceSettingsInput = {
  /** The value for channels without a preference of their own; undecided when absent. */
  readonly all?: boolean;
  /** The preferences by channel. */
  readonly channels?: ChannelPreferencesInput;
  /** The quiet hours, in which nothing is sent. */
  readonly schedule?: QuietHoursInput;
  /** Whether stronger layers cannot change any channel. */
  readonly read_only?: boolean;
  /** A CEL condition; if it is false, the row does not apply. If it fails to evaluate, only denials apply. */
  readonly condition?: string;
};

/** The preferences of a row by channel. */
export type ChannelPreferencesInput = {
  /** The channel email. */
  readonly email?: ChannelPreferenceInput;
  /** The channel sms. */
  readonly sms?: ChannelPreferenceInput;
  /** The channel push. */
  readonly push?: ChannelPreferenceInput;
  /** The channel chat. */
  readonly chat?: ChannelPreferenceInput;
  /** The channel in_app. */
  readonly in_app?: ChannelPreferenceInput;
};

/** The preference of a row for one channel. */
export type ChannelPreferenceInput = {
  /** Whether the channel is allowed; the value of all when absent. */
  readonly enabled?: boolean;
  /** Whether stronger layers cannot change the channel. */
  readonly read_only?: boolean;
  /** A CEL condition that must be true for the channel to be allowed: over subscriber, payload, workflow_key, channel, topic_key, context_keys and user_id. If it fails to evaluate, the channel is denied. */
  readonly condition?: string;
};

/** Weekly quiet hours. Without ranges there are none, and those of weaker layers do not apply. */
export type QuietHoursInput = {
  /** The time zone as an IANA name; when empty, the subscriber's, or UTC if that is not known. */
  readonly timezone?: string;
  /** The time ranges in which nothing is sent. */
  readonly ranges?: readonly QuietRangeInput[];
  /** What happens to a message in quiet hours: "skip", also when empty, never sends it; "hold" sends it when they end, if preferences still allow it. */
  readonly mode?: "skip" | "hold";
};

/** A time range on some days of the week. */
export type QuietRangeInput = {
  /** The days on which it starts: mon, tue, wed, thu, fri, sat, sun. */
  readonly days: readonly ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[];
  /** The start in local time, such as 22:00. */
  readonly start: string;
  /** The end in local time, exclusive, such as 07:00. Before the start: on the next day. Equal to the start: the whole day, from midnight to midnight. */
  readonly end: string;
};

/** The author's preferences of a workflow: layer 1, or layer 2 for one user. */
export type PreferenceSettings = {
  /** The value for channels without a preference of their own; undecided when absent. */
  readonly all?: boolean;
  /** The preferences by channel. */
  readonly channels?: ChannelPreferences;
  /** The quiet hours, in which nothing is sent. */
  readonly schedule?: QuietHours;
  /** Whether stronger layers cannot change any channel. */
  readonly read_only: boolean;
  /** A CEL condition; if it is false, the row does not apply. If it fails to evaluate, only denials apply. */
  readonly condition: string;
};

/** The preferences of a row by channel. */
export type ChannelPreferences = {
  /** The channel email. */
  readonly email?: ChannelPreference;
  /** The channel sms. */
  readonly sms?: ChannelPreference;
  /** The channel push. */
  readonly push?: ChannelPreference;
  /** The channel chat. */
  readonly chat?: ChannelPreference;
  /** The channel in_app. */
  readonly in_app?: ChannelPreference;
};

/** The preference of a row for one channel. */
export type ChannelPreference = {
  /** Whether the channel is allowed; the value of all when absent. */
  readonly enabled?: boolean;
  /** Whether stronger layers cannot change the channel. */
  readonly read_only: boolean;
  /** A CEL condition that must be true for the channel to be allowed: over subscriber, payload, workflow_key, channel, topic_key, context_keys and user_id. If it fails to evaluate, the channel is denied. */
  readonly condition: string;
};

/** Weekly quiet hours. Without ranges there are none, and those of weaker layers do not apply. */
export type QuietHours = {
  /** The time zone as an IANA name; when empty, the subscriber's, or UTC if that is not known. */
  readonly timezone: string;
  /** The time ranges in which nothing is sent. */
  readonly ranges: readonly QuietRange[];
  /** What happens to a message in quiet hours: "skip", also when empty, never sends it; "hold" sends it when they end, if preferences still allow it. */
  readonly mode: string;
};

/** A time range on some days of the week. */
export type QuietRange = {
  /** The days on which it starts: mon, tue, wed, thu, fri, sat, sun. */
  readonly days: readonly string[];
  /** The start in local time, such as 22:00. */
  readonly start: string;
  /** The end in local time, exclusive, such as 07:00. Before the start: on the next day. Equal to the start: the whole day, from midnight to midnight. */
  readonly end: string;
};

/** A subscriber's preferences: a row of layer 3, 4 or 5. */
export type Preference = {
  /** The id, a ULID. */
  readonly id: string;
  /** The owning tenant. */
  readonly tenant_id: string;
  /** The subscriber. */
  readonly subscriber_id: string;
  /** 3: for everything. 4: for one workflow. 5: for one workflow in one topic. */
  readonly layer: number;
  /** The workflow; empty on layer 3. */
  readonly workflow_key: string;
  /** The topic; empty except on layer 5. */
  readonly topic_key: string;
  /** The context keys, sorted: the row applies if the subscriber has exactly these in the topic. */
  readonly context_keys: readonly string[];
  /** The value for channels without a preference of their own; undecided when absent. */
  readonly all?: boolean;
  /** The preferences by channel. */
  readonly channels?: ChannelPreferences;
  /** The quiet hours, in which nothing is sent. */
  readonly schedule?: QuietHours;
  /** Whether stronger layers cannot change any channel. */
  readonly read_only: boolean;
  /** A CEL condition; if it is false, the row does not apply. */
  readonly condition: string;
  /** When it was created. */
  readonly created_at?: string;
  /** When it last changed. */
  readonly updated_at?: string;
  /** The version of the record. */
  readonly record_version: number;
};

/** The decision for one channel. */
export type ChannelDecision = {
  /** The channel. */
  readonly channel: string;
  /** Whether it is used. */
  readonly allowed: boolean;
  /** The reason: allowed_default, allowed_by_layer, allowed_read_only, denied_by_layer, denied_read_only, denied_quiet_hours, held_quiet_hours, denied_channel_condition, denied_condition_error, denied_subscriber_inactive or denied_not_requested. */
  readonly reason_code: string;
  /** The deciding layer, from 1 to 5; 0 when none decided. */
  readonly winning_layer?: number;
  /** The effect of each layer, from 1 to 5. */
  readonly trace: readonly LayerTrace[];
  /** When quiet hours end, if a message would be held until then. */
  readonly held_until?: string;
};

/** The effect of one layer on the decision for one channel. */
export type LayerTrace = {
  /** The layer, from 1, the weakest, to 5, the strongest. */
  readonly layer: number;
  /** Whether it has a row. */
  readonly present: boolean;
  /** Whether the row applied to the channel. */
  readonly applied: boolean;
  /** The row's value for the channel; absent if it has none. */
  readonly enabled?: boolean;
  /** Whether it sets the channel read-only. */
  readonly read_only: boolean;
  /** The worse result of its conditions: none, true, false or error. */
  readonly condition: string;
  /** The effect: absent, not_asked, ignored, silent_on_channel, locked, not_counted, allows, denies, affirms or silences. */
  readonly effect: string;
};
