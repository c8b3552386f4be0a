import { randomInt } from "node:crypto";
import { Failure } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { EventLoopScheduler, TimeSlices } from "../../../../platform/event-loop/index.ts";
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
import { applyTransitionsUncounted, releasedAllPlaces } from "../transitions/item-transitions.ts";
import { addCounts, shardCount } from "../transitions/queue-counts.ts";
import type { ItemTransition } from "../transitions/transition-store.ts";

/** Computes the admission request of an item in a pool; undefined when nothing constrains it. */
export type AdmissionOf = (pool: PoolSnapshot["pool"], item: KeyedItem) => AdmissionRequest | undefined;

/** Admission requests by item id; "rejected" for an item whose keys cannot be evaluated. */
export type AdmissionRequests = ReadonlyMap<string, AdmissionRequest | "rejected">;

/** Creates the readmission of dead letters: retried items pass their pool's constraints like new items. */
export function createReadmission(admissionOf: AdmissionOf, shares: EventLoopScheduler): Readmission {
  return {
    appliesTo: ({ pool }) => Object.values(pool.config.admission).some((constraint) => constraint !== undefined),
    async prepare(sql, { pool }, ids) {
      const items = await readRequestedItems(sql, pool.tenantId, { poolId: pool.id, state: "dead_lettered", ids });
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

/** Evaluates the groups that items belong to in a pool, in slices of the event loop. */
export async function admissionRequests(
  admissionOf: AdmissionOf,
  pool: PoolSnapshot["pool"],
  items: readonly (KeyedItem & { readonly id: string })[],
  slices: TimeSlices,
): Promise<AdmissionRequests> {
  const requests = new Map<string, AdmissionRequest | "rejected">();
  for (const item of items) {
    if (slices.isOver()) await slices.next();
    requests.set(
      item.id,
      evaluateRequest(() => admissionOf(pool, item) ?? unconstrained(pool)),
    );
  }
  return requests;
}

function unconstrained({ environmentId }: PoolSnapshot["pool"]): AdmissionRequest {
  const groups = { singleton: "", debounce: "", throttle: "", concurrency: "" };
  return { config: {}, refs: [], groups, limitGroups: [], environmentId };
}

function evaluateRequest(evaluate: () => AdmissionRequest): AdmissionRequest | "rejected" {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof Failure) return "rejected";
    throw error;
  }
}

/** Reads the original requests of items that are in a pool and a state. */
export function readRequestedItems(
  tx: Sql,
  tenantId: TenantId,
  { poolId, state, ids }: { readonly poolId: string; readonly state: ItemState; readonly ids: readonly string[] },
) {
  return tx<(KeyedItem & { readonly id: string })[]>`
    select id, type, key, attributes, requirements, decided_priority as priority from all_items
    where tenant_id = ${tenantId} and id = any(${ids as string[]}::text[]) and pool_id = ${poolId} and state = ${state}`;
}

/** A readmission round for items that leave the groups of another pool. */
export interface RedirectRound extends ReadmissionBatch {
  /** Releases an item's places in the groups that it leaves. Throws AdmissionConflict when a group is not locked. */
  leave(itemId: string, groups: readonly GroupName[]): void;
}

/** Locks the groups that items enter in a pool, and the groups that they leave. */
export async function lockRound(
  tx: Sql,
  { tenantId, id: poolId, environmentId }: PoolSnapshot["pool"],
  requests: AdmissionRequests,
  nowMs: number,
  leaving: readonly GroupName[] = [],
): Promise<RedirectRound> {
  const admissible = [...requests.values()].filter((request) => request !== "rejected");
  const named = admissible.flatMap(({ refs }) => refs.map((ref): GroupName => ({ tenantId, ...ref })));
  const displacing = admissible.flatMap(({ refs, config }) =>
    refs.filter(({ kind }) => canDisplace(kind, config)).map((ref) => ({ tenantId, ...ref })),
  );
  const locked = [...named, ...leaving, ...(await groupsOfHolders(tx, displacing))];
  // Existing groups are locked before new ones are inserted, in the same order as when new items are accepted.
  const known = await readGroups(tx, locked, true);
  const fresh = new Map<string, OwnedGroup>();
  for (const name of named) {
    const key = groupKey(name);
    if (!known.has(key))
      fresh.set(key, { ...name, environmentId, poolId, state: createEmptyGroup(name), stored: false });
  }
  // A group that another transaction created in the meantime is not locked.
  if ((await saveGroups(tx, [...fresh.values()], nowMs)) < fresh.size) throw new AdmissionConflict();
  const limits = admissible.flatMap(({ limitGroups }) => limitGroups);
  if (limits.length > 0) await tx`${insertMissingGroupsSql(tx, limits, nowMs)}`;
  // The holder of a place must not change state while the round decides whether to displace it.
  await lockHolders(tx, displacing);
  const owned = await readGroups(tx, locked, false);
  if (named.some((name) => !owned.has(groupKey(name)))) throw new AdmissionConflict();
  const states = new Map<string, GroupState>([...owned].map(([key, { state }]) => [key, state]));
  const changed = new Map<string, OwnedGroup>();
  const transitions: ItemTransition[] = [];

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
    // No pool id: the holder of a place may have been redirected to another pool.
    const base = { tenantId, supersededById: itemId };
    for (const id of supersedes) transitions.push({ ...base, id, from: "waiting", to: "superseded" });
    if (cancels !== "") transitions.push({ tenantId, id: cancels, from: "unfinished", to: "cancelled" });
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
      const { transitioned, counts, freed } = await applyTransitionsUncounted(tx, transitions, locked, nowMs);
      if (transitioned.length < transitions.length || !releasedAllPlaces(locked, transitioned))
        throw new AdmissionConflict();
      const { own = [], others = [] } = Object.groupBy(counts, (each) => (each.poolId === poolId ? "own" : "others"));
      await addCounts(tx, others, randomInt(shardCount));
      return { depth: own.reduce((sum, { depth = 0 }) => sum + depth, 0), freed };
    },
  };
}
