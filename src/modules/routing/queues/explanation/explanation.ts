import {
  type ConstraintVerdict,
  createSkippedVerdict,
  evaluateLease,
  type GroupRef,
  type GroupState,
  selectAdmissionRefs,
  selectLeaseRefs,
  toLeaseLimits,
} from "../../admission/index.ts";
import type { AdmissionConfig } from "../../pools/index.ts";
import { type HoldReason, type ItemState, waitingStates } from "../domain/queue-item.ts";

/** The state of an admitted item. */
export interface ItemStatus {
  readonly state: ItemState;
  readonly holdReason: HoldReason;
  readonly dueAtMs: number | undefined;
  readonly refs: readonly GroupRef[];
}

/** The constraint that holds an item, and the verdicts of all its constraints. */
export interface Explanation {
  /** The constraint that holds the item; undefined when none does. */
  readonly constraint: GroupRef | undefined;
  readonly notBeforeMs: number | undefined;
  readonly verdicts: readonly ConstraintVerdict[];
}

/**
 * Explains an item's state under its pool's current constraints. A ready item is held when a group that limits leasing
 * has no room. An ended item is subject to no constraint.
 */
export function explain(
  item: ItemStatus,
  config: AdmissionConfig,
  groups: ReadonlyMap<string, GroupState>,
  nowMs: number,
): Explanation {
  const { state, refs, holdReason, dueAtMs } = item;
  const waits = waitingStates.some((each) => each === state);
  if (!waits && state !== "leased") return { constraint: undefined, notBeforeMs: undefined, verdicts: [] };
  const debounce = waits && holdReason === "debounce" ? refs.find(({ kind }) => kind === "debounce") : undefined;
  const passed = selectAdmissionRefs(refs, config).map(
    (ref): ConstraintVerdict =>
      ref.kind === debounce?.kind
        ? { ...ref, ruling: "debounce", notBeforeMs: dueAtMs, remaining: undefined }
        : { ...ref, ruling: "admit", notBeforeMs: undefined, remaining: undefined },
  );
  const ahead = selectLeaseRefs(refs, config);
  const limits = toLeaseLimits(config);
  if (state === "leased" || limits === undefined) {
    const verdicts = ahead.map((ref): ConstraintVerdict => ({ ...createSkippedVerdict(ref), ruling: "admit" }));
    const notBeforeMs = state === "pending" || state === "held" ? dueAtMs : undefined;
    return { constraint: debounce, notBeforeMs, verdicts: [...passed, ...verdicts] };
  }
  if (state !== "ready") {
    return { constraint: debounce, notBeforeMs: dueAtMs, verdicts: [...passed, ...ahead.map(createSkippedVerdict)] };
  }
  const { heldBy, verdicts } = evaluateLease(ahead, limits, groups, nowMs);
  return { constraint: heldBy?.ref, notBeforeMs: heldBy?.notBeforeMs, verdicts: [...passed, ...verdicts] };
}
