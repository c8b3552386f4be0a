import { unreachable } from "../../../../errors/index.ts";

/** The constraints of items, in the order of evaluation. */
export const constraintKinds = ["singleton", "debounce", "throttle", "concurrency"] as const;

/** One of the four constraints. */
export type ConstraintKind = (typeof constraintKinds)[number];

/** A reference to a group: all items with an equal key of one constraint. */
export interface GroupRef {
  readonly kind: ConstraintKind;
  /** A keyed digest of the key; the key itself is never stored. */
  readonly groupId: string;
}

/** The state of a group. Each kind uses only its own fields. */
export interface GroupState extends GroupRef {
  /** singleton: the item that holds the slot. debounce: the waiting item. Empty for none. */
  readonly itemId: string;
  /** singleton: the item is running. debounce: the item was released from the window. */
  readonly itemStarted: boolean;
  /** debounce: when the first item of the window arrived. */
  readonly sinceMs: number | undefined;
  /** singleton: when the slot expires. debounce: when the window ends. throttle: when the next item conforms. */
  readonly untilMs: number | undefined;
  /** throttle: the theoretical arrival time. */
  readonly tatMs: number;
  /** concurrency: the number of slots in the latest pool configuration. */
  readonly slots: number;
  /** concurrency: the number of slots used by leased items. */
  readonly inUse: number;
  /** When an operator cleared the group; undefined again once an item uses it. */
  readonly clearedAtMs: number | undefined;
  /** debounce with `take: all`: what the waiting item has collected; undefined if it is not read or cannot collect. */
  readonly collected?: CollectedPayloads | undefined;
}

/** The payloads that an item has collected. */
export interface CollectedPayloads {
  readonly count: number;
  readonly bytes: number;
}

export type GroupStatus = "open" | "saturated" | "cooling" | "expired" | "cleared";

/** Returns the lookup key of a group. */
export function groupKey({ kind, groupId }: GroupRef): string {
  return `${kind}:${groupId}`;
}

export function createEmptyGroup({ kind, groupId }: GroupRef): GroupState {
  return {
    kind,
    groupId,
    itemId: "",
    itemStarted: false,
    sinceMs: undefined,
    untilMs: undefined,
    tatMs: 0,
    slots: 0,
    inUse: 0,
    clearedAtMs: undefined,
  };
}

/** Returns the group as the next item finds it; a cleared group is empty. */
export function groupOf(groups: ReadonlyMap<string, GroupState>, ref: GroupRef): GroupState {
  const known = groups.get(groupKey(ref));
  return known === undefined || known.clearedAtMs !== undefined ? createEmptyGroup(ref) : known;
}

/** Returns a singleton or debounce group without its item. */
export function vacateGroup(group: GroupState): GroupState {
  return { ...group, itemId: "", itemStarted: false, sinceMs: undefined, untilMs: undefined, collected: undefined };
}

/**
 * Returns the current status of a group.
 * open: the next item passes or can be leased. saturated: all slots are taken until an item ends. cooling: items
 * wait until a known time. expired: its time is over, and it is deleted later. cleared: an operator cleared it.
 */
export function groupStatus(state: GroupState, nowMs: number): GroupStatus {
  if (state.clearedAtMs !== undefined) return "cleared";
  const timeLeft = state.untilMs !== undefined && state.untilMs > nowMs;
  switch (state.kind) {
    case "singleton":
      if (state.itemId === "") return "open";
      return timeLeft ? "saturated" : "expired";
    case "debounce":
      if (state.itemId === "") return "open";
      return timeLeft ? "cooling" : "expired";
    case "throttle":
      if (timeLeft) return "cooling";
      return state.tatMs > nowMs ? "open" : "expired";
    case "concurrency":
      return state.inUse >= state.slots ? "saturated" : "open";
    default:
      return unreachable(state.kind);
  }
}
