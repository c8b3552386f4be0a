import type { AdmissionConfig, ConstraintVerdict } from "./admission.ts";
import { remainingIn } from "./admission-constraints.ts";
import { type ConstraintKind, constraintKinds, type GroupRef, type GroupState, groupOf } from "./admission-group.ts";
import { type HoldReason, type ItemState, waitingStates } from "./queue-item.ts";

/** Where an item that was let in stands. */
export interface ItemStanding {
  readonly state: ItemState;
  readonly holdReason: HoldReason;
  readonly dueAtMs: number | undefined;
  /** It has a place in its concurrency group. */
  readonly hasSlot: boolean;
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
 * Explains where an item stands with the constraints of its pool as they are now. Those that come before what holds it
 * have let it pass, those behind are asked later; an item that has ended has nothing to do with any.
 */
export function explain(
  item: ItemStanding,
  config: AdmissionConfig,
  groups: ReadonlyMap<string, GroupState>,
  nowMs: number,
): Explanation {
  const waits = waitingStates.some((state) => state === item.state);
  const constraint = waits ? item.refs.find(({ kind }) => kind === item.holdReason) : undefined;
  const notBeforeMs = waits ? item.dueAtMs : undefined;
  const asked = item.refs.filter(({ kind }) => config[kind] !== undefined);
  const verdicts = asked.map((ref): ConstraintVerdict => {
    const passes = { ...ref, notBeforeMs: undefined, remaining: undefined };
    const order = constraint === undefined ? -1 : place(ref.kind) - place(constraint.kind);
    if (order > 0 || (ref.kind === "concurrency" && waits && order < 0 && !item.hasSlot)) {
      return { ...passes, ruling: "not_asked" };
    }
    if (order < 0) return { ...passes, ruling: "admit" };
    const ruling = ref.kind === "debounce" ? "debounce" : "hold";
    return { ...ref, ruling, notBeforeMs, remaining: remainingIn(groupOf(groups, ref), config, nowMs) };
  });
  return { constraint, notBeforeMs, verdicts: waits || item.state === "leased" ? verdicts : [] };
}

function place(kind: ConstraintKind): number {
  return constraintKinds.indexOf(kind);
}
