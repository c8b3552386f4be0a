import type { Channel } from "../../subscribers/index.ts";
import type { Layer } from "./settings.ts";

/** Which set of rules decides. */
export const resolverVersion = "preference-v2";

/** Why a channel is allowed or not. */
export type ReasonCode =
  | "allowed_default"
  | "allowed_by_layer"
  | "allowed_read_only"
  | "denied_by_layer"
  | "denied_read_only"
  | "denied_quiet_hours"
  | "denied_channel_condition"
  | "denied_condition_error"
  | "denied_subscriber_inactive"
  | "denied_not_requested";

/** What was decided for one channel. */
export interface Resolution {
  readonly allowed: boolean;
  readonly reasonCode: ReasonCode;
  /** The layer that decided; 0 for none. */
  readonly winningLayer: Layer | 0;
}

/** What came of a condition. */
export type ConditionResult = "none" | "true" | "false" | "error";

/**
 * What a layer did for a channel.
 * absent: it has no row. not_asked: nothing was asked of it. ignored: its condition does not hold.
 * silent_on_channel: it says nothing of the channel. locked: a weaker layer set the channel read-only.
 * not_counted: it would allow, but its condition failed. allows, denies: what it says is what stands from here on.
 * affirms: it says neither, and what stood so far stands by it. silences: its quiet hours hold now.
 */
export type Effect =
  | "absent"
  | "not_asked"
  | "ignored"
  | "silent_on_channel"
  | "locked"
  | "not_counted"
  | "allows"
  | "denies"
  | "affirms"
  | "silences";

/** One layer's part in the decision on one channel. */
export interface TraceItem {
  readonly layer: Layer;
  readonly present: boolean;
  /** Whether it counted for the channel. */
  readonly applied: boolean;
  /** What it says of the channel; undefined where it says neither. */
  readonly enabled: boolean | undefined;
  readonly readOnly: boolean;
  /** What came of the row's condition and the channel's; of two the worse. */
  readonly condition: ConditionResult;
  readonly effect: Effect;
}

/** What was decided for one channel, and how. */
export interface TracedResolution extends Resolution {
  readonly channel: Channel;
  /** One for each layer, from the weakest to the strongest. */
  readonly trace: readonly TraceItem[];
}

const known = new Map<ReasonCode, Resolution[]>();

/** The resolution with this reason and layer: always the same one, since there are few and many are asked for. */
export function resolution(reasonCode: ReasonCode, winningLayer: Layer | 0): Resolution {
  let ofReason = known.get(reasonCode);
  if (ofReason === undefined) {
    ofReason = [];
    known.set(reasonCode, ofReason);
  }
  ofReason[winningLayer] ??= Object.freeze({
    allowed: reasonCode.startsWith("allowed_"),
    reasonCode,
    winningLayer,
  });
  return ofReason[winningLayer];
}
