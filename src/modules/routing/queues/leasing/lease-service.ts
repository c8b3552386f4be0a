import { randomBytes } from "node:crypto";
import type { TenantId } from "../../../../platform/access/index.ts";
import {
  type Batcher,
  type Connections,
  createBatcher,
  type Database,
  nextWake,
  type Signals,
  type Sql,
} from "../../../../platform/db/index.ts";
import { createTenantConcurrencyLimiter } from "../../../../platform/scheduling/index.ts";
import type { LeaseLimits } from "../../admission/index.ts";
import type { Recipient } from "../../pools/index.ts";
import { shardCount } from "../transitions/queue-counts.ts";
import {
  endLeases,
  type LeaseAsked,
  type LeasedRow,
  leaseItems,
  lockPlaces,
  type OfferedItem,
  offeredItems,
} from "./lease-store.ts";
import { earlier, type GroupWalk, type Lease, leaseWithinLimits } from "./limited-lease.ts";
import { createQueueFront, type QueueFront } from "./queue-front.ts";

/** A worker that asks for work. */
export interface WorkAsked {
  readonly tenantId: TenantId;
  readonly poolId: string;
  /** Whose items; "" for any of the pool's. */
  readonly recipientId: string;
  /** What limits the pool's hand-out besides capacity; undefined when nothing does. */
  readonly limits: LeaseLimits | undefined;
  readonly environmentId: string;
  /** The recipients of the pool that get work, for a worker that serves all of them. */
  readonly recipientIds: readonly string[];
  /** Whether such a worker also gets what nobody was chosen for. */
  readonly unchosen: boolean;
  /** Items that are fetched, or items that are sent. */
  readonly delivery: "pull" | "push";
  /** How many items the recipient may have at once; 0 for no bound. */
  readonly capacity: number;
  readonly leaseS: number;
  readonly ageingMs: number;
  /** 0 for a recipient that gets nothing now. */
  readonly max: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** Told how long the worker waited, each time it did. */
  readonly onWaited?: (ms: number) => void;
  /** Rejects when the worker may no longer have work; a worker that has waited is checked before and after every look. */
  readonly recheckAccess?: () => Promise<void>;
}

/** Hands out work. */
export interface Leasing {
  /** Items for a worker; it waits for some when there are none. */
  lease(asked: WorkAsked, offered?: Offered, keep?: Keep): Promise<Lease>;
  /** Ends all waits, now and from now on: workers get what there is, or nothing. */
  endWaits(): void;
}

/** What has to happen in one transaction with the handing out of items; when it throws they stay where they are. */
export type Keep = (tx: Sql, rows: readonly LeasedRow[]) => Promise<void>;

/** The ids of those items that a worker may have, of some that nobody was chosen for. */
export type Offered = (items: readonly OfferedItem[]) => Promise<readonly string[]>;

const recipientsAtOnce = 64;
const offeredAtOnce = 100;
const pollMs = 1000;
/** How many leases of limited pools a tenant runs at once on a node. Each holds a connection while it waits for locks. */
const limitedLanes = 2;

/** Workers share a statement up to so many items, and get one of their own beside it only for many. */
const byItems = { lanes: 2, batchMax: 500, concurrentMin: 50, weigh: ({ max }: WorkAsked) => max };

/** Whether a recipient gets what waits for it: one that drains works off what it has. */
export function getsWork({ status }: Pick<Recipient, "status">): boolean {
  return status === "active" || status === "draining";
}

/** What all topics of queueTopic begin with. */
export const queueTopicPrefix = "queue:";

/** Signal topic for workers waiting on a pool. */
export function queueTopic(tenantId: string, poolId: string): string {
  return `${queueTopicPrefix}${tenantId}:${poolId}`;
}

/** What workers who ask for the same share: statements, and how far these have come. */
interface Line {
  readonly batcher: Batcher<WorkAsked, Lease>;
  readonly front: QueueFront;
  readonly walk: GroupWalk;
}

/** What a statement is narrowed down to. */
type Narrowed = Pick<LeaseAsked, "fromRank"> & { readonly ids?: readonly string[] };

const nothing: Lease = { rows: [], againInMs: undefined };

