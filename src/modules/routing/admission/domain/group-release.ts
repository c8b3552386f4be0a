import { unreachable } from "../../../../errors/index.ts";
import { type GroupState, vacateGroup } from "./group.ts";

export interface ItemRelease {
  readonly itemId: string;
  /** The item has ended, with any outcome. */
  readonly ended: boolean;
  /** The item frees its slot in the concurrency group. */
  readonly slotFreed: boolean;
}

/** Returns a group without the item; the same object if nothing changes. */
export function releaseGroup(state: GroupState, { itemId, ended, slotFreed }: ItemRelease): GroupState {
  switch (state.kind) {
    case "singleton":
    case "debounce":
      // Another item may hold the slot by now.
      if (!ended || state.itemId !== itemId) return state;
      return vacateGroup(state);
    case "throttle":
      return state;
    case "concurrency":
      return slotFreed ? { ...state, inUse: Math.max(0, state.inUse - 1) } : state;
    default:
      return unreachable(state.kind);
  }
}
