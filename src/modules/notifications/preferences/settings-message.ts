import type { PreferenceSettings as Message } from "../../../../gen/service/api/preference_pb.ts";
import type { Channel } from "../subscribers/index.ts";
import { type ChannelPreference, channels, type Day, type PreferenceSettings } from "./domain/settings.ts";

/** The settings fields of API messages. */
type SettingsFields = Pick<Message, "all" | "channels" | "schedule" | "readOnly" | "condition">;

/** Converts API fields to settings. */
export function toSettings({
  all,
  channels: given,
  schedule,
  readOnly,
  condition,
}: SettingsFields): PreferenceSettings {
  return {
    all,
    channels: toChannels(given, toPreference),
    schedule: schedule && {
      timezone: schedule.timezone,
      ranges: schedule.ranges.map(({ days, start, end }) => ({ days: days as Day[], start, end })),
      ...(schedule.mode === "hold" && { mode: "hold" }),
    },
    readOnly,
    condition,
  };
}

const toPreference = ({ enabled, readOnly, condition }: ChannelPreference) => ({ enabled, readOnly, condition });

export function fromSettings({ all, channels: given, schedule, readOnly, condition }: PreferenceSettings) {
  return {
    all,
    channels: Object.keys(given).length === 0 ? undefined : fromChannels(given),
    schedule: schedule && { ...schedule, mode: schedule.mode ?? "skip" },
    readOnly,
    condition,
  };
}

/** Converts the fields of a message to the values of channels. */
export function toChannels<Field, Value>(
  fields: { readonly [F in Exclude<Channel, "in_app"> | "inApp"]?: Field } | undefined,
  convert: (field: Field) => Value,
): { [C in Channel]?: Value } {
  const given = channels.flatMap((channel) => {
    const field = fields?.[channel === "in_app" ? "inApp" : channel];
    return field === undefined ? [] : [[channel, convert(field)]];
  });
  return Object.fromEntries(given);
}

/** Converts the values of channels to the fields of a message. */
export function fromChannels<Value>({ in_app: inApp, ...rest }: { readonly [C in Channel]?: Value | undefined }) {
  return { ...rest, inApp };
}
