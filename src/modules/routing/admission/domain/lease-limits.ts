import { type ConstraintVerdict, createSkippedVerdict } from "./admission.ts";
import type { LeaseLimits } from "./constraint-stage.ts";
import { evaluateConstraint, remainingIn } from "./constraints.ts";
import { type GroupRef, type GroupState, groupKey, groupOf } from "./group.ts";

/** A waiting item and the groups that limit its lease; an empty string means none. */
export interface LimitedItem {
  readonly id: string;
  readonly throttleGroup: string;
  readonly concurrencyGroup: string;
}

/** Whether the limits allow one lease now. */
export interface LeaseVerdict {
  /** The first group without room, and when it will have some; undefined if the item can be leased. */
  readonly heldBy: { readonly ref: GroupRef; readonly notBeforeMs: number | undefined } | undefined;
  /** The groups after the lease; empty if the item cannot be leased. */
  readonly next: readonly GroupState[];
  readonly verdicts: readonly ConstraintVerdict[];
}

/** Evaluates the lease of one item. Nothing is stored: the caller stores `next` with the lease or discards it. */
export function evaluateLease(
  refs: readonly GroupRef[],
  limits: LeaseLimits,
  groups: ReadonlyMap<string, GroupState>,
  nowMs: number,
): LeaseVerdict {
  const next: GroupState[] = [];
  const verdicts: ConstraintVerdict[] = [];
  let heldBy: LeaseVerdict["heldBy"];
  for (const ref of refs) {
    const group = groupOf(groups, ref);
    const result = evaluateConstraint(ref.kind, limits, group, { itemId: "", nowMs, isQueued: true });
    if (result === undefined) continue;
    if (heldBy !== undefined) {
      verdicts.push(createSkippedVerdict(ref));
      continue;
    }
    const { ruling, notBeforeMs } = result;
    const held = ruling !== "admit";
    const remaining = remainingIn(held ? group : result.next, limits, nowMs);
    verdicts.push({ ...ref, ruling, notBeforeMs, remaining });
    if (held) heldBy = { ref, notBeforeMs };
    else next.push(result.next);
  }
  return { heldBy, next: heldBy === undefined ? next : [], verdicts };
}

/** The candidates that can be leased now. */
export interface LeaseSelection {
  readonly ids: readonly string[];
  /** When the next throttle that held a candidate has a token; undefined if none did. */
  readonly againAtMs: number | undefined;
}

/** Selects up to `count` candidates in order; those whose groups have no room are skipped. */
export function selectForLease(
  candidates: readonly LimitedItem[],
  limits: LeaseLimits,
  groups: ReadonlyMap<string, GroupState>,
  count: number,
  nowMs: number,
): LeaseSelection {
  const states = new Map(groups);
  const ids: string[] = [];
  let againAtMs: number | undefined;
  for (const item of candidates) {
    if (ids.length === count) break;
    const { heldBy, next } = evaluateLease(limitRefs(item), limits, states, nowMs);
    if (heldBy === undefined) {
      ids.push(item.id);
      for (const state of next) states.set(groupKey(state), state);
    } else if (heldBy.notBeforeMs !== undefined) {
      againAtMs = Math.min(againAtMs ?? heldBy.notBeforeMs, heldBy.notBeforeMs);
    }
  }
  return { ids, againAtMs };
}

/** Returns the groups that change because items were leased, in their new state. */
export function groupsAfterLease(
  items: readonly LimitedItem[],
  limits: LeaseLimits,
  groups: ReadonlyMap<string, GroupState>,
  nowMs: number,
): ReadonlyMap<string, GroupState> {
  const states = new Map(groups);
  const changed = new Map<string, GroupState>();
  for (const item of items) {
    for (const state of evaluateLease(limitRefs(item), limits, states, nowMs).next) {
      states.set(groupKey(state), state);
      changed.set(groupKey(state), state);
    }
  }
  return changed;
}

/** Returns the groups that limit the lease of an item, in the order of evaluation. */
export function limitRefs({ throttleGroup, concurrencyGroup }: LimitedItem): GroupRef[] {
  const refs: GroupRef[] = [
    { kind: "throttle", groupId: throttleGroup },
    { kind: "concurrency", groupId: concurrencyGroup },
  ];
  return refs.filter(({ groupId }) => groupId !== "");
}
