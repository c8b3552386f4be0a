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
  type LeasedRow,
  type LeaseParams,
  leaseItems,
  lockCapacity,
  type OfferedItem,
  readOfferedItems,
} from "./lease-store.ts";
import { type BeforeCommit, earlier, type GroupCursor, type LeaseResult, leaseWithinLimits } from "./limited-lease.ts";
import { createQueueHead, type QueueHead } from "./queue-head.ts";

/** A worker's request for items. */
export interface LeaseRequest {
  readonly tenantId: TenantId;
  readonly poolId: string;
  /** The recipient whose items are requested; "" for all recipients of the pool. */
  readonly recipientId: string;
  /** The pool's throttle and concurrency limits; undefined when there are none. */
  readonly limits: LeaseLimits | undefined;
  readonly environmentId: string;
  /** The recipients that can receive work, for a worker that serves the whole pool. */
  readonly recipientIds: readonly string[];
  /** Whether such a worker also gets items without a recipient. */
  readonly unassigned: boolean;
  /** pull: workers fetch the items. push: the items are sent to the recipient. */
  readonly delivery: "pull" | "push";
  /** The most items the recipient may hold at a time; 0 for no limit. */
  readonly capacity: number;
  readonly leaseS: number;
  readonly ageingMs: number;
  /** The most items to lease; 0 for a recipient that currently gets none. */
  readonly max: number;
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** Called with the duration of each wait. */
  readonly onWaited?: (ms: number) => void;
  /** Rejects when the worker has lost its access. Called before and after every scan that follows a wait. */
  readonly recheckAccess?: () => Promise<void>;
}

/** Leases items to workers. */
export interface LeaseService {
  /** Leases items to a worker; waits up to `waitMs` when there are none. */
  lease(request: LeaseRequest, filterOffers?: OfferFilter, beforeCommit?: BeforeCommit): Promise<LeaseResult>;
  /** Ends current and future waits: requests return immediately, possibly without items. */
  endWaits(): void;
}

/** Selects the items without a recipient that a worker may take; returns their ids. */
export type OfferFilter = (items: readonly OfferedItem[]) => Promise<readonly string[]>;

const recipientsPerScan = 64;
const offersPerScan = 100;
const pollMs = 1000;
/** The most concurrent leases of limited pools per tenant and node. Each holds a connection while it waits for locks. */
const limitedLanes = 2;

/** Requests share a statement of up to `batchMax` items. A second statement runs beside it from `concurrentMin` items on. */
const byItems = { lanes: 2, batchMax: 500, concurrentMin: 50, weigh: ({ max }: LeaseRequest) => max };

/** Whether a recipient receives its waiting items. A draining recipient still does. */
export function canReceiveWork({ status }: Pick<Recipient, "status">): boolean {
  return status === "active" || status === "draining";
}

/** The common prefix of all queue topics. */
export const queueTopicPrefix = "queue:";

/** Signal topic for workers waiting on a pool. */
export function queueTopic(tenantId: string, poolId: string): string {
  return `${queueTopicPrefix}${tenantId}:${poolId}`;
}

/** State shared by requests with the same parameters: their batches and scan positions. */
interface RequestClass {
  readonly batcher: Batcher<LeaseRequest, LeaseResult>;
  readonly head: QueueHead;
  readonly cursor: GroupCursor;
}

/** Restricts a lease statement. */
type Selection = Pick<LeaseParams, "fromRank"> & { readonly ids?: readonly string[] };

const noItems: LeaseResult = { rows: [], retryInMs: undefined };

