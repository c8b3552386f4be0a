import { type Batcher, createBatcher } from "../../../../platform/db/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { ItemScans, SharedUse } from "./item-scans.ts";
import { type AheadBuffer, type AheadClaim, canBeBuffered, type LeaseAhead } from "./lease-ahead.ts";
import { ageMaxMs, type BufferedLease, toHandedOut } from "./lease-buffer.ts";
import type { LeaseRequest } from "./lease-request.ts";
import { type LeasedRow, readQueueActive } from "./lease-store.ts";
import type { GroupCursor, LeaseResult } from "./limited-lease.ts";
import { createQueueHead, type QueueHead } from "./queue-head.ts";

/** State shared by requests with the same parameters: their batches, scan positions and leases made ahead. */
export interface LeaseBatchGroup {
  /** Leases items from memory or with a statement that it shares with other requests. */
  lease(request: LeaseRequest): Promise<LeaseResult>;
  /** Scan position in the groups of a limited pool. */
  readonly cursor: GroupCursor;
}

interface Dependencies extends Pick<PlatformServices, "db" | "signals"> {
  readonly scans: ItemScans;
  readonly leaseAhead: LeaseAhead;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

/** The lease batch groups of a node. */
export type LeaseBatchGroups = ReturnType<typeof createLeaseBatchGroups>;

interface OpenGroup extends LeaseBatchGroup {
  readonly batcher: Batcher<LeaseRequest, LeaseResult>;
  close(): void;
}

/** Requests share a statement of up to `batchMax` items. A second statement runs beside it from `concurrentMin` items on. */
const byItems = { lanes: 2, batchMax: 500, concurrentMin: 50, weigh: ({ max }: LeaseRequest) => max };
const itemsPerStatement = 1000;
const groupsMax = 10_000;

export const noItems: LeaseResult = { rows: [], retryInMs: undefined };

/** The common prefix of all queue topics. */
export const queueTopicPrefix = "queue:";

/** Signal topic for workers waiting on a pool. */
export function queueTopic(tenantId: string, poolId: string): string {
  return `${queueTopicPrefix}${tenantId}:${poolId}`;
}

/** Creates the lease batch groups of a node. Concurrent requests of one group share a statement. */
export function createLeaseBatchGroups({ db, signals, scans, leaseAhead, nowMs }: Dependencies) {
  const groups = new Map<string, OpenGroup>();

  function openGroup(first: LeaseRequest, lanes: number, buffered: boolean): OpenGroup {
    const { tenantId, poolId } = first;
    const head = createQueueHead(signals, queueTopic(tenantId, poolId));
    const cursor: GroupCursor = { at: undefined };
    const buffer = buffered ? leaseAhead.open(tenantId, poolId) : undefined;
    const serve = buffer === undefined ? scanFor(head, cursor) : serveFrom(buffer, head);
    const batcher = createBatcher({ ...byItems, lanes, flush: serve });
    let isRefilling = false;

    /** Leases the next items in the background. Workers that request items meanwhile join the statement. */
    function refill(request: LeaseRequest): void {
      if (isRefilling) return;
      isRefilling = true;
      batcher
        .run({ ...request, max: 0, signal: neverAborted })
        // The next request repeats the statement and reports its error.
        .catch(() => {})
        .finally(() => {
          isRefilling = false;
        });
    }

    return {
      cursor,
      batcher,
      async lease(request) {
        if (buffer === undefined) return batcher.run(request);
        const buffered = buffer.takeAll(request);
        const rows = buffered === undefined ? (await batcher.run(request)).rows : toRows(buffered);
        buffer.record(rows);
        if (rows.length > 0 && buffer.isLow()) refill(request);
        return { rows, retryInMs: undefined };
      },
      close() {
        head.stop();
        buffer?.close();
      },
    };
  }

  /** Serves requests of a group without a buffer. */
  function scanFor(head: QueueHead, cursor: GroupCursor) {
    const scan = async (workers: LeaseRequest[]): Promise<LeaseResult[]> => {
      // Skip disconnected workers: their items would be blocked until the leases expire.
      const present = workers.filter(({ signal }) => !signal.aborted);
      const count = Math.min(wantedBy(present), itemsPerStatement);
      if (count === 0) return workers.map(() => noItems);
      const request = present.at(-1)!;
      const requests = present.length;
      const lease =
        request.limits === undefined
          ? { rows: await takeFirst(head, request, count, { requests }), retryInMs: undefined }
          : await scans.takeWithinLimits(request, request.limits, count, cursor, { requests });
      const { shares } = share(present, lease.rows);
      return workers.map((worker) => ({ ...lease, rows: shares.get(worker) ?? [] }));
    };
    return (workers: LeaseRequest[]) =>
      workers[0]!.limits === undefined ? scan(workers) : scans.inTurn(workers[0]!, () => scan(workers));
  }

  async function takeFirst(head: QueueHead, request: LeaseRequest, count: number, use: SharedUse) {
    const sentAtMs = nowMs();
    const rows = await scans.takeFirst(head, request, count, use);
    const isCurrent =
      rows.length === 0 ||
      request.delivery === "push" ||
      (await canStillBeLeased(request, sentAtMs).catch(() => false));
    if (isCurrent) return rows;
    const { tenantId, poolId, ageingMs } = request;
    leaseAhead.giveBack(
      tenantId,
      poolId,
      rows.map((row) => ({ row, sentAtMs, spareMs: 0, ageingMs })),
    );
    return [];
  }

  /** The queue may have been paused or its pool disabled since a slow statement began. */
  async function canStillBeLeased({ tenantId, poolId }: LeaseRequest, sentAtMs: number): Promise<boolean> {
    return nowMs() - sentAtMs <= ageMaxMs || readQueueActive(db.sql, tenantId, poolId);
  }

  /** Serves requests from a buffer first. If a statement is needed, it also leases ahead. */
  function serveFrom(buffer: AheadBuffer, head: QueueHead) {
    return async (requests: LeaseRequest[]): Promise<LeaseResult[]> => {
      const present = requests.filter(({ signal }) => !signal.aborted);
      const request = present.at(-1);
      if (request === undefined) return requests.map(() => noItems);
      const count = Math.min(wantedBy(present), itemsPerStatement);
      const claim = buffer.begin();
      const taken = buffer.take(request, count);
      const missing = count - taken.length;
      let added: BufferedLease[] = [];
      try {
        if (missing > 0 || (claim.extra > 0 && present.some(isRefill))) {
          added = await leaseFrom(head, request, missing + claim.extra, claim, present.length);
        }
      } catch (error) {
        buffer.end(claim, taken);
        throw error;
      }
      // Buffered leases may have become too old during the statement.
      const now = nowMs();
      const isYoung = ({ sentAtMs }: BufferedLease) => now - sentAtMs <= ageMaxMs;
      const old = taken.filter((lease) => !isYoung(lease));
      // Items of workers that disconnected during the statement are kept for others.
      const connected = present.filter(({ signal }) => !signal.aborted);
      const { shares, rest } = share(connected, [...taken.filter(isYoung), ...added]);
      buffer.end(claim, [...old, ...rest]);
      return requests.map((worker) => ({ rows: toRows(shares.get(worker) ?? []), retryInMs: undefined }));
    };
  }

  function toRows(leases: readonly BufferedLease[]): LeasedRow[] {
    const now = nowMs();
    return leases.map((lease) => toHandedOut(lease, now));
  }

  async function leaseFrom(
    head: QueueHead,
    request: LeaseRequest,
    count: number,
    { sentAtMs, extra }: AheadClaim,
    requests: number,
  ): Promise<BufferedLease[]> {
    const spareMs = extra > 0 ? ageMaxMs : 0;
    const spared = { ...request, leaseS: request.leaseS + spareMs / 1000 };
    const rows = await takeFirst(head, spared, count, { ahead: extra, requests });
    return rows.map((row) => ({ row, sentAtMs, spareMs, ageingMs: request.ageingMs }));
  }

  return {
    /** The group of a request; with `buffered` it may be served from memory. */
    groupOf(request: LeaseRequest, buffered: boolean): LeaseBatchGroup {
      const { tenantId, poolId, recipientId, leaseS, delivery, limits } = request;
      // Concurrent leases of a limited pool would wait for each other's group locks and then find their items taken.
      const lanes = limits === undefined ? byItems.lanes : 1;
      const isBuffered = buffered && canBeBuffered(request);
      const key = `${tenantId}/${poolId}/${recipientId}/${leaseS}/${delivery}/${lanes}/${isBuffered}`;
      const known = groups.get(key);
      if (known !== undefined) return known;
      if (groups.size >= groupsMax) {
        for (const each of groups.values()) each.close();
        groups.clear();
      }
      const opened = openGroup(request, lanes, isBuffered);
      groups.set(key, opened);
      return opened;
    },
    /** Resolves when no statement is in flight. */
    async idle() {
      await Promise.all([...groups.values()].map(({ batcher }) => batcher.idle()));
    },
  };
}

const neverAborted = new AbortController().signal;

function isRefill({ max }: LeaseRequest): boolean {
  return max === 0;
}

function wantedBy(requests: readonly LeaseRequest[]): number {
  return requests.reduce((sum, { max }) => sum + max, 0);
}

/** Divides leases among workers, round-robin; `rest` is what nobody wants. */
function share<T>(workers: readonly LeaseRequest[], leases: readonly T[]) {
  const shares = new Map(workers.map((worker) => [worker, [] as T[]]));
  let unserved = workers.filter(({ max }) => max > 0);
  let at = 0;
  while (at < leases.length && unserved.length > 0) {
    for (const worker of unserved) if (at < leases.length) shares.get(worker)!.push(leases[at++]!);
    unserved = unserved.filter((worker) => shares.get(worker)!.length < worker.max);
  }
  return { shares: shares as ReadonlyMap<LeaseRequest, T[]>, rest: leases.slice(at) };
}
