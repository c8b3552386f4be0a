import type { ChannelPreferences, PreferenceSettings as Message } from "../../../../gen/service/api/preference_pb.ts";
import type { Channel } from "../subscribers/index.ts";
import { type ChannelPreference, channels, type Day, type PreferenceSettings } from "./domain/settings.ts";

/** The settings fields of API messages. */
type SettingsFields = Pick<Message, "all" | "channels" | "schedule" | "readOnly" | "condition">;

/** The message field of each channel. */
export const fieldNames = {
  email: "email",
  sms: "sms",
  push: "push",
  chat: "chat",
  in_app: "inApp",
} as const satisfies Record<Channel, keyof ChannelPreferences>;

/** Converts API fields to settings. */
export function toSettings({
  all,
  channels: given,
  schedule,
  readOnly,
  condition,
}: SettingsFields): PreferenceSettings {
  const preferences: { [C in Channel]?: ChannelPreference } = {};
  for (const channel of channels) {
    const preference = given?.[fieldNames[channel]];
    if (preference === undefined) continue;
    const { enabled, readOnly: locked, condition: needs } = preference;
    preferences[channel] = { enabled, readOnly: locked, condition: needs };
  }
  return {
    all,
    channels: preferences,
    schedule: schedule && {
      timezone: schedule.timezone,
      ranges: schedule.ranges.map(({ days, start, end }) => ({ days: days as Day[], start, end })),
      ...(schedule.mode === "hold" && { mode: "hold" }),
    },
    readOnly,
    condition,
  };
}

export function fromSettings({ all, channels: given, schedule, readOnly, condition }: PreferenceSettings) {
  return {
    all,
    channels: Object.keys(given).length === 0 ? undefined : fromChannels(given),
    schedule: schedule && { ...schedule, mode: schedule.mode ?? "skip" },
    readOnly,
    condition,
  };
}

/** Converts the values of channels to the fields of a message. */
export function fromChannels<Value>({ in_app: inApp, ...rest }: { readonly [C in Channel]?: Value | undefined }) {
  return { ...rest, inApp };
}
