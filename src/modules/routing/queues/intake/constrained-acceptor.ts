import type { Database, Sql } from "../../../../platform/db/index.ts";
import { keyName, readUsedKeys } from "../../../../platform/idempotency/index.ts";
import {
  AdmissionConflict,
  admit,
  admitOptimistically,
  type Candidate,
  canDisplace,
  claimPlaces,
  claimPlacesSql,
  createAdmissionBackoff,
  type GroupName,
  type GroupState,
  groupKey,
  groupsOfHolders,
  isAdmissionConflict,
  isGroupFull,
  type OwnedGroup,
  readCollected,
  readGroups,
  retryOnConflict,
  saveGroups,
  selectAdmissionRefs,
  type Verdict,
} from "../../admission/index.ts";
import { linkDependencies, type WaitingItem } from "../dependencies/dependency-links.ts";
import { applyTransitionsUncounted, releasedAllPlaces } from "../transitions/item-transitions.ts";
import { addCounts, type CountChange } from "../transitions/queue-counts.ts";
import type { EndedItem, ItemTransition } from "../transitions/transition-store.ts";
import type { AcceptedBatch } from "./accept-input.ts";
import type { AcceptRequest } from "./accept-request.ts";
import { insertAcceptedBatches } from "./accept-store.ts";
import { createWindowExtensions } from "./window-extensions.ts";

/** Accepts items of pools with constraints: checks and admits all of them in one transaction. */
export type ConstrainedAcceptor = ReturnType<typeof createConstrainedAcceptor>;

/** Callbacks after the commit of accepted items. */
interface AcceptanceEffects {
  /** Called with the items that new ones replaced or cancelled. */
  onEnded(items: readonly EndedItem[]): void;
  /** Called if a new item waits for items that have ended in the meantime. */
  sweep(): void;
}

const noEffects: AcceptanceEffects = { onEnded: () => {}, sweep: () => {} };

export function createConstrainedAcceptor(
  db: Database,
  wake: (tenantId: string, poolId: string) => void,
  effects: AcceptanceEffects = noEffects,
) {
  const backoff = createAdmissionBackoff();

  /** Tries to admit all items without reading their groups first. Returns false, and writes nothing, if that fails. */
  async function tryAdmitAll(requests: readonly AcceptRequest[], shard: number): Promise<boolean> {
    const pools = poolsOf(requests);
    if (!backoff.shouldTry(pools)) return false;
    const admission = admissionOfAll(requests);
    if (admission === undefined) return false;
    try {
      await writeAdmission(db, admission, shard);
      backoff.recordSuccess(pools);
      return true;
    } catch (error) {
      if (isAdmissionConflict(error)) return false;
      if (!isGroupFull(error)) throw error;
      backoff.recordFailure(pools);
      return false;
    }
  }

  return {
    /** Admits the items and writes the result; returns the indices of requests whose idempotency key was used before. */
    async accept(requests: readonly AcceptRequest[], shard: number): Promise<ReadonlySet<number>> {
      if (await tryAdmitAll(requests, shard)) return new Set();
      const done = await retryOnConflict(() => db.transaction((tx) => acceptIn(tx, requests, shard)));
      const { repeated, freed, ended, hasSettled } = done;
      for (const { tenantId, poolId } of freed) wake(tenantId, poolId);
      effects.onEnded(ended);
      if (hasSettled) effects.sweep();
      return repeated;
    },
  };
}

/** The rows and group states to write when all items are admitted. */
interface FullAdmission {
  readonly batches: readonly AcceptedBatch[];
  readonly groups: readonly OwnedGroup[];
  readonly nowMs: number;
}

