import type { Channel } from "../../subscribers/index.ts";

/** The channels, in the order in which they are always told. */
export const channels: readonly Channel[] = ["email", "sms", "push", "chat", "in_app"];

/** Who may say something about a channel, from the weakest to the strongest. */
export type Layer = 1 | 2 | 3 | 4 | 5;

/** What a row says about one channel. */
export interface ChannelPreference {
  /** Undefined where the row's `all` counts. */
  readonly enabled?: boolean | undefined;
  /** Whether stronger layers have no say. */
  readonly readOnly: boolean;
  /** CEL; empty for none. Only asked where the channel would be allowed. */
  readonly condition: string;
}

/** A day of the week. */
export type Day = "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun";

/** Hours of some days of the week, such as 22:00 to 07:00. */
export interface QuietRange {
  /** The days on which it starts. */
  readonly days: readonly Day[];
  readonly start: string;
  /** Not part of it; on the next day where it is before the start. The same as the start: the whole day. */
  readonly end: string;
}

/** When nothing is to be sent. */
export interface QuietHours {
  /** An IANA name; empty for the subscriber's. */
  readonly timezone: string;
  readonly ranges: readonly QuietRange[];
}

/** What one layer says. It is stored in this form. */
export interface PreferenceSettings {
  /** What counts for channels of which nothing is said; undefined where nothing counts. */
  readonly all?: boolean | undefined;
  readonly channels: { readonly [C in Channel]?: ChannelPreference | undefined };
  readonly schedule?: QuietHours | undefined;
  /** Whether stronger layers have no say on any channel. */
  readonly readOnly: boolean;
  /** CEL; empty for none. Where it does not hold, the row is as good as absent. */
  readonly condition: string;
}

/** What a layer says that says nothing. */
export const emptySettings: PreferenceSettings = { channels: {}, readOnly: false, condition: "" };
