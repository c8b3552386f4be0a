import { create } from "@bufbuild/protobuf";
import {
  type ChannelPreferences,
  ChannelPreferencesSchema,
  type PreferenceSettings as Message,
  type QuietHours as QuietHoursMessage,
  QuietHoursSchema,
} from "../../../../gen/service/api/preference_pb.ts";
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
  const shown = channels.flatMap((channel) => (given[channel] ? [[fieldNames[channel], given[channel]] as const] : []));
  return {
    all,
    channels: shown.length === 0 ? undefined : create(ChannelPreferencesSchema, Object.fromEntries(shown)),
    schedule: schedule && quietHours(schedule),
    readOnly,
    condition,
  };
}

function quietHours({ timezone, ranges, mode }: NonNullable<PreferenceSettings["schedule"]>): QuietHoursMessage {
  return create(QuietHoursSchema, {
    timezone,
    ranges: ranges.map(({ days, ...hours }) => ({ days: [...days], ...hours })),
    mode: mode ?? "skip",
  });
}
