import type { ConstraintVerdict } from "./admission.ts";
import type { HandOutLimits } from "./constraint-moment.ts";
import { judge, remainingIn } from "./constraints.ts";
import { type GroupRef, type GroupState, groupKey, groupOf } from "./group.ts";

/** A waiting item and the groups that limit its hand-out; an empty text stands for none. */
export interface LimitedItem {
  readonly id: string;
  readonly throttleGroup: string;
  readonly concurrencyGroup: string;
}

/** What the limits say of handing out one item now. */
export interface HandOutVerdict {
  /** The first group without room, and when it has some; undefined when the item can be handed out. */
  readonly heldBy: { readonly ref: GroupRef; readonly notBeforeMs: number | undefined } | undefined;
  /** The groups as they are once the item is handed out; empty when it is not. */
  readonly next: readonly GroupState[];
  readonly verdicts: readonly ConstraintVerdict[];
}

/** Evaluates the hand-out of one item. Nothing is taken: the caller keeps `next` with the lease or drops it. */
export function judgeHandOut(
  refs: readonly GroupRef[],
  limits: HandOutLimits,
  groups: ReadonlyMap<string, GroupState>,
  nowMs: number,
): HandOutVerdict {
  const next: GroupState[] = [];
  const verdicts: ConstraintVerdict[] = [];
  let heldBy: HandOutVerdict["heldBy"];
  for (const ref of refs) {
    const group = groupOf(groups, ref);
    const judgement = judge(ref.kind, limits, group, { itemId: "", nowMs, letIn: true });
    if (judgement === undefined) continue;
    if (heldBy !== undefined) {
      verdicts.push({ ...ref, ruling: "not_asked", notBeforeMs: undefined, remaining: undefined });
      continue;
    }
    const { ruling, notBeforeMs } = judgement;
    const held = ruling !== "admit";
    const remaining = remainingIn(held ? group : judgement.next, limits, nowMs);
    verdicts.push({ ...ref, ruling, notBeforeMs, remaining });
    if (held) heldBy = { ref, notBeforeMs };
    else next.push(judgement.next);
  }
  return { heldBy, next: heldBy === undefined ? next : [], verdicts };
}

/** Which of the candidates can be handed out now. */
export interface HandOutChoice {
  readonly ids: readonly string[];
  /** When a throttle that held one of them back has its next token; undefined when none did. */
  readonly againAtMs: number | undefined;
}

/** Chooses up to `count` of the candidates, in their order; those whose groups have no room are passed over. */
export function chooseForHandOut(
  candidates: readonly LimitedItem[],
  limits: HandOutLimits,
  groups: ReadonlyMap<string, GroupState>,
  count: number,
  nowMs: number,
): HandOutChoice {
  const states = new Map(groups);
  const ids: string[] = [];
  let againAtMs: number | undefined;
  for (const item of candidates) {
    if (ids.length === count) break;
    const { heldBy, next } = judgeHandOut(limitRefs(item), limits, states, nowMs);
    if (heldBy === undefined) {
      ids.push(item.id);
      for (const state of next) states.set(groupKey(state), state);
    } else if (heldBy.notBeforeMs !== undefined) {
      againAtMs = Math.min(againAtMs ?? heldBy.notBeforeMs, heldBy.notBeforeMs);
    }
  }
  return { ids, againAtMs };
}

/** The groups that change because items were handed out, as they are then. */
export function groupsAfterHandOut(
  items: readonly LimitedItem[],
  limits: HandOutLimits,
  groups: ReadonlyMap<string, GroupState>,
  nowMs: number,
): ReadonlyMap<string, GroupState> {
  const states = new Map(groups);
  const changed = new Map<string, GroupState>();
  for (const item of items) {
    for (const state of judgeHandOut(limitRefs(item), limits, states, nowMs).next) {
      states.set(groupKey(state), state);
      changed.set(groupKey(state), state);
    }
  }
  return changed;
}

/** The groups that limit the hand-out of an item, in the order in which they are asked. */
export function limitRefs({ throttleGroup, concurrencyGroup }: LimitedItem): GroupRef[] {
  const refs: GroupRef[] = [
    { kind: "throttle", groupId: throttleGroup },
    { kind: "concurrency", groupId: concurrencyGroup },
  ];
  return refs.filter(({ groupId }) => groupId !== "");
}
