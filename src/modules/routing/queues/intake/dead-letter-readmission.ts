import { randomInt } from "node:crypto";
import { Failure } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { EventLoopShares, TimeSlices } from "../../../../platform/scheduling/index.ts";
import {
  AdmissionConflict,
  type AdmissionRequest,
  admit,
  canDisplace,
  createEmptyGroup,
  type GroupName,
  type GroupState,
  groupKey,
  groupsOfHolders,
  insertMissingGroupsSql,
  type KeyedItem,
  lockHolders,
  type OwnedGroup,
  readGroups,
  releaseGroup,
  retryOnConflict,
  saveGroups,
} from "../../admission/index.ts";
import type { Readmission, ReadmissionBatch, RefusedItem, RequeuedItem } from "../../dead-letters/index.ts";
import type { PoolSnapshot } from "../../pools/index.ts";
import type { ItemState } from "../domain/queue-item.ts";
import { hadPlacesOnlyIn, moveUncounted } from "../transitions/item-transitions.ts";
import { addCounts, shardCount } from "../transitions/queue-counts.ts";
import type { Move } from "../transitions/transition-store.ts";

/** What an item of a pool has to pass on its way in; undefined when nothing constrains it. */
export type AdmissionOf = (pool: PoolSnapshot["pool"], item: KeyedItem) => AdmissionRequest | undefined;

/** What items have to pass, by their ids; an item that no key can be made from would be refused if it came now. */
export type AdmissionRequests = ReadonlyMap<string, AdmissionRequest | "rejected">;

/** Has dead letters that are put back pass their pool's constraints like new items. */
export function createReadmission(admissionOf: AdmissionOf, shares: EventLoopShares): Readmission {
  return {
    appliesTo: ({ pool }) => Object.values(pool.config.admission).some((constraint) => constraint !== undefined),
    async prepare(sql, { pool }, ids) {
      const items = await requestedItems(sql, pool.tenantId, { poolId: pool.id, state: "dead_lettered", ids });
      const requests = await admissionRequests(admissionOf, pool, items, shares.forCall(pool.tenantId));
      return {
        has: (queueItemId) => requests.has(queueItemId),
        run: (tx, nowMs, work) =>
          retryOnConflict(() =>
            tx.savepoint(async (inner) => work(inner, await lockRound(inner, pool, requests, nowMs))),
          ),
      };
    },
  };
}

/** Finds the groups that items would fall into in a pool, in slices of the event loop. */
export async function admissionRequests(
  admissionOf: AdmissionOf,
  pool: PoolSnapshot["pool"],
  items: readonly (KeyedItem & { readonly id: string })[],
  turns: TimeSlices,
): Promise<AdmissionRequests> {
  const requests = new Map<string, AdmissionRequest | "rejected">();
  for (const item of items) {
    if (turns.isOver()) await turns.next();
    requests.set(
      item.id,
      requestOf(() => admissionOf(pool, item) ?? unconstrained(pool)),
    );
  }
  return requests;
}

function unconstrained({ environmentId }: PoolSnapshot["pool"]): AdmissionRequest {
  const groups = { singleton: "", debounce: "", throttle: "", concurrency: "" };
  return { config: {}, refs: [], groups, limitGroups: [], environmentId };
}

function requestOf(ask: () => AdmissionRequest): AdmissionRequest | "rejected" {
  try {
    return ask();
  } catch (error) {
    if (error instanceof Failure) return "rejected";
    throw error;
  }
}

/** What was asked when items came in that are now in a pool and in a state. */
export function requestedItems(
  tx: Sql,
  tenantId: TenantId,
  { poolId, state, ids }: { readonly poolId: string; readonly state: ItemState; readonly ids: readonly string[] },
) {
  return tx<(KeyedItem & { readonly id: string })[]>`
    select d.id, d.type, d.key, d.attributes, d.requirements, d.priority
    from queue_items q join decisions d on d.tenant_id = q.tenant_id and d.id = q.id
    where q.tenant_id = ${tenantId} and q.id = any(${ids as string[]}::text[]) and q.pool_id = ${poolId}
      and q.state = ${state}`;
}

/** A round in which items may also come from groups of another pool. */
export interface MovingRound extends ReadmissionBatch {
  /** Gives back what an item has of groups that it leaves. Throws AdmissionConflict when they were not locked. */
  leave(itemId: string, groups: readonly GroupName[]): void;
}

