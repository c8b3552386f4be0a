import type { Sql } from "../../../../platform/db/index.ts";
import {
  type GroupName,
  groupKey,
  groupNamesOf,
  type OwnedGroup,
  readGroups,
  releaseGroup,
  saveGroups,
} from "../../admission/index.ts";
import { recordEnds } from "../dependencies/dependency-ends.ts";
import { isEndState, waitingStates } from "../domain/queue-item.ts";
import { addCounts, type CountChange } from "./queue-counts.ts";
import {
  findPoolsWaitingFor,
  type ItemTransition,
  type TransitionedItem,
  transitionItems,
} from "./transition-store.ts";

const waiting: ReadonlySet<string> = new Set(waitingStates);

/** The items that changed state, and the pools to wake. */
export interface TransitionResult {
  readonly transitioned: readonly TransitionedItem[];
  /** Pools with items waiting for slots that became free. */
  readonly freed: readonly { readonly tenantId: string; readonly poolId: string }[];
}

/**
 * Applies state transitions, releases the items' places in admission groups and updates counts, in the caller's
 * transaction. The global lock order is groups, items, counts; it prevents deadlocks.
 */
export async function applyTransitions(
  tx: Sql,
  transitions: readonly ItemTransition[],
  groupNames: readonly GroupName[],
  nowMs: number,
  shard: number,
  extraCounts: (transitioned: readonly TransitionedItem[]) => readonly CountChange[] = () => [],
): Promise<TransitionResult> {
  const { transitioned, freed, counts } = await applyTransitionsUncounted(tx, transitions, groupNames, nowMs);
  await addCounts(tx, [...counts, ...extraCounts(transitioned)], shard);
  return { transitioned, freed };
}

/** Like applyTransitions, but returns the count changes, for callers that do more work before they write counts. */
export async function applyTransitionsUncounted(
  tx: Sql,
  transitions: readonly ItemTransition[],
  groupNames: readonly GroupName[],
  nowMs: number,
): Promise<TransitionResult & { readonly counts: readonly CountChange[] }> {
  if (transitions.length === 0) return { transitioned: [], freed: [], counts: [] };
  const groups = new Map(await readGroups(tx, groupNames, true));
  const transitioned = await transitionItems(tx, transitions, nowMs);
  await recordEnds(tx, transitions, transitioned);
  const freed = await releaseGroupPlaces(
    tx,
    groups,
    transitioned.map((item) => ({ item, to: transitions[item.nth]!.to })),
    nowMs,
  );
  const counts = transitioned.map(({ nth, tenantId, poolId, fromState }) => ({
    tenantId,
    poolId,
    depth: Number(waiting.has(transitions[nth]!.to)) - Number(waiting.has(fromState)),
  }));
  return { transitioned, freed, counts };
}

/**
 * Whether all places of the items were in locked groups. An item that took a place concurrently may be in other groups,
 * whose places could not be released.
 */
export function releasedAllPlaces(groups: readonly GroupName[], transitioned: readonly TransitionedItem[]): boolean {
  const keys = new Set(groups.map(groupKey));
  return transitioned.every((item) =>
    groupNamesOf(item).every((name) => keys.has(groupKey(name)) || (name.kind === "concurrency" && !item.hadSlot)),
  );
}

/** Releases the items' places in the locked groups; returns the pools with items waiting for those places. */
async function releaseGroupPlaces(
  tx: Sql,
  groups: Map<string, OwnedGroup>,
  transitioned: readonly { readonly item: TransitionedItem; readonly to: ItemTransition["to"] }[],
  nowMs: number,
): Promise<TransitionResult["freed"]> {
  const changed = new Map<string, OwnedGroup>();
  for (const { item, to } of transitioned) {
    const ended = isEndState(to);
    if (!ended && !item.hadSlot) continue;
    for (const name of groupNamesOf(item)) {
      const group = groups.get(groupKey(name));
      if (group === undefined) continue;
      const state = releaseGroup(group.state, { itemId: item.id, ended, slotFreed: item.hadSlot });
      if (state === group.state) continue;
      const next = { ...group, state };
      groups.set(groupKey(name), next);
      changed.set(groupKey(name), next);
    }
  }
  const states = [...changed.values()];
  const [, freed] = await Promise.all([
    saveGroups(tx, states, nowMs),
    findPoolsWaitingFor(
      tx,
      states.filter(({ kind }) => kind === "concurrency"),
    ),
  ]);
  return freed;
}
