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
import { waitingStates } from "../domain/queue-item.ts";
import { addCounts, type CountChange } from "./queue-counts.ts";
import { isEnd, type Move, type Moved, moveItems, poolsWaitingFor } from "./transition-store.ts";

const waiting: ReadonlySet<string> = new Set(waitingStates);

/** What moving came to. */
export interface MoveResult {
  readonly moved: readonly Moved[];
  /** The pools in which items wait for places that became free. */
  readonly freed: readonly { readonly tenantId: string; readonly poolId: string }[];
}

/**
 * Moves items, gives their places in admission groups back, and counts, all in the caller's transaction.
 * Groups are locked before items, and items before counts, here and wherever they meet: so nobody waits in a ring.
 */
export async function move(
  tx: Sql,
  moves: readonly Move[],
  groupsTouched: readonly GroupName[],
  nowMs: number,
  shard: number,
  extraCounts: (moved: readonly Moved[]) => readonly CountChange[] = () => [],
): Promise<MoveResult> {
  const { moved, freed, counts } = await moveUncounted(tx, moves, groupsTouched, nowMs);
  await addCounts(tx, [...counts, ...extraCounts(moved)], shard);
  return { moved, freed };
}

/** The same for whoever has more to do in its transaction, and counts at its end. */
export async function moveUncounted(
  tx: Sql,
  moves: readonly Move[],
  groupsTouched: readonly GroupName[],
  nowMs: number,
): Promise<MoveResult & { readonly counts: readonly CountChange[] }> {
  if (moves.length === 0) return { moved: [], freed: [], counts: [] };
  const groups = new Map(await readGroups(tx, groupsTouched, true));
  const moved = await moveItems(tx, moves, nowMs);
  const freed = await giveBack(
    tx,
    groups,
    moved.map((item) => ({ item, to: moves[item.nth]!.to })),
    nowMs,
  );
  const counts = moved.map(({ nth, tenantId, poolId, fromState }) => ({
    tenantId,
    poolId,
    depth: Number(waiting.has(moves[nth]!.to)) - Number(waiting.has(fromState)),
  }));
  return { moved, freed, counts };
}

/**
 * Whether moved items had places only in groups that were locked. Whoever took a place meanwhile may have had others,
 * which could not be given back.
 */
export function hadPlacesOnlyIn(groups: readonly GroupName[], moved: readonly Moved[]): boolean {
  const keys = new Set(groups.map(groupKey));
  return moved.every((item) =>
    groupNamesOf(item).every((name) => keys.has(groupKey(name)) || (name.kind === "concurrency" && !item.hadSlot)),
  );
}

/** Frees what moved items had of groups that are locked; answers with the pools in which items wait for that. */
async function giveBack(
  tx: Sql,
  groups: Map<string, OwnedGroup>,
  moved: readonly { readonly item: Moved; readonly to: Move["to"] }[],
  nowMs: number,
): Promise<MoveResult["freed"]> {
  const changed = new Map<string, OwnedGroup>();
  for (const { item, to } of moved) {
    const ended = isEnd(to);
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
    poolsWaitingFor(
      tx,
      states.filter(({ kind }) => kind === "concurrency"),
    ),
  ]);
  return freed;
}
