import { type Connections, lockEachFor, type Sql } from "../../../../platform/db/index.ts";
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
import { type LeasedRow, type LeaseParams, type LeaseScope, leaseItems, readFreeRecipients } from "./lease-store.ts";
import {
  candidatesByGroup,
  candidatesInTurn,
  firstCandidates,
  type GroupedCandidate,
  type GroupPosition,
  type LimitSettings,
  limitsNow,
  namedCandidates,
} from "./limited-lease-store.ts";

/** The leased items of a request. */
export interface LeaseResult {
  readonly rows: LeasedRow[];
  /** Time until a throttle that held items back has its next token; undefined when none did. */
  readonly retryInMs: number | undefined;
}

/** Parameters of a lease from a pool with a throttle or concurrency limit. */
export interface LimitedLeaseParams extends LeaseParams {
  readonly limits: LeaseLimits;
  readonly environmentId: string;
}

/** Runs in the transaction that leases items; when it throws, nothing is leased. */
export type BeforeCommit = (tx: Sql, rows: readonly LeasedRow[]) => Promise<void>;

/** Remembers the position in a pool's groups, so that the next request continues there. */
export interface GroupCursor {
  at: GroupPosition | undefined;
}

const candidatesMin = 100;
/** The fewest groups that a rotation looks at, because some may have no room. */
const groupsMin = 20;
const groupsAtOnce = 200;
const perGroupMax = 20;
/** The shortest wait for a throttle's next token, so that a fast throttle does not make workers poll in a tight loop. */
const retryMsMin = 20;

/**
 * Leases items whose groups have room, and takes their tokens and slots in the same transaction. Groups are locked before
 * items, in the global lock order.
 *
 * In a pool that rotates, the groups take turns. Otherwise the first items by rank are tried first. When their groups hold all of them back, the first items of other groups are
 * tried, so that a group with a long queue does not block others. Each try is its own transaction, because locking the
 * groups of the second try after those of the first would break the lock order.
 */
export async function leaseWithinLimits(
  connections: Connections,
  params: LimitedLeaseParams,
  cursor: GroupCursor,
  beforeCommit?: BeforeCommit,
): Promise<LeaseResult> {
  if (params.limits.concurrency?.rotate === true && params.ids === undefined) {
    const inTurn = await leaseInTurn(connections, params, cursor, beforeCommit);
    // Items from before the constraint have no group, so they are leased when no group has an item.
    if (inTurn.rows.length > 0) return inTurn;
  }
  const limit = Math.max(candidatesMin, 2 * params.count);
  let seenAll = true;
  const first = await leaseAmong(connections, params, beforeCommit, async (tx, scope) => {
    if (params.ids !== undefined) return namedCandidates(tx, scope, params.ids);
    const candidates = await firstCandidates(tx, scope, limit);
    seenAll = candidates.length < limit;
    return candidates;
  });
  if (first.rows.length > 0 || seenAll) return first;
  const others = await leaseAmong(connections, params, beforeCommit, async (tx, scope) => {
    const size = { groups: groupsAtOnce, perGroup: Math.min(params.count, perGroupMax) };
    const { candidates, last } = await candidatesByGroup(tx, scope, cursor.at, size);
    cursor.at = last;
    return candidates.sort((a, b) => a.rank - b.rank || (a.id < b.id ? -1 : 1));
  });
  return { ...others, retryInMs: earlier(first.retryInMs, others.retryInMs) };
}

/**
 * Leases one item of each group in turn, from the group after the one that was served last. If the first groups have no room,
 * more groups are tried.
 */
async function leaseInTurn(
  connections: Connections,
  params: LimitedLeaseParams,
  cursor: GroupCursor,
  beforeCommit: BeforeCommit | undefined,
): Promise<LeaseResult> {
  const { count } = params;
  let lease: LeaseResult = { rows: [], retryInMs: undefined };
  for (const groups of [Math.min(Math.max(groupsMin, 2 * count), groupsAtOnce), groupsAtOnce]) {
    let found: GroupedCandidate[] = [];
    const { rows, retryInMs } = await leaseAmong(connections, params, beforeCommit, async (tx, scope) => {
      const perGroup = Math.min(count, perGroupMax);
      found = await candidatesInTurn(tx, scope, cursor.at, { groups, perGroup });
      // Few groups have to fill a large request.
      if (found.length < count && found.some(({ turn }) => turn === perGroup - 1))
        found = await candidatesInTurn(tx, scope, cursor.at, { groups, perGroup: count });
      return found;
    });
    const leased = new Set(rows.map(({ id }) => id));
    cursor.at = found.findLast(({ id }) => leased.has(id)) ?? found.findLast(({ turn }) => turn === 0);
    lease = { rows, retryInMs: earlier(lease.retryInMs, retryInMs) };
    if (rows.length > 0) break;
  }
  return lease;
}