/** Computes the admission of all items, assuming that every group has room; undefined when that is impossible. */
function admissionOfAll(requests: readonly AcceptRequest[]): FullAdmission | undefined {
  // The items that a new item waits for must be locked.
  if (requests.some(({ items }) => items.some(({ hasDependencies }) => hasDependencies))) return undefined;
  // All items use the latest time, so that their use of a group can be added to the stored state.
  const nowMs = Math.max(...requests.map((request) => request.nowMs));
  const owners = new Map<string, Pick<OwnedGroup, "tenantId" | "environmentId" | "poolId">>();
  const candidates: Candidate[] = [];
  for (const { tenantId, items } of requests) {
    for (const { id, poolId, admission, payloadJson } of items) {
      if (admission === undefined) continue;
      const { config, refs, environmentId } = admission;
      const owner = { tenantId, environmentId, poolId };
      for (const ref of refs) owners.set(groupKey(ref), owner);
      candidates.push({ itemId: id, refs, config, nowMs, payloadBytes: bytesOf(payloadJson) });
    }
  }
  const admissions = admitOptimistically(candidates);
  if (admissions === undefined) return undefined;
  let nth = 0;
  const batches = requests.map(({ items, toBatch }) =>
    toBatch(items.map(({ admission }) => (admission === undefined ? undefined : admissions.verdicts[nth++]!))),
  );
  const groups = admissions.taken.map((state) => {
    const { kind, groupId } = state;
    return { ...owners.get(groupKey(state))!, kind, groupId, state, stored: false };
  });
  return { batches, groups, nowMs };
}

async function writeAdmission(db: Database, { batches, groups, nowMs }: FullAdmission, shard: number): Promise<void> {
  if (batches.every(({ record }) => record === undefined)) {
    const room = groups.length === 0 ? undefined : claimPlacesSql(db.sql, groups, nowMs);
    await insertAcceptedBatches(db.sql, batches, shard, room);
    return;
  }
  await db.transaction(async (tx) => {
    // Pipelined: if a group has no room, the insert is not executed.
    const [, refused] = await Promise.all([claimPlaces(tx, groups, nowMs), insertAcceptedBatches(tx, batches, shard)]);
    // A repeated call must take no places, but this transaction took them, so it is rolled back.
    if (refused.size > 0) throw new AdmissionConflict();
  });
}

async function acceptIn(tx: Sql, requests: readonly AcceptRequest[], shard: number) {
  const { named, displacing, collecting } = groupNamesIn(requests);
  const claims = requests.flatMap(({ claim }) => (claim === undefined ? [] : [claim]));
  const [used, holders] = await Promise.all([readUsedKeys(tx, claims), groupsOfHolders(tx, displacing)]);
  const locked = [...named, ...holders];
  const owned = new Map(await readGroups(tx, locked, true));
  const states = new Map<string, GroupState>([...owned].map(([key, { state }]) => [key, state]));
  for (const state of await readCollected(
    tx,
    collecting.flatMap((name) => owned.get(groupKey(name)) ?? []),
  ))
    states.set(groupKey(state), state);

  const nowMs = Math.max(...requests.map((request) => request.nowMs));
  const repeated = findRepeated(requests, used);
  const changed = new Map<string, OwnedGroup>();
  const transitions: ItemTransition[] = [];
  const windows = createWindowExtensions();
  const verdicts = requests.map((request, at) => (repeated.has(at) ? [] : judge(request)));
  const fresh = requests.flatMap((request, at) => (repeated.has(at) ? [] : [request.toBatch(verdicts[at]!)]));

  const waiting = fresh.flatMap(({ rows }) => rows.flatMap(waitingItemOf));
  const isDone = transitions.length === 0 && waiting.length === 0 && windows.isEmpty();

  // Pipelined and executed in this order. Inserts precede the changes of other items, because a new item may already be
  // superseded by a later one. Counts are written last.
  const [saved, refused] = await Promise.all([
    saveGroups(tx, [...changed.values()], nowMs),
    insertAcceptedBatches(tx, fresh, isDone ? shard : undefined),
  ]);
  // Another transaction created a group that was read as missing.
  if (refused.size > 0 || saved < changed.size) throw new AdmissionConflict();
  if (isDone) return { repeated, freed: [], ended: [], hasSettled: false };
  if (!(await windows.save(tx, nowMs))) throw new AdmissionConflict();
  const hasSettled = await linkDependencies(tx, waiting);
  const { transitioned, freed, counts } = await applyTransitionsUncounted(tx, transitions, locked, nowMs);
  if (transitioned.length < transitions.length || !releasedAllPlaces(locked, transitioned))
    throw new AdmissionConflict();
  const accepted = fresh.flatMap(({ rows }) => rows.flatMap(countOf));
  await addCounts(tx, [...accepted, ...counts], shard);
  return { repeated, freed, ended: transitioned, hasSettled };

  function judge({ tenantId, items }: AcceptRequest): (Verdict | undefined)[] {
    return items.map(({ id, poolId, admission, payloadJson }) => {
      if (admission === undefined) return undefined;
      const { config, refs, environmentId } = admission;
      // An item that arrived earlier may have waited longer for the lock. Time does not run backwards within a group.
      const atMs = Math.max(nowMs, ...refs.map((ref) => owned.get(groupKey(ref))?.usedAtMs ?? 0));
      const candidate = { itemId: id, refs, config, nowMs: atMs, payloadBytes: bytesOf(payloadJson) };
      const { verdict, next } = admit(candidate, states);
      if (verdict.window !== undefined) windows.add(tenantId, verdict.window, payloadJson);
      for (const state of next) {
        const key = groupKey(state);
        const known = owned.get(key) ?? { tenantId, ...state, environmentId, poolId, state, stored: false };
        states.set(key, state);
        owned.set(key, { ...known, state });
        changed.set(key, { ...known, state });
      }
      // No pool id: the holder of a place may have been redirected to another pool since.
      for (const superseded of verdict.supersedes) {
        transitions.push({ tenantId, id: superseded, from: "waiting", to: "superseded", supersededById: id });
      }
      if (verdict.cancels !== "") {
        transitions.push({ tenantId, id: verdict.cancels, from: "unfinished", to: "cancelled" });
      }
      return verdict;
    });
  }
}

