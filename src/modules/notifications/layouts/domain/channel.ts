import type { Channel } from "../../subscribers/index.ts";

/** A channel as layouts name it; only they use `inapp` instead of `in_app`. */
export type LayoutChannel = Exclude<Channel, "in_app"> | "inapp";

/** Converts a channel to its name in layouts. */
export function layoutChannelOf(channel: Channel): LayoutChannel {
  return channel === "in_app" ? "inapp" : channel;
}

/** Whether layouts of a channel produce markup. */
export function isMarkup(channel: LayoutChannel): boolean {
  return channel === "email";
}
