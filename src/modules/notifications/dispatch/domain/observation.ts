import type { ProviderEventKind } from "../../providers/index.ts";
import type { UsedAddress } from "../../subscribers/index.ts";

/** Facts about a message after a provider accepted it. */
export type ObservationState =
  | "not_expected"
  | "awaiting"
  | "delivered"
  | "engaged"
  | "undelivered"
  | "complained"
  | "unknown";

export type ObservationKind = ProviderEventKind;

interface KindMeaning {
  readonly category: "delivery" | "engagement";
  /** The delivery state that it implies; undefined when it implies none. */
  readonly state: ObservationState | undefined;
  /** Whether it suppresses the address. */
  readonly suppresses: "always" | "when_hard" | "never";
}

/** The meaning of each kind of observation. */
export const observationKinds: Readonly<Record<ObservationKind, KindMeaning>> = {
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

/** The parts of an observation that determine a delivery's state. */
export interface ObservationSummary {
  readonly kind: ObservationKind;
  readonly severity: string;
  readonly machineGenerated: boolean;
}

/**
 * States from the weakest to the strongest; a delivery takes the strongest state that its observations imply. A message
 * with a soft bounce may still arrive. A message with a hard bounce did not arrive, whatever was observed before. A
 * complaint overrides everything.
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

/** The state of a delivery, from its state without observations and from all its observations, in any order. */
export function observedState(current: ObservationState, seen: readonly ObservationSummary[]): ObservationState {
  const isSeenAlready = precedence.indexOf(current) > precedence.indexOf("unknown");
  const ranks = seen.map((each) => precedence.indexOf(meaningOf(each) ?? "not_expected"));
  const strongest = precedence[Math.max(precedence.indexOf(isSeenAlready ? "awaiting" : current), ...ranks)]!;
  return strongest === "undelivered for now" ? "undelivered" : strongest;
}

/** The state that one observation implies. A message opened by a machine counts as delivered, not as engaged. */
function meaningOf({ kind, severity, machineGenerated }: ObservationSummary): (typeof precedence)[number] | undefined {
  const { state } = observationKinds[kind];
  if (state === "undelivered" && severity === "soft") return "undelivered for now";
  return state === "engaged" && machineGenerated ? "delivered" : state;
}

export function suppressesAddress(kind: ObservationKind, severity: string): boolean {
  const when = observationKinds[kind].suppresses;
  return when === "always" || (when === "when_hard" && severity === "hard");
}

/** Why an observation suppresses the address. */
export function suppressionReason(kind: ObservationKind): UsedAddress["reason"] {
  return kind === "bounced" || kind === "complained" || kind === "unsubscribed" ? kind : "unreachable";
}