function leaseAmong(
  connections: Connections,
  params: LimitedLeaseParams,
  beforeCommit: BeforeCommit | undefined,
  find: (tx: Sql, scope: LeaseScope) => Promise<readonly LimitedItem[]>,
): Promise<LeaseResult> {
  return retryOnConflict(() =>
    connections.transaction(async (tx) => {
      const available = await withFreeRecipients(tx, params);
      const lease = await leaseIn(tx, available, await find(tx, available));
      if (lease.rows.length > 0) await beforeCommit?.(tx, lease.rows);
      return lease;
    }),
  );
}

/** Locks the capacities of recipients and leaves out those that are full, so that their items do not hide others. */
async function withFreeRecipients(tx: Sql, params: LimitedLeaseParams): Promise<LimitedLeaseParams> {
  if (params.bounds === undefined) return params;
  await lockEachFor(tx, "recipient_capacity", params.bounds.keys());
  return params.recipientIds.length === 1 ? params : { ...params, recipientIds: await readFreeRecipients(tx, params) };
}

async function leaseIn(tx: Sql, params: LimitedLeaseParams, candidates: readonly LimitedItem[]): Promise<LeaseResult> {
  if (candidates.length === 0) return { rows: [], retryInMs: undefined };
  const { tenantId, poolId, environmentId, count } = params;
  const names = candidates.flatMap(limitRefs).map((ref) => ({ tenantId, ...ref }));
  // Pipelined and executed in this order, so the time is read after the locks are held.
  const [owned, now] = await Promise.all([readGroups(tx, names, true), limitsNow(tx, tenantId, poolId)]);
  const { nowMs } = now;
  const limits = currentLimits(params.limits, now.settings);
  const groups = new Map([...owned].map(([key, { state }]) => [key, state]));
  const { ids, againAtMs } = selectForLease(candidates, limits, groups, count, nowMs);
  const retryInMs = againAtMs === undefined ? undefined : Math.max(retryMsMin, againAtMs - nowMs);
  if (ids.length === 0) return { rows: [], retryInMs };
  const takesSlots = limits.concurrency !== undefined;
  const groupsAfter = (taken: ReadonlySet<string>): OwnedGroup[] => {
    const items = candidates.filter(({ id }) => taken.has(id));
    return [...groupsAfterLease(items, limits, groups, nowMs).values()].map((state) => {
      const { kind, groupId } = state;
      const fresh = { tenantId, kind, groupId, environmentId, poolId, stored: false };
      return { ...(owned.get(groupKey(state)) ?? fresh), state };
    });
  };
  const changed = groupsAfter(new Set(ids));
  // Pipelined: almost always all chosen items can still be leased.
  const [rows, saved] = await Promise.all([
    leaseItems(tx, { ...params, ids, at: new Date(nowMs), takesSlots }),
    saveGroups(tx, changed, nowMs),
  ]);
  // Another transaction created a group that was read as missing.
  if (saved < changed.length) throw new AdmissionConflict();
  if (rows.length < ids.length) {
    const taken = new Map(groupsAfter(new Set(rows.map(({ id }) => id))).map((group) => [groupKey(group), group]));
    const corrected = changed.map((group) => taken.get(groupKey(group)) ?? owned.get(groupKey(group)) ?? unused(group));
    await saveGroups(
      tx,
      corrected.map((group) => ({ ...group, stored: true })),
      nowMs,
    );
  }
  return { rows, retryInMs };
}

function unused(group: OwnedGroup): OwnedGroup {
  return { ...group, state: createEmptyGroup(group) };
}

/** The earlier of two optional times. */
export function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);
}

/** Updates a node's limits with the current settings. */
function currentLimits(known: LeaseLimits, settings: LimitSettings | undefined): LeaseLimits {
  if (settings === undefined) return known;
  const { throttle, concurrency } = known;
  return {
    ...(throttle && settings.throttle && { throttle: { ...throttle, ...settings.throttle } }),
    ...(concurrency && settings.concurrency && { concurrency: { ...concurrency, ...settings.concurrency } }),
  };
}
