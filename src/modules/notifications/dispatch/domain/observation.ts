import type { ProviderEventKind } from "../../providers/index.ts";

/** What is known of a message after a provider took it. */
export type ObservationState =
  | "not_expected"
  | "awaiting"
  | "delivered"
  | "engaged"
  | "undelivered"
  | "complained"
  | "unknown";

/** What an adapter saw. */
export type ObservationKind = ProviderEventKind;

interface KindMeaning {
  readonly category: "delivery" | "engagement";
  /** What it says about the delivery; undefined when it changes nothing. */
  readonly state: ObservationState | undefined;
  /** Whether the address is not to be used any more. */
  readonly suppresses: "always" | "when_hard" | "never";
}

/** What each kind of observation means. */
export const kinds: Readonly<Record<ObservationKind, KindMeaning>> = {
  delivered: { category: "delivery", state: "delivered", suppresses: "never" },
  deferred: { category: "delivery", state: undefined, suppresses: "never" },
  bounced: { category: "delivery", state: "undelivered", suppresses: "when_hard" },
  blocked: { category: "delivery", state: "undelivered", suppresses: "never" },
  dropped: { category: "delivery", state: "undelivered", suppresses: "never" },
  rejected: { category: "delivery", state: "undelivered", suppresses: "never" },
  complained: { category: "engagement", state: "complained", suppresses: "always" },
  unsubscribed: { category: "engagement", state: "engaged", suppresses: "always" },
  opened: { category: "engagement", state: "engaged", suppresses: "never" },
  clicked: { category: "engagement", state: "engaged", suppresses: "never" },
  seen: { category: "engagement", state: "engaged", suppresses: "never" },
  read: { category: "engagement", state: "engaged", suppresses: "never" },
  token_invalidated: { category: "delivery", state: "undelivered", suppresses: "always" },
};

/** What was seen of a delivery. */
export interface Seen {
  readonly kind: ObservationKind;
  readonly severity: string;
  readonly machineGenerated: boolean;
}

/**
 * From the weakest to the strongest: a delivery is in the strongest state that anything seen of it speaks for. A message
 * that bounced for now may still arrive. One that came back for good did not, whatever was seen before. A complaint
 * outlasts all else.
 */
const precedence = [
  "not_expected",
  "awaiting",
  "unknown",
  "undelivered for now",
  "delivered",
  "engaged",
  "undelivered",
  "complained",
] as const;

/** The state of a delivery, from what it is without any observation and from all that was seen of it, in any order. */
export function observedState(current: ObservationState, seen: readonly Seen[]): ObservationState {
  const isSeenAlready = precedence.indexOf(current) > precedence.indexOf("unknown");
  const ranks = seen.map((each) => precedence.indexOf(meaningOf(each) ?? "not_expected"));
  const strongest = precedence[Math.max(precedence.indexOf(isSeenAlready ? "awaiting" : current), ...ranks)]!;
  return strongest === "undelivered for now" ? "undelivered" : strongest;
}

/** What one observation speaks for. A machine that opens messages is no sign of a reader. */
function meaningOf({ kind, severity, machineGenerated }: Seen): (typeof precedence)[number] | undefined {
  const { state } = kinds[kind];
  if (state === "undelivered" && severity === "soft") return "undelivered for now";
  return state === "engaged" && machineGenerated ? "delivered" : state;
}

/** Whether an address is to be left alone after what was seen of it. */
export function suppresses(kind: ObservationKind, severity: string): boolean {
  const when = kinds[kind].suppresses;
  return when === "always" || (when === "when_hard" && severity === "hard");
}
