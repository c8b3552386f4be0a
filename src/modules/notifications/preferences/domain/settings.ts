import type { Channel } from "../../subscribers/index.ts";

/** All channels, in the order in which they are always listed. */
export const channels: readonly Channel[] = ["email", "sms", "push", "chat", "in_app"];

/** A preference layer, from the weakest to the strongest. */
export type Layer = 1 | 2 | 3 | 4 | 5;

/** A row's settings for one channel. */
export interface ChannelPreference {
  /** Undefined to use the row's `all`. */
  readonly enabled?: boolean | undefined;
  /** Whether stronger layers cannot change the channel. */
  readonly readOnly: boolean;
  /** CEL; empty for none. Evaluated only if the channel would be allowed. */
  readonly condition: string;
}

/** A day of the week. */
export type Day = "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun";

/** A time range on some days of the week, such as 22:00 to 07:00. */
export interface QuietRange {
  /** The days on which it starts. */
  readonly days: readonly Day[];
  readonly start: string;
  /** Exclusive. Before the start, it is on the next day; equal to the start, the range is the whole day. */
  readonly end: string;
}

/** Times in which nothing is sent. */
export interface QuietHours {
  /** IANA time zone name; empty for the subscriber's. */
  readonly timezone: string;
  readonly ranges: readonly QuietRange[];
  /** skip: messages are never sent. hold: they are sent when the quiet hours end. */
  readonly mode?: "skip" | "hold" | undefined;
}

/** The settings of one layer, stored in this form. */
export interface PreferenceSettings {
  /** The setting for channels without their own; undefined for none. */
  readonly all?: boolean | undefined;
  readonly channels: { readonly [C in Channel]?: ChannelPreference | undefined };
  readonly schedule?: QuietHours | undefined;
  /** Whether stronger layers cannot change any channel. */
  readonly readOnly: boolean;
  /** CEL; empty for none. The row is ignored when it does not match. */
  readonly condition: string;
}

/** Settings without any effect. */
export const emptySettings: PreferenceSettings = { channels: {}, readOnly: false, condition: "" };
