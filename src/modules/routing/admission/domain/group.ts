import { unreachable } from "../../../../errors/index.ts";

/** What an item may be held back by, in the order in which it is asked. */
export const constraintKinds = ["singleton", "debounce", "throttle", "concurrency"] as const;

/** One of the four constraints. */
export type ConstraintKind = (typeof constraintKinds)[number];

/** Names a group: all items for which a constraint's key comes to the same. */
export interface GroupRef {
  readonly kind: ConstraintKind;
  /** A keyed digest of the key, which itself is never kept. */
  readonly groupId: string;
}

/** What a group remembers. Each kind uses only its own fields. */
export interface GroupState extends GroupRef {
  /** singleton: the item that has the place. debounce: the item that waits. Empty: none, or one that has ended. */
  readonly itemId: string;
  /** singleton: the item is being worked on. debounce: the item has gone on. */
  readonly itemStarted: boolean;
  /** debounce: when the first item of the window came. */
  readonly sinceMs: number | undefined;
  /** singleton: when the place is given up. debounce: when the window ends. throttle: when the next item conforms. */
  readonly untilMs: number | undefined;
  /** throttle: the theoretical arrival time. */
  readonly tatMs: number;
  /** concurrency: how many places there are, as last seen in a pool's configuration. */
  readonly slots: number;
  /** concurrency: how many of them are taken, by items that were handed out. */
  readonly inUse: number;
  /** When an operator ended it; undefined again once an item uses it. */
  readonly clearedAtMs: number | undefined;
}

/** Where a group stands. */
export type GroupStatus = "open" | "saturated" | "cooling" | "expired" | "cleared";

/** What a group is looked up by. */
export function groupKey({ kind, groupId }: GroupRef): string {
  return `${kind}:${groupId}`;
}

/** A group that nothing is known of. */
export function freshGroup({ kind, groupId }: GroupRef): GroupState {
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

/** A group as the next item finds it: one that an operator ended is a fresh one. */
export function groupOf(groups: ReadonlyMap<string, GroupState>, ref: GroupRef): GroupState {
  const known = groups.get(groupKey(ref));
  return known === undefined || known.clearedAtMs !== undefined ? freshGroup(ref) : known;
}

/** A singleton or debounce group in which no item has the place or waits any more. */
export function vacated(group: GroupState): GroupState {
  return { ...group, itemId: "", itemStarted: false, sinceMs: undefined, untilMs: undefined };
}

/**
 * Where a group stands now.
 * open: the next item passes, or can be handed out. saturated: its places are taken until an item ends. cooling: it holds back until a known
 * time. expired: its time has run out by itself, and it is forgotten some time later. cleared: an operator ended it.
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
