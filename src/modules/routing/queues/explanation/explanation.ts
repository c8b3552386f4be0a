import {
  type AdmissionConfig,
  type ConstraintVerdict,
  createSkippedVerdict,
  evaluateLease,
  type GroupRef,
  type GroupState,
  selectAdmissionRefs,
  selectLeaseRefs,
  toLeaseLimits,
} from "../../admission/index.ts";
import { type HoldReason, type ItemState, waitingStates } from "../domain/queue-item.ts";

/** Where an item that was let in stands. */
export interface ItemStanding {
  readonly state: ItemState;
  readonly holdReason: HoldReason;
  readonly dueAtMs: number | undefined;
  readonly refs: readonly GroupRef[];
}

/** What holds an item and what does not. */
export interface Explanation {
  /** The constraint that holds it; undefined when none does. */
  readonly constraint: GroupRef | undefined;
  readonly notBeforeMs: number | undefined;
  readonly verdicts: readonly ConstraintVerdict[];
}

/**
 * Explains where an item stands with the constraints of its pool as they are now. A ready item is held when a group that
 * limits its hand-out has no room now. An item that has ended has nothing to do with any constraint.
 */
export function explain(
  item: ItemStanding,
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
    return { constraint: debounce, notBeforeMs: waits ? dueAtMs : undefined, verdicts: [...passed, ...verdicts] };
  }
  if (state !== "ready") {
    return { constraint: debounce, notBeforeMs: dueAtMs, verdicts: [...passed, ...ahead.map(createSkippedVerdict)] };
  }
  const { heldBy, verdicts } = evaluateLease(ahead, limits, groups, nowMs);
  return { constraint: heldBy?.ref, notBeforeMs: heldBy?.notBeforeMs, verdicts: [...passed, ...verdicts] };
}
