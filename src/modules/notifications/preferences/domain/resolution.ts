import type { Channel } from "../../subscribers/index.ts";
import type { Layer } from "./settings.ts";

/** The version of the resolver's rules. */
export const resolverVersion = "preference-v2";

/** The reason why a channel is allowed or denied. */
export type ReasonCode =
  | "allowed_default"
  | "allowed_by_layer"
  | "allowed_read_only"
  | "denied_by_layer"
  | "denied_read_only"
  | "denied_quiet_hours"
  | "held_quiet_hours"
  | "denied_channel_condition"
  | "denied_condition_error"
  | "denied_subscriber_inactive"
  | "denied_not_requested";

/** The decision for one channel. */
export interface Resolution {
  readonly allowed: boolean;
  readonly reasonCode: ReasonCode;
  /** The layer that decided; 0 for none. */
  readonly winningLayer: Layer | 0;
  /** When quiet hours end that hold messages; undefined when nothing is held. */
  readonly heldUntilMs?: number;
}

export type ConditionResult = "none" | "true" | "false" | "error";

/**
 * The effect of a layer on a channel.
 * absent: it has no row. not_asked: it was not evaluated. ignored: its condition does not match.
 * silent_on_channel: it has no setting for the channel. locked: a weaker layer set the channel read-only.
 * not_counted: it would allow, but its condition failed. allows, denies: it sets the decision so far.
 * affirms: it sets neither and confirms the decision so far. silences: its quiet hours apply now.
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

/** One layer's part in the decision for one channel. */
export interface TraceItem {
  readonly layer: Layer;
  readonly present: boolean;
  /** Whether it affected the decision. */
  readonly applied: boolean;
  /** The layer's setting for the channel; undefined when it has none. */
  readonly enabled: boolean | undefined;
  readonly readOnly: boolean;
  /** The worse result of the row's condition and the channel's condition. */
  readonly condition: ConditionResult;
  readonly effect: Effect;
}

/** The decision for one channel with its trace. */
export interface TracedResolution extends Resolution {
  readonly channel: Channel;
  /** One for each layer, from the weakest to the strongest. */
  readonly trace: readonly TraceItem[];
}

const known = new Map<ReasonCode, Resolution[]>();

/** Returns the shared resolution with this reason and layer. There are few of them, so decisions allocate none. */
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