/** Creates this node's lease service. Concurrent requests for one pool share a statement. */
export function createLeaseService({ db, signals }: { db: Database; signals: Signals }): LeaseService {
  const classes = new Map<string, RequestClass>();
  // Leases of one limited pool wait for the same group rows, so they queue here before they take a connection.
  const limitedPools = createTenantConcurrencyLimiter(limitedLanes);
  const waits = new Set<() => void>();
  let waitsEnded = false;
  let turn = 0;

  function classOf(request: LeaseRequest): RequestClass {
    const { tenantId, poolId, recipientId, leaseS, delivery, limits } = request;
    // Concurrent leases of a limited pool would wait for each other's group locks and then find their items taken.
    const lanes = limits === undefined ? byItems.lanes : 1;
    const key = `${tenantId}/${poolId}/${recipientId}/${leaseS}/${delivery}/${lanes}`;
    const known = classes.get(key);
    if (known !== undefined) return known;
    if (classes.size >= 10_000) {
      for (const { head } of classes.values()) head.stop();
      classes.clear();
    }
    const head = createQueueHead(signals, queueTopic(tenantId, poolId));
    const requestClass: RequestClass = {
      head,
      cursor: { at: undefined },
      batcher: createBatcher({ ...byItems, lanes, flush: (workers: LeaseRequest[]) => flush(requestClass, workers) }),
    };
    classes.set(key, requestClass);
    return requestClass;
  }

  async function flush(requestClass: RequestClass, workers: LeaseRequest[]): Promise<LeaseResult[]> {
    const { tenantId, poolId, limits } = workers[0]!;
    if (limits === undefined) return serve(requestClass, workers);
    return limitedPools.run(tenantId, poolId, () => serve(requestClass, workers));
  }

  async function serve(requestClass: RequestClass, workers: LeaseRequest[]): Promise<LeaseResult[]> {
    // Skip disconnected workers: their items would be blocked until the leases expire.
    const present = workers.filter(({ signal }) => !signal.aborted);
    const wanted = present.reduce((sum, { max }) => sum + max, 0);
    const lease = wanted === 0 ? noItems : await takeNext(requestClass, present.at(-1)!, Math.min(wanted, 1000));
    if (workers.length === 1) return [lease];
    const shares = share(present, lease.rows);
    return workers.map((worker) => ({ ...lease, rows: shares.get(worker) ?? [] }));
  }

  async function takeNext({ head, cursor }: RequestClass, request: LeaseRequest, count: number): Promise<LeaseResult> {
    if (request.limits !== undefined) return takeWithinLimits(request, request.limits, count, cursor);
    const rows = await takePlain(head, request, count);
    return { rows, retryInMs: undefined };
  }

  async function takePlain(head: QueueHead, request: LeaseRequest, count: number): Promise<LeasedRow[]> {
    // A scan of only some recipients does not know the head of the queue.
    if (request.recipientId === "" && request.recipientIds.length > recipientsPerScan) return take(request, count);
    const scan = head.beginScan();
    const rows = await take(request, count, { fromRank: scan.fromRank });
    if (rows.length === count) head.advance(scan, rows.at(-1)!.rank);
    else head.reset();
    // Only a full scan may report an empty queue.
    return rows.length === 0 && scan.fromRank !== undefined ? take(request, count) : rows;
  }

  function takeWithinLimits(
    request: LeaseRequest,
    limits: LeaseLimits,
    count: number,
    cursor: GroupCursor,
    ids?: readonly string[],
    beforeCommit?: BeforeCommit,
  ): Promise<LeaseResult> {
    const { environmentId } = request;
    return leaseWithinLimits(db, { ...toParams(request, count, { ids }), limits, environmentId }, cursor, beforeCommit);
  }

  /** Leases for one worker in the pool's scheduling turn. A worker that disconnects before gets nothing. */
  function takeInTurn(
    request: LeaseRequest,
    limits: LeaseLimits,
    cursor: GroupCursor,
    ids: readonly string[] | undefined,
    beforeCommit?: BeforeCommit,
  ): Promise<LeaseResult> {
    return limitedPools.run(request.tenantId, request.poolId, async () =>
      request.signal.aborted ? noItems : takeWithinLimits(request, limits, request.max, cursor, ids, beforeCommit),
    );
  }

  async function takeOffered(
    request: LeaseRequest,
    filterOffers: OfferFilter,
    beforeCommit: BeforeCommit | undefined,
  ): Promise<LeaseResult> {
    const items = await readOfferedItems(
      db.sql,
      request.tenantId,
      request.poolId,
      Math.max(offersPerScan, request.max),
    );
    const ids = await filterOffers(items);
    if (ids.length === 0) return noItems;
    if (beforeCommit !== undefined) return takeInTransaction(request, beforeCommit, ids);
    if (request.limits !== undefined) return takeInTurn(request, request.limits, { at: undefined }, ids);
    return { rows: await take(request, request.max, { ids }), retryInMs: undefined };
  }

  async function takeInTransaction(
    request: LeaseRequest,
    beforeCommit: BeforeCommit,
    ids?: readonly string[],
  ): Promise<LeaseResult> {
    if (request.limits !== undefined)
      return takeInTurn(request, request.limits, classOf(request).cursor, ids, beforeCommit);
    const rows = await connectionsFor({ ids }).transaction(async (tx) => {
      const taken = await takeIn(tx, request, request.max, { ids });
      if (taken.length > 0) await beforeCommit(tx, taken);
      return taken;
    });
    return { rows, retryInMs: undefined };
  }

  async function take(request: LeaseRequest, count: number, selection: Selection = {}): Promise<LeasedRow[]> {
    const connections = connectionsFor(selection);
    // The recipient's items are counted and leased in one transaction.
    if (isBounded(request)) return connections.transaction((tx) => takeIn(tx, request, count, selection));
    return takeIn(connections.sql, request, count, selection);
  }

  // The best plan for a lookup by ids depends on the ids, so it avoids the connections that force generic plans.
  function connectionsFor({ ids }: Selection): Connections {
    return ids === undefined ? db.steady : db;
  }

  function toParams(request: LeaseRequest, count: number, { ids, fromRank }: Selection): LeaseParams {
    const { tenantId, poolId, recipientId, delivery, capacity, leaseS, ageingMs } = request;
    return {
      tenantId,
      poolId,
      delivery,
      count,
      fromRank,
      leaseS,
      ageingMs,
      // Items leased by id have no recipient yet.
      ...(ids && { ids, assignTo: recipientId }),
      recipientIds: recipientId === "" ? servedRecipients(request) : [ids === undefined ? recipientId : ""],
      bound: isBounded(request) ? { recipientId, capacity } : undefined,
      tokenPrefix: nextTokenPrefix(),
      shard: turn++ % shardCount,
    };
  }

  async function takeIn(sql: Sql, request: LeaseRequest, count: number, selection: Selection): Promise<LeasedRow[]> {
    const lease = toParams(request, count, selection);
    if (lease.bound === undefined) return leaseItems(sql, lease);
    // Pipelined: sent together and executed in this order.
    const [, rows] = await Promise.all([lockCapacity(sql, lease.bound.recipientId), leaseItems(sql, lease)]);
    return rows;
  }

  function servedRecipients({ unassigned, recipientIds }: LeaseRequest): readonly string[] {
    return unassigned ? ["", ...rotate(recipientIds)] : rotate(recipientIds);
  }

  // In a pool with many recipients, each statement serves some of them in rotation.
  function rotate(ids: readonly string[]): readonly string[] {
    if (ids.length <= recipientsPerScan) return ids;
    const start = (turn * recipientsPerScan) % ids.length;
    return [...ids, ...ids.slice(0, recipientsPerScan)].slice(start, start + recipientsPerScan);
  }

  /** Ends the new leases if the worker lost its access during the scan. */
  async function checkAccessAfterLease(request: LeaseRequest, rows: readonly LeasedRow[]): Promise<void> {
    try {
      await request.recheckAccess?.();
    } catch (error) {
      await endLeases(db.sql, request.tenantId, rows);
      throw error;
    }
  }

  return {
    async lease(request, filterOffers, beforeCommit) {
      const isOpen = () => request.max > 0 && !request.signal.aborted;
      const scan = async () => {
        let lease = noItems;
        if (isOpen())
          lease = await (beforeCommit === undefined
            ? classOf(request).batcher.run(request)
            : takeInTransaction(request, beforeCommit));
        if (lease.rows.length > 0 || filterOffers === undefined || !isOpen()) return lease;
        const offered = await takeOffered(request, filterOffers, beforeCommit);
        return { ...offered, retryInMs: earlier(lease.retryInMs, offered.retryInMs) };
      };
      if (request.waitMs === 0) return scan();
      const deadline = performance.now() + request.waitMs;
      const isOver = () => waitsEnded || performance.now() >= deadline || request.signal.aborted;
      for (let hasWaited = false; ; hasWaited = true) {
        // Listen before the scan, so that an item that becomes ready during it wakes this worker.
        const waitMs = Math.max(0, Math.min(pollMs, deadline - performance.now()));
        const woken = nextWake(signals, queueTopic(request.tenantId, request.poolId), request.signal, waitMs);
        try {
          // The first scan follows the access check of the call itself.
          if (hasWaited) await request.recheckAccess?.();
          const lease = await scan();
          if (hasWaited && lease.rows.length > 0) await checkAccessAfterLease(request, lease.rows);
          if (lease.rows.length > 0 || isOver()) return lease;
          const waitStartMs = performance.now();
          waits.add(woken.cancel);
          await woken.within(lease.retryInMs);
          request.onWaited?.(performance.now() - waitStartMs);
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

const tokenPrefixBytes = 12;
let randomBuffer = Buffer.alloc(0);

/** Unguessable prefix of the tokens of one statement. Random bytes are fetched in bulk, because small reads are slow. */
function nextTokenPrefix(): string {
  if (randomBuffer.length === 0) randomBuffer = randomBytes(tokenPrefixBytes * 256);
  const tokenPrefix = randomBuffer.toString("base64url", 0, tokenPrefixBytes);
  randomBuffer = randomBuffer.subarray(tokenPrefixBytes);
  return tokenPrefix;
}

/** Whether the request is for one recipient with limited capacity. */
function isBounded({ recipientId, capacity }: LeaseRequest): boolean {
  return recipientId !== "" && capacity > 0;
}

/** Divides leased items among workers, round-robin. There are never more items than requested. */
function share(workers: readonly LeaseRequest[], rows: readonly LeasedRow[]): ReadonlyMap<LeaseRequest, LeasedRow[]> {
  const shares = new Map(workers.map((worker) => [worker, [] as LeasedRow[]]));
  let unserved = workers.filter(({ max }) => max > 0);
  let at = 0;
  while (at < rows.length) {
    for (const worker of unserved) if (at < rows.length) shares.get(worker)!.push(rows[at++]!);
    unserved = unserved.filter((worker) => shares.get(worker)!.length < worker.max);
  }
  return shares;
}