/** Locks the groups that items fall into in a pool, and those that they may leave for it. */
export async function lockRound(
  tx: Sql,
  { tenantId, id: poolId, environmentId }: PoolSnapshot["pool"],
  requests: AdmissionRequests,
  nowMs: number,
  leaving: readonly GroupName[] = [],
): Promise<MovingRound> {
  const asked = [...requests.values()].filter((request) => request !== "rejected");
  const named = asked.flatMap(({ refs }) => refs.map((ref): GroupName => ({ tenantId, ...ref })));
  const displacing = asked.flatMap(({ refs, config }) =>
    refs.filter(({ kind }) => canDisplace(kind, config)).map((ref) => ({ tenantId, ...ref })),
  );
  const locked = [...named, ...leaving, ...(await groupsOfHolders(tx, displacing))];
  // Groups that exist are locked before new ones are inserted, as by those who let new items in.
  const known = await readGroups(tx, locked, true);
  const fresh = new Map<string, OwnedGroup>();
  for (const name of named) {
    const key = groupKey(name);
    if (!known.has(key))
      fresh.set(key, { ...name, environmentId, poolId, state: createEmptyGroup(name), stored: false });
  }
  // A group that somebody else has made meanwhile is not locked.
  if ((await saveGroups(tx, [...fresh.values()], nowMs)) < fresh.size) throw new AdmissionConflict();
  const limits = asked.flatMap(({ limitGroups }) => limitGroups);
  if (limits.length > 0) await tx`${insertMissingGroupsSql(tx, limits, nowMs)}`;
  // Whoever has a place is neither begun nor ended while it is decided whether it has to go.
  await lockHolders(tx, displacing);
  const owned = await readGroups(tx, locked, false);
  if (named.some((name) => !owned.has(groupKey(name)))) throw new AdmissionConflict();
  const states = new Map<string, GroupState>([...owned].map(([key, { state }]) => [key, state]));
  const changed = new Map<string, OwnedGroup>();
  const moves: Move[] = [];

  function change(state: GroupState): void {
    const key = groupKey(state);
    states.set(key, state);
    changed.set(key, { ...owned.get(key)!, state });
  }

  function place(itemId: string): RequeuedItem | RefusedItem {
    const request = requests.get(itemId);
    if (request === undefined || request === "rejected") {
      return { queueItemId: itemId, reason: "rejected", existingItemId: "" };
    }
    const { refs, config } = request;
    const { verdict, next } = admit({ itemId, refs, config, nowMs }, states);
    const { status, holdReason, dueAtMs, supersedes, cancels, existingItemId } = verdict;
    if (status === "deduplicated" || status === "rejected")
      return { queueItemId: itemId, reason: status, existingItemId };
    for (const state of next) change(state);
    // By id alone: who holds a place may have been redirected to another pool.
    const base = { tenantId, survivorId: itemId };
    for (const id of supersedes) moves.push({ ...base, id, from: "waiting", to: "superseded" });
    if (cancels !== "") moves.push({ tenantId, id: cancels, from: "unfinished", to: "cancelled" });
    return { queueItemId: itemId, state: holdReason === "" ? "ready" : "held", holdReason, dueAtMs, ...request.groups };
  }

  const lockedKeys = new Set(locked.map(groupKey));

  return {
    leave(itemId, groups) {
      for (const name of groups) {
        if (!lockedKeys.has(groupKey(name))) throw new AdmissionConflict();
        const state = states.get(groupKey(name));
        if (state === undefined) continue;
        const next = releaseGroup(state, { itemId, ended: true, slotFreed: false });
        if (next !== state) change(next);
      }
    },
    admit(ids, max) {
      const placed: RequeuedItem[] = [];
      const refused: RefusedItem[] = [];
      for (const queueItemId of ids) {
        if (placed.length === max) break;
        const placement = place(queueItemId);
        if ("reason" in placement) refused.push(placement);
        else placed.push(placement);
      }
      return { placed, refused };
    },
    async save() {
      await saveGroups(tx, [...changed.values()], nowMs);
      const { moved, counts, freed } = await moveUncounted(tx, moves, locked, nowMs);
      if (moved.length < moves.length || !hadPlacesOnlyIn(locked, moved)) throw new AdmissionConflict();
      const { own = [], others = [] } = Object.groupBy(counts, (each) => (each.poolId === poolId ? "own" : "others"));
      await addCounts(tx, others, randomInt(shardCount));
      return { depth: own.reduce((sum, { depth = 0 }) => sum + depth, 0), freed };
    },
  };
}
