import type { Sql } from "../../platform/db/index.ts";
import { addCounts, type CountChange } from "./counts.ts";
import { groupKey } from "./domain/admission-group.ts";
import { releasePlaces } from "./domain/admission-release.ts";
import { waitingStates } from "./domain/queue-item.ts";
import { type GroupName, groupNamesOf, type OwnedGroup, readGroups, saveGroups } from "./group-store.ts";
import { isEnd, type Move, type Moved, moveItems, promoteItems } from "./move-store.ts";

const waiting: ReadonlySet<string> = new Set(waitingStates);

/** What moving came to. */
export interface MoveResult {
  readonly moved: readonly Moved[];
  /** Items that got the places which became free, and can be handed out now. */
  readonly promoted: readonly { readonly tenantId: string; readonly poolId: string }[];
}

/**
 * Moves items, gives their places in admission groups back, hands these on, and counts, all in the caller's transaction.
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
  const { moved, promoted, counts } = await moveUncounted(tx, moves, groupsTouched, nowMs);
  await addCounts(tx, [...counts, ...extraCounts(moved)], shard);
  return { moved, promoted };
}

/** The same for whoever has more to do in its transaction, and counts at its end. */
export async function moveUncounted(
  tx: Sql,
  moves: readonly Move[],
  groupsTouched: readonly GroupName[],
  nowMs: number,
): Promise<MoveResult & { readonly counts: readonly CountChange[] }> {
  if (moves.length === 0) return { moved: [], promoted: [], counts: [] };
  const groups = new Map(await readGroups(tx, groupsTouched, true));
  const moved = await moveItems(tx, moves, nowMs);
  const promoted = await giveBack(
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
  return { moved, promoted, counts };
}

/** Frees what moved items had of groups that are locked, and lets those go on that waited for it. */
async function giveBack(
  tx: Sql,
  groups: Map<string, OwnedGroup>,
  moved: readonly { readonly item: Moved; readonly to: Move["to"] }[],
  nowMs: number,
) {
  const changed = new Map<string, OwnedGroup>();
  for (const { item, to } of moved) {
    const ended = isEnd(to);
    // A place in a concurrency group is also given back for the time until the next attempt.
    const slotFreed = item.hadSlot && to !== "ready";
    if (!ended && !slotFreed) continue;
    for (const name of groupNamesOf(item)) {
      const group = groups.get(groupKey(name));
      if (group === undefined) continue;
      const state = releasePlaces(group.state, { itemId: item.id, ended, slotFreed });
      if (state === group.state) continue;
      const next = { ...group, state };
      groups.set(groupKey(name), next);
      changed.set(groupKey(name), next);
    }
  }
  return handOn(tx, [...changed.values()], nowMs);
}

/** Keeps groups that have changed, after their free places were given to whoever waits for them. */
export async function handOn(tx: Sql, changed: readonly OwnedGroup[], nowMs: number) {
  if (changed.length === 0) return [];
  const free = changed.flatMap(({ tenantId, kind, groupId, state }) =>
    kind === "concurrency" && state.inUse < state.slots
      ? [{ tenantId, groupId, count: state.slots - state.inUse }]
      : [],
  );
  const promoted = await promoteItems(tx, free);
  const taken = new Map<string, number>();
  for (const { concurrencyGroup } of promoted) {
    const key = groupKey({ kind: "concurrency", groupId: concurrencyGroup });
    taken.set(key, (taken.get(key) ?? 0) + 1);
  }
  const kept = changed.map((group) => ({
    ...group,
    state: { ...group.state, inUse: group.state.inUse + (taken.get(groupKey(group)) ?? 0) },
  }));
  await saveGroups(tx, kept, nowMs);
  return promoted;
}