/** The pools of the constrained items. */
function poolsOf(requests: readonly AcceptRequest[]): ReadonlySet<string> {
  const constrained = requests.flatMap(({ items }) => items.filter(({ admission }) => admission !== undefined));
  return new Set(constrained.map(({ poolId }) => poolId));
}

function countOf({ decision: { tenantId, poolId }, item }: AcceptedBatch["rows"][number]): CountChange[] {
  if (item === undefined) return [];
  return [{ tenantId, poolId, accepted: 1, depth: item.state === "leased" ? 0 : 1 }];
}

/** The stored item and its dependencies, if it waits. */
function waitingItemOf({ decision: { tenantId, id }, item }: AcceptedBatch["rows"][number]): WaitingItem[] {
  return item?.dependencies === undefined ? [] : [{ tenantId, id, dependencies: item.dependencies }];
}

function bytesOf(payloadJson: string | undefined): number | undefined {
  return payloadJson === undefined ? undefined : Buffer.byteLength(payloadJson);
}

interface GroupNames {
  /** The groups to lock. */
  readonly named: GroupName[];
  /** Those whose holder may be displaced. */
  readonly displacing: GroupName[];
  /** Those whose waiting item may collect payloads. */
  readonly collecting: GroupName[];
}

function groupNamesIn(requests: readonly AcceptRequest[]): GroupNames {
  const named: GroupName[] = [];
  const displacing: GroupName[] = [];
  const collecting: GroupName[] = [];
  for (const { tenantId, items } of requests) {
    for (const { admission } of items) {
      if (admission === undefined) continue;
      for (const { kind, groupId } of selectAdmissionRefs(admission.refs, admission.config)) {
        const name = { tenantId, kind, groupId };
        named.push(name);
        if (canDisplace(kind, admission.config)) displacing.push(name);
        if (kind === "debounce" && admission.config.debounce?.take === "all") collecting.push(name);
      }
    }
  }
  return { named, displacing, collecting };
}

/** Finds requests whose key was used before, or by an earlier request of the batch. */
function findRepeated(requests: readonly AcceptRequest[], used: ReadonlySet<string>): ReadonlySet<number> {
  const seen = new Set(used);
  const repeated = new Set<number>();
  requests.forEach(({ claim }, at) => {
    if (claim === undefined) return;
    const name = keyName(claim);
    if (seen.has(name)) repeated.add(at);
    else seen.add(name);
  });
  return repeated;
}