/** Makes this node's leasing. Workers of one pool who ask at the same time are served by one statement. */
export function createLeasing({ db, signals }: { db: Database; signals: Signals }): Leasing {
  const lines = new Map<string, Line>();
  // Leases of one limited pool wait for the same group rows, so they queue here before they take a connection.
  const limitedPools = createTenantConcurrencyLimiter(limitedLanes);
  const waits = new Set<() => void>();
  let waitsEnded = false;
  let turn = 0;

  function lineOf(asked: WorkAsked): Line {
    const { tenantId, poolId, recipientId, leaseS, delivery, limits } = asked;
    // Those who share groups would only wait for each other, and then find taken what they looked for.
    const lanes = limits === undefined ? byItems.lanes : 1;
    const key = `${tenantId}/${poolId}/${recipientId}/${leaseS}/${delivery}/${lanes}`;
    const known = lines.get(key);
    if (known !== undefined) return known;
    if (lines.size >= 10_000) {
      for (const { front } of lines.values()) front.stop();
      lines.clear();
    }
    const front = createQueueFront(signals, queueTopic(tenantId, poolId));
    const line: Line = {
      front,
      walk: { at: undefined },
      batcher: createBatcher({ ...byItems, lanes, flush: (workers: WorkAsked[]) => flush(line, workers) }),
    };
    lines.set(key, line);
    return line;
  }

  async function flush(line: Line, workers: WorkAsked[]): Promise<Lease[]> {
    const { tenantId, poolId, limits } = workers[0]!;
    if (limits === undefined) return serve(line, workers);
    return limitedPools.run(tenantId, poolId, () => serve(line, workers));
  }

  async function serve(line: Line, workers: WorkAsked[]): Promise<Lease[]> {
    // A worker that has gone gets nothing: its items would only wait for their leases to end.
    const present = workers.filter(({ signal }) => !signal.aborted);
    const wanted = present.reduce((sum, { max }) => sum + max, 0);
    const lease = wanted === 0 ? nothing : await takeNext(line, present.at(-1)!, Math.min(wanted, 1000));
    if (workers.length === 1) return [lease];
    const shares = share(present, lease.rows);
    return workers.map((worker) => ({ ...lease, rows: shares.get(worker) ?? [] }));
  }

  async function takeNext({ front, walk }: Line, asked: WorkAsked, count: number): Promise<Lease> {
    if (asked.limits !== undefined) return takeWithinLimits(asked, asked.limits, count, walk);
    const rows = await takePlain(front, asked, count);
    return { rows, againInMs: undefined };
  }

  async function takePlain(front: QueueFront, asked: WorkAsked, count: number): Promise<LeasedRow[]> {
    // Whoever sees only some of the recipients at a time knows of no beginning.
    if (asked.recipientId === "" && asked.recipientIds.length > recipientsAtOnce) return take(asked, count);
    const look = front.look();
    const rows = await take(asked, count, { fromRank: look.fromRank });
    if (rows.length === count) front.passed(look, rows.at(-1)!.rank);
    else front.forget();
    // That there is nothing is to be said only by who has seen all.
    return rows.length === 0 && look.fromRank !== undefined ? take(asked, count) : rows;
  }

  function takeWithinLimits(
    asked: WorkAsked,
    limits: LeaseLimits,
    count: number,
    walk: GroupWalk,
    ids?: readonly string[],
    keep?: Keep,
  ): Promise<Lease> {
    const { environmentId } = asked;
    return leaseWithinLimits(db, { ...leaseOf(asked, count, { ids }), limits, environmentId }, walk, keep);
  }

  /** Leases for one worker when it is the pool's turn. A worker that goes away before gets nothing. */
  function takeInTurn(
    asked: WorkAsked,
    limits: LeaseLimits,
    walk: GroupWalk,
    ids: readonly string[] | undefined,
    keep?: Keep,
  ): Promise<Lease> {
    return limitedPools.run(asked.tenantId, asked.poolId, async () =>
      asked.signal.aborted ? nothing : takeWithinLimits(asked, limits, asked.max, walk, ids, keep),
    );
  }

  async function takeOffered(asked: WorkAsked, offered: Offered, keep: Keep | undefined): Promise<Lease> {
    const items = await offeredItems(db.sql, asked.tenantId, asked.poolId, Math.max(offeredAtOnce, asked.max));
    const ids = await offered(items);
    if (ids.length === 0) return nothing;
    if (keep !== undefined) return takeAndKeep(asked, keep, ids);
    if (asked.limits !== undefined) return takeInTurn(asked, asked.limits, { at: undefined }, ids);
    return { rows: await take(asked, asked.max, { ids }), againInMs: undefined };
  }

  async function takeAndKeep(asked: WorkAsked, keep: Keep, ids?: readonly string[]): Promise<Lease> {
    if (asked.limits !== undefined) return takeInTurn(asked, asked.limits, lineOf(asked).walk, ids, keep);
    const rows = await connectionsFor({ ids }).transaction(async (tx) => {
      const taken = await takeIn(tx, asked, asked.max, { ids });
      if (taken.length > 0) await keep(tx, taken);
      return taken;
    });
    return { rows, againInMs: undefined };
  }

  async function take(asked: WorkAsked, count: number, narrowed: Narrowed = {}): Promise<LeasedRow[]> {
    const connections = connectionsFor(narrowed);
    // What a recipient has is counted and added to in one transaction.
    if (isBounded(asked)) return connections.transaction((tx) => takeIn(tx, asked, count, narrowed));
    return takeIn(connections.sql, asked, count, narrowed);
  }

  // Which way to items by name is short depends on how many they are, and on where they stand.
  function connectionsFor({ ids }: Narrowed): Connections {
    return ids === undefined ? db.steady : db;
  }

  function leaseOf(asked: WorkAsked, count: number, { ids, fromRank }: Narrowed): LeaseAsked {
    const { tenantId, poolId, recipientId, delivery, capacity, leaseS, ageingMs } = asked;
    return {
      tenantId,
      poolId,
      delivery,
      count,
      fromRank,
      leaseS,
      ageingMs,
      // Items by name are those that nobody was chosen for.
      ...(ids && { ids, giveTo: recipientId }),
      recipientIds: recipientId === "" ? everyone(asked) : [ids === undefined ? recipientId : ""],
      bound: isBounded(asked) ? { recipientId, capacity } : undefined,
      stem: nextStem(),
      shard: turn++ % shardCount,
    };
  }

  async function takeIn(sql: Sql, asked: WorkAsked, count: number, narrowed: Narrowed): Promise<LeasedRow[]> {
    const lease = leaseOf(asked, count, narrowed);
    if (lease.bound === undefined) return leaseItems(sql, lease);
    // Both are sent at once, and done one after the other.
    const [, rows] = await Promise.all([lockPlaces(sql, lease.bound.recipientId), leaseItems(sql, lease)]);
    return rows;
  }

  function everyone({ unchosen, recipientIds }: WorkAsked): readonly string[] {
    return unchosen ? ["", ...some(recipientIds)] : some(recipientIds);
  }

  // For a pool with very many recipients each statement looks at some of them, and the next one at others.
  function some(ids: readonly string[]): readonly string[] {
    if (ids.length <= recipientsAtOnce) return ids;
    const start = (turn * recipientsAtOnce) % ids.length;
    return [...ids, ...ids.slice(0, recipientsAtOnce)].slice(start, start + recipientsAtOnce);
  }

  /** A worker may lose its access while it is looked for items: then their leases end, and it is told nothing of them. */
  async function checkBeforeHandOut(asked: WorkAsked, rows: readonly LeasedRow[]): Promise<void> {
    try {
      await asked.recheckAccess?.();
    } catch (error) {
      await endLeases(db.sql, asked.tenantId, rows);
      throw error;
    }
  }

  return {
    async lease(asked, offered, keep) {
      const mayHave = () => asked.max > 0 && !asked.signal.aborted;
      const look = async () => {
        let lease = nothing;
        if (mayHave()) lease = await (keep === undefined ? lineOf(asked).batcher.run(asked) : takeAndKeep(asked, keep));
        if (lease.rows.length > 0 || offered === undefined || !mayHave()) return lease;
        const accepted = await takeOffered(asked, offered, keep);
        return { ...accepted, againInMs: earlier(lease.againInMs, accepted.againInMs) };
      };
      if (asked.waitMs === 0) return look();
      const until = performance.now() + asked.waitMs;
      const isOver = () => waitsEnded || performance.now() >= until || asked.signal.aborted;
      for (let hasWaited = false; ; hasWaited = true) {
        // Listen before looking: what becomes ready in between then wakes us.
        const waitMs = Math.max(0, Math.min(pollMs, until - performance.now()));
        const woken = nextWake(signals, queueTopic(asked.tenantId, asked.poolId), asked.signal, waitMs);
        try {
          // The call itself was checked a moment ago.
          if (hasWaited) await asked.recheckAccess?.();
          const lease = await look();
          if (hasWaited && lease.rows.length > 0) await checkBeforeHandOut(asked, lease.rows);
          if (lease.rows.length > 0 || isOver()) return lease;
          const waitsSinceMs = performance.now();
          waits.add(woken.cancel);
          await woken.within(lease.againInMs);
          asked.onWaited?.(performance.now() - waitsSinceMs);
        } finally {
          waits.delete(woken.cancel);
          woken.cancel();
        }
      }
    },
    endWaits() {
      waitsEnded = true;
      for (const end of waits) end();
    },
  };
}

const stemBytes = 12;
let chance = Buffer.alloc(0);

/** What nobody can guess, for the tokens of one statement. Chance is fetched for many at a time: it is dear in small. */
function nextStem(): string {
  if (chance.length === 0) chance = randomBytes(stemBytes * 256);
  const stem = chance.toString("base64url", 0, stemBytes);
  chance = chance.subarray(stemBytes);
  return stem;
}

/** Whether there is a bound to what the recipient may have at once. */
function isBounded({ recipientId, capacity }: WorkAsked): boolean {
  return recipientId !== "" && capacity > 0;
}

/** Divides what was taken, which is no more than all want: in turn, so that nobody gets all while others get none. */
function share(workers: readonly WorkAsked[], rows: readonly LeasedRow[]): ReadonlyMap<WorkAsked, LeasedRow[]> {
  const shares = new Map(workers.map((worker) => [worker, [] as LeasedRow[]]));
  let hungry = workers.filter(({ max }) => max > 0);
  let at = 0;
  while (at < rows.length) {
    for (const worker of hungry) if (at < rows.length) shares.get(worker)!.push(rows[at++]!);
    hungry = hungry.filter((worker) => shares.get(worker)!.length < worker.max);
  }
  return shares;
}
