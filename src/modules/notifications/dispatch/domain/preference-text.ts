import type { ReasonCode } from "../../preferences/index.ts";

const layerNames = [
  ...["", "the workflow", "the user of the workflow"],
  ...["the subscriber", "the subscriber for this workflow", "the subscriber for this topic"],
];

/** Texts of preference decisions, by stored reason. `by` is the deciding layer. */
const preferenceTexts: Readonly<Record<ReasonCode, (by: string) => string>> = {
  allowed_default: () => "No preference forbids the channel.",
  allowed_by_layer: (by) => `The preferences of ${by} allow the channel.`,
  allowed_read_only: (by) => `The preferences of ${by} allow the channel, and nobody may change that.`,
  denied_by_layer: (by) => `The preferences of ${by} forbid the channel.`,
  denied_read_only: (by) => `The preferences of ${by} forbid the channel, and nobody may change that.`,
  denied_quiet_hours: (by) => `The quiet hours of ${by} applied.`,
  held_quiet_hours: (by) => `The quiet hours of ${by} hold it until they end.`,
  denied_channel_condition: (by) => `The condition of ${by} on the channel did not hold.`,
  denied_condition_error: (by) => `A condition of ${by} could not be evaluated, so the message was not sent.`,
  denied_subscriber_inactive: () => "The subscriber is not active.",
  denied_not_requested: () => "The trigger did not request the channel.",
};

/** Says in words what preferences decided. */
export function describePreference(reasonCode: ReasonCode, winningLayer: number): string {
  return preferenceTexts[reasonCode](layerNames[winningLayer] || "nobody");
}
