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
  groupsToAdmit,
  isAdmissionConflict,
  isGroupFull,
  type OwnedGroup,
  readGroups,
  retryOnConflict,
  saveGroups,
  type Verdict,
} from "../../admission/index.ts";
import { hadPlacesOnlyIn, moveUncounted } from "../transitions/item-transitions.ts";
import { addCounts, type CountChange } from "../transitions/queue-counts.ts";
import type { Move } from "../transitions/transition-store.ts";
import { insertParcels, type Parcel } from "./accept-store.ts";
import type { Proposal } from "./proposal.ts";

/** Lets items in through their constraints: checked and taken, all or nothing, in one transaction. */
export interface AdmissionTaking {
  /** Keeps what the proposals come to; answers with the indices of those whose idempotency key was used before. */
  take(proposals: readonly Proposal[], shard: number): Promise<ReadonlySet<number>>;
}

/** Makes it. */
export function createAdmissionTaking(db: Database, wake: (tenantId: string, poolId: string) => void): AdmissionTaking {
  const backoff = createAdmissionBackoff();

  /** Lets all of them in without a look at their groups first; says whether that was possible, and nothing is kept if not. */
  async function pass(proposals: readonly Proposal[], shard: number): Promise<boolean> {
    const pools = poolsOf(proposals);
    if (!backoff.shouldTry(pools)) return false;
    const passing = passingOf(proposals);
    if (passing === undefined) return false;
    try {
      await passIn(db, passing, shard);
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
    async take(proposals, shard) {
      if (await pass(proposals, shard)) return new Set();
      const { repeated, freed } = await retryOnConflict(() => db.transaction((tx) => takeIn(tx, proposals, shard)));
      for (const { tenantId, poolId } of freed) wake(tenantId, poolId);
      return repeated;
    },
  };
}

/** What is kept when all are let in. */
interface Passing {
  readonly parcels: readonly Parcel[];
  readonly groups: readonly OwnedGroup[];
  readonly nowMs: number;
}

/** What letting all in comes to if every group has room for them; undefined when that cannot be told. */
function passingOf(proposals: readonly Proposal[]): Passing | undefined {
  // All at one moment, the latest: what is taken of a group can then be added to what others took.
  const nowMs = Math.max(...proposals.map((proposal) => proposal.nowMs));
  const owners = new Map<string, Pick<OwnedGroup, "tenantId" | "environmentId" | "poolId">>();
  const candidates: Candidate[] = [];
  for (const { tenantId, items } of proposals) {
    for (const { id, poolId, admission } of items) {
      if (admission === undefined) continue;
      const { config, refs, environmentId } = admission;
      const owner = { tenantId, environmentId, poolId };
      for (const ref of refs) owners.set(groupKey(ref), owner);
      candidates.push({ itemId: id, refs, config, nowMs });
    }
  }
  const passage = admitOptimistically(candidates);
  if (passage === undefined) return undefined;
  let nth = 0;
  const parcels = proposals.map(({ items, settle }) =>
    settle(items.map(({ admission }) => (admission === undefined ? undefined : passage.verdicts[nth++]!))),
  );
  const groups = passage.taken.map((state) => {
    const { kind, groupId } = state;
    return { ...owners.get(groupKey(state))!, kind, groupId, state, stored: false };
  });
  return { parcels, groups, nowMs };
}

async function passIn(db: Database, { parcels, groups, nowMs }: Passing, shard: number): Promise<void> {
  if (parcels.every(({ record }) => record === undefined)) {
    const room = groups.length === 0 ? undefined : claimPlacesSql(db.sql, groups, nowMs);
    await insertParcels(db.sql, parcels, shard, room);
    return;
  }
  await db.transaction(async (tx) => {
    // Sent together: where a group has no room, the rest is not carried out.
    const [, refused] = await Promise.all([claimPlaces(tx, groups, nowMs), insertParcels(tx, parcels, shard)]);
    // Whoever repeats a call takes no places: in one statement it would have taken them.
    if (refused.size > 0) throw new AdmissionConflict();
  });
}

async function takeIn(tx: Sql, proposals: readonly Proposal[], shard: number) {
  const { named, displacing } = namesIn(proposals);
  const claims = proposals.flatMap(({ claim }) => (claim === undefined ? [] : [claim]));
  const [used, holders] = await Promise.all([readUsedKeys(tx, claims), groupsOfHolders(tx, displacing)]);
  const locked = [...named, ...holders];
  const owned = new Map(await readGroups(tx, locked, true));
  const states = new Map<string, GroupState>([...owned].map(([key, { state }]) => [key, state]));

  const { nowMs } = proposals[0]!;
  const repeated = repeatsAmong(proposals, used);
  const changed = new Map<string, OwnedGroup>();
  const moves: Move[] = [];
  const verdicts = proposals.map((proposal, at) => (repeated.has(at) ? [] : judge(proposal)));
  const fresh = proposals.flatMap((proposal, at) => (repeated.has(at) ? [] : [proposal.settle(verdicts[at]!)]));

  // Sent together, and carried out in this order. Those that were let in come before moves, since one of them may
  // already be superseded by a later one; counts come last.
  const [saved, refused] = await Promise.all([
    saveGroups(tx, [...changed.values()], nowMs),
    insertParcels(tx, fresh, moves.length === 0 ? shard : undefined),
  ]);
  // A group that somebody else began meanwhile is not one that was seen as fresh.
  if (refused.size > 0 || saved < changed.size) throw new AdmissionConflict();
  if (moves.length === 0) return { repeated, freed: [] };
  const { moved, freed, counts } = await moveUncounted(tx, moves, locked, nowMs);
  if (moved.length < moves.length || !hadPlacesOnlyIn(locked, moved)) throw new AdmissionConflict();
  const letIn = fresh.flatMap(({ rows }) => rows.flatMap(countOf));
  await addCounts(tx, [...letIn, ...counts], shard);
  return { repeated, freed };

  function judge({ tenantId, items, nowMs }: Proposal): (Verdict | undefined)[] {
    return items.map(({ id, poolId, admission }) => {
      if (admission === undefined) return undefined;
      const { config, refs, environmentId } = admission;
      const { verdict, next } = admit({ itemId: id, refs, config, nowMs }, states);
      for (const state of next) {
        const key = groupKey(state);
        const known = owned.get(key) ?? { tenantId, ...state, environmentId, poolId, state, stored: false };
        states.set(key, state);
        owned.set(key, { ...known, state });
        changed.set(key, { ...known, state });
      }
      // Whoever has a place may have been sent on to another pool since it took it.
      for (const superseded of verdict.supersedes) {
        moves.push({ tenantId, id: superseded, from: "waiting", to: "superseded", survivorId: id });
      }
      if (verdict.cancels !== "") {
        moves.push({ tenantId, id: verdict.cancels, from: "unfinished", to: "cancelled" });
      }
      return verdict;
    });
  }
}

/** The pools whose constraints are asked. */
function poolsOf(proposals: readonly Proposal[]): ReadonlySet<string> {
  const asked = proposals.flatMap(({ items }) => items.filter(({ admission }) => admission !== undefined));
  return new Set(asked.map(({ poolId }) => poolId));
}

/** What an item that was let in adds to the counts of its pool. */
function countOf({ decision: { tenantId, poolId }, item }: Parcel["rows"][number]): CountChange[] {
  if (item === undefined) return [];
  return [{ tenantId, poolId, accepted: 1, depth: item.state === "leased" ? 0 : 1 }];
}

/** The groups that are asked, and those of them whose holder may have to go. */
function namesIn(proposals: readonly Proposal[]): { named: GroupName[]; displacing: GroupName[] } {
  const named: GroupName[] = [];
  const displacing: GroupName[] = [];
  for (const { tenantId, items } of proposals) {
    for (const { admission } of items) {
      if (admission === undefined) continue;
      for (const { kind, groupId } of groupsToAdmit(admission)) {
        const name = { tenantId, kind, groupId };
        named.push(name);
        if (canDisplace(kind, admission.config)) displacing.push(name);
      }
    }
  }
  return { named, displacing };
}

/** Those whose key was recorded before, or stands a second time in this batch: the first one counts. */
function repeatsAmong(proposals: readonly Proposal[], used: ReadonlySet<string>): ReadonlySet<number> {
  const seen = new Set(used);
  const repeated = new Set<number>();
  proposals.forEach(({ claim }, at) => {
    if (claim === undefined) return;
    const name = keyName(claim);
    if (seen.has(name)) repeated.add(at);
    else seen.add(name);
  });
  return repeated;
}
