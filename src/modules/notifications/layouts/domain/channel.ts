import type { Channel } from "../../subscribers/index.ts";

/** A channel as layouts have it: they alone write `inapp` in one word. */
export type LayoutChannel = Exclude<Channel, "in_app"> | "inapp";

/** What layouts call a channel. */
export function layoutChannelOf(channel: Channel): LayoutChannel {
  return channel === "in_app" ? "inapp" : channel;
}

/** Whether what a layout of a channel makes is markup. */
export function isMarkup(channel: LayoutChannel): boolean {
  return channel === "email";
}
