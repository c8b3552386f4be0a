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
  unsubscribed: { category: "engagement", state: "engaged", suppresses: "never" },
  opened: { category: "engagement", state: "engaged", suppresses: "never" },
  clicked: { category: "engagement", state: "engaged", suppresses: "never" },
  seen: { category: "engagement", state: "engaged", suppresses: "never" },
  read: { category: "engagement", state: "engaged", suppresses: "never" },
  token_invalidated: { category: "delivery", state: "undelivered", suppresses: "always" },
};

/**
 * From weakest to strongest: a state only ever rises. What came back after all was not delivered, and a complaint
 * outlasts whatever else is seen.
 */
const precedence: readonly ObservationState[] = [
  "not_expected",
  "awaiting",
  "unknown",
  "delivered",
  "engaged",
  "undelivered",
  "complained",
];

/** How strong a state is: the larger the stronger. */
function rankOf(state: ObservationState): number {
  return precedence.indexOf(state);
}

/** The state after something was seen. A machine that opens messages is no sign of a reader. */
export function stateAfter(
  current: ObservationState,
  seen: { readonly kind: ObservationKind; readonly machineGenerated: boolean },
): ObservationState {
  const said = kinds[seen.kind].state;
  const next = said === "engaged" && seen.machineGenerated ? "delivered" : said;
  return next === undefined || rankOf(next) <= rankOf(current) ? current : next;
}

/** Whether an address is to be left alone after what was seen of it. */
export function suppresses(kind: ObservationKind, severity: string): boolean {
  const when = kinds[kind].suppresses;
  return when === "always" || (when === "when_hard" && severity === "hard");
}
