import { unreachable } from "../../../../errors/index.ts";
import { type GroupState, vacated } from "./group.ts";

/** An item that leaves a group, or only its place in it. */
export interface Leaving {
  readonly itemId: string;
  /** It is over, whichever way. */
  readonly ended: boolean;
  /** It had a place in the concurrency group and gives it back. */
  readonly slotFreed: boolean;
}

/** A group without what an item had of it; the very same state when it had nothing. */
export function releasePlaces(state: GroupState, { itemId, ended, slotFreed }: Leaving): GroupState {
  switch (state.kind) {
    case "singleton":
    case "debounce":
      // Another may have taken the place since.
      if (!ended || state.itemId !== itemId) return state;
      return vacated(state);
    case "throttle":
      return state;
    case "concurrency":
      return slotFreed ? { ...state, inUse: Math.max(0, state.inUse - 1) } : state;
    default:
      return unreachable(state.kind);
  }
}
