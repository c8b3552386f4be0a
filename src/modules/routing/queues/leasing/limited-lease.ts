import type { Connections, Sql } from "../../../../platform/db/index.ts";
import {
  AdmissionConflict,
  createEmptyGroup,
  groupKey,
  groupsAfterLease,
  type LeaseLimits,
  type LimitedItem,
  limitRefs,
  type OwnedGroup,
  readGroups,
  retryOnConflict,
  saveGroups,
  selectForLease,
} from "../../admission/index.ts";
import { type LeaseAsked, type LeasedRow, leaseItems, lockPlaces } from "./lease-store.ts";
import {
  candidatesByGroup,
  firstCandidates,
  type GroupPlace,
  type LimitSettings,
  limitsNow,
  namedCandidates,
} from "./limited-lease-store.ts";

/** What was handed out. */
export interface Lease {
  readonly rows: LeasedRow[];
  /** When a throttle that held items back has its next token; undefined when none did. */
  readonly againInMs: number | undefined;
}

/** A lease from a pool whose throttle or concurrency constraint limits hand-out. */
export interface LimitedLease extends LeaseAsked {
  readonly limits: LeaseLimits;
  readonly environmentId: string;
}

/** Runs in the transaction that hands items out; when it throws nothing is handed out. */
type Keep = (tx: Sql, rows: readonly LeasedRow[]) => Promise<void>;

/** Remembers where the walk over a pool's groups stands, so that the next one looks at others. */
export interface GroupWalk {
  at: GroupPlace | undefined;
}

const candidatesMin = 100;
const groupsAtOnce = 200;
const perGroupMax = 20;
/** The shortest wait for a throttle's next token, so that a fast throttle does not make workers poll in a tight loop. */
const againMsMin = 20;

/**
 * Hands out items whose groups have room, and takes their tokens and places in the same transaction: groups are locked
 * before items, in the one order in which everybody locks them.
 *
 * Those that go first by rank are tried first. When their groups hold all of them back, the first items of other groups
 * are tried: a group with a long queue hides nobody. Each try is a transaction of its own, because the groups of the
 * second must not be locked after those of the first.
 */
export async function leaseWithinLimits(
  connections: Connections,
  asked: LimitedLease,
  walk: GroupWalk,
  keep?: Keep,
): Promise<Lease> {
  const limit = Math.max(candidatesMin, 2 * asked.count);
  let seenAll = true;
  const first = await leaseAmong(connections, asked, keep, async (tx) => {
    if (asked.ids !== undefined) return namedCandidates(tx, asked, asked.ids);
    const candidates = await firstCandidates(tx, asked, limit);
    seenAll = candidates.length < limit;
    return candidates;
  });
  if (first.rows.length > 0 || seenAll) return first;
  const others = await leaseAmong(connections, asked, keep, async (tx) => {
    const size = { groups: groupsAtOnce, perGroup: Math.min(asked.count, perGroupMax) };
    const { candidates, last } = await candidatesByGroup(tx, asked, walk.at, size);
    walk.at = last;
    return candidates;
  });
  return { ...others, againInMs: earlier(first.againInMs, others.againInMs) };
}

function leaseAmong(
  connections: Connections,
  asked: LimitedLease,
  keep: Keep | undefined,
  find: (tx: Sql) => Promise<readonly LimitedItem[]>,
): Promise<Lease> {
  return retryOnConflict(() =>
    connections.transaction(async (tx) => {
      if (asked.bound !== undefined) await lockPlaces(tx, asked.bound.recipientId);
      const lease = await leaseIn(tx, asked, await find(tx));
      if (lease.rows.length > 0) await keep?.(tx, lease.rows);
      return lease;
    }),
  );
}

async function leaseIn(tx: Sql, asked: LimitedLease, candidates: readonly LimitedItem[]): Promise<Lease> {
  if (candidates.length === 0) return { rows: [], againInMs: undefined };
  const { tenantId, poolId, environmentId, count } = asked;
  const names = candidates.flatMap(limitRefs).map((ref) => ({ tenantId, ...ref }));
  // Sent together, and carried out in this order: the time is that of after the locks.
  const [owned, now] = await Promise.all([readGroups(tx, names, true), limitsNow(tx, tenantId, poolId)]);
  const { nowMs } = now;
  const limits = limitsInForce(asked.limits, now.settings);
  const groups = new Map([...owned].map(([key, { state }]) => [key, state]));
  const { ids, againAtMs } = selectForLease(candidates, limits, groups, count, nowMs);
  const againInMs = againAtMs === undefined ? undefined : Math.max(againMsMin, againAtMs - nowMs);
  if (ids.length === 0) return { rows: [], againInMs };
  const takesPlaces = limits.concurrency !== undefined;
  const afterwards = (taken: ReadonlySet<string>): OwnedGroup[] => {
    const items = candidates.filter(({ id }) => taken.has(id));
    return [...groupsAfterLease(items, limits, groups, nowMs).values()].map((state) => {
      const { kind, groupId } = state;
      const fresh = { tenantId, kind, groupId, environmentId, poolId, stored: false };
      return { ...(owned.get(groupKey(state)) ?? fresh), state };
    });
  };
  const changed = afterwards(new Set(ids));
  // Sent together: nearly always all of them are still there to be handed out.
  const [rows, saved] = await Promise.all([
    leaseItems(tx, { ...asked, ids, at: new Date(nowMs), takesPlaces }),
    saveGroups(tx, changed, nowMs),
  ]);
  // A group that somebody else has made meanwhile is not the fresh one that was seen.
  if (saved < changed.length) throw new AdmissionConflict();
  if (rows.length < ids.length) {
    const taken = new Map(afterwards(new Set(rows.map(({ id }) => id))).map((group) => [groupKey(group), group]));
    const kept = changed.map((group) => taken.get(groupKey(group)) ?? owned.get(groupKey(group)) ?? unused(group));
    await saveGroups(
      tx,
      kept.map((group) => ({ ...group, stored: true })),
      nowMs,
    );
  }
  return { rows, againInMs };
}

function unused(group: OwnedGroup): OwnedGroup {
  return { ...group, state: createEmptyGroup(group) };
}

/** The earlier of two times, where there are any. */
export function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** The limits that a node knows, with the values that are in force now. */
function limitsInForce(known: LeaseLimits, settings: LimitSettings | undefined): LeaseLimits {
  if (settings === undefined) return known;
  const { throttle, concurrency } = known;
  return {
    ...(throttle && settings.throttle && { throttle: { ...throttle, ...settings.throttle } }),
    ...(concurrency && settings.concurrency && { concurrency: { ...concurrency, ...settings.concurrency } }),
  };
}
