import { nextWake } from "../../../../platform/db/index.ts";
import type { LeaseLimits } from "../../admission/index.ts";
import type { Recipient } from "../../pools/index.ts";
import { parseLeaseToken } from "../completion/completion-service.ts";
import { createItemScans } from "./item-scans.ts";
import { createLeaseAhead, type LeaseAheadParts } from "./lease-ahead.ts";
import { createLeaseBatchGroups, noItems, queueTopic } from "./lease-batch-groups.ts";
import { ageMaxMs } from "./lease-buffer.ts";
import type { LeaseRequest } from "./lease-request.ts";
import {
  endLeases,
  type LeasedRow,
  type LeaseParams,
  type LeaseRef,
  type OfferedItem,
  readOfferedItems,
  readQueueActive,
} from "./lease-store.ts";
import { type BeforeCommit, earlier, type GroupCursor, type LeaseResult } from "./limited-lease.ts";

export { queueTopic, queueTopicPrefix } from "./lease-batch-groups.ts";
export type { LeaseRequest } from "./lease-request.ts";

/** Leases items to workers. */
export type LeaseService = ReturnType<typeof createLeaseService>;

/** The request that leased the items which are returned. */
export type ReturnRequest = Pick<LeaseRequest, "tenantId" | "poolId" | "ageingMs" | "offered">;

/** Selects the items without a recipient that a worker may take; returns their ids. */
export type OfferFilter = (items: readonly OfferedItem[]) => Promise<readonly string[]>;

interface Dependencies extends Omit<LeaseAheadParts, "nowMs"> {
  /** Called when leases were ended, so that their items return to the queue at once. */
  readonly onLeasesEnded: () => void;
  /** A monotonic clock, for the age of leases. */
  readonly nowMs?: () => number;
}

/** The items that a lease names. */
type ItemSelection = Pick<LeaseParams, "ids" | "offerNumber">;

const offersPerScan = 100;
const pollMs = 1000;

/** Whether a recipient receives its waiting items. A draining recipient still does. */
export function canReceiveWork({ status }: Pick<Recipient, "status">): boolean {
  return status === "active" || status === "draining";
}

/** Creates this node's lease service. Requests for a busy pool are served from memory; the others share statements. */
export function createLeaseService({ db, signals, nowMs = () => performance.now(), ...parts }: Dependencies) {
  const scans = createItemScans(db);
  const ahead = createLeaseAhead({ db, signals, nowMs, ...parts });
  const groups = createLeaseBatchGroups({ db, signals, scans, leaseAhead: ahead, nowMs });
  const waits = new Set<() => void>();
  let waitsEnded = false;

  /** Leases for one worker in the pool's scheduling turn. A worker that disconnects before gets nothing. */
  function takeInTurn(
    request: LeaseRequest,
    limits: LeaseLimits,
    cursor: GroupCursor,
    selection: ItemSelection,
    beforeCommit?: BeforeCommit,
  ): Promise<LeaseResult> {
    return scans.inTurn(request, async () =>
      request.signal.aborted
        ? noItems
        : scans.takeWithinLimits(request, limits, request.max, cursor, selection, beforeCommit),
    );
  }

  async function takeOffered(request: LeaseRequest, filterOffers: OfferFilter, beforeCommit: BeforeCommit | undefined) {
    const items = await readOfferedItems(
      db.sql,
      request.tenantId,
      request.poolId,
      Math.max(offersPerScan, request.max),
    );
    const ids = await filterOffers(items);
    if (ids.length === 0) return noItems;
    if (beforeCommit !== undefined) return takeInTransaction(request, beforeCommit, { ids });
    if (request.limits !== undefined) return takeInTurn(request, request.limits, { at: undefined }, { ids });
    return { rows: await scans.take(request, request.max, { ids }), retryInMs: undefined };
  }

  async function takeInTransaction(request: LeaseRequest, beforeCommit: BeforeCommit, selection: ItemSelection = {}) {
    if (request.limits !== undefined) {
      const { cursor } = groups.groupOf(request, false);
      return takeInTurn(request, request.limits, cursor, selection, beforeCommit);
    }
    return { rows: await scans.takeInTransaction(request, beforeCommit, selection), retryInMs: undefined };
  }

  async function returnItems(request: ReturnRequest, leases: readonly LeaseRef[]): Promise<void> {
    const { tenantId, poolId, ageingMs, offered = false } = request;
    const isPlain = ({ leaseToken }: LeaseRef) => !offered && parseLeaseToken(leaseToken)?.grouped === false;
    const others = leases.filter((lease) => !isPlain(lease));
    await Promise.all([
      ahead.giveBack(
        tenantId,
        poolId,
        leases.filter(isPlain).map((row) => ({ row, ageingMs })),
      ),
      others.length > 0 && endLeases(db.sql, tenantId, others).then(parts.onLeasesEnded),
    ]);
  }

  /** Returns the new items if the worker lost its access during the scan. */
  async function checkAccessAfterLease(request: LeaseRequest, rows: readonly LeasedRow[]): Promise<void> {
    try {
      await request.recheckAccess?.();
    } catch (error) {
      await returnItems(request, rows);
      throw error;
    }
  }

  return {
    /** Leases items to a worker; waits up to `waitMs` when there are none. */
    async lease(request: LeaseRequest, filterOffers?: OfferFilter, beforeCommit?: BeforeCommit): Promise<LeaseResult> {
      const isOpen = () => request.max > 0 && !request.signal.aborted;
      const scan = async () => {
        let lease = noItems;
        if (isOpen())
          lease = await (beforeCommit === undefined
            ? groups.groupOf(request, filterOffers === undefined).lease(request)
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
    /** Leases an item that is offered to the request's recipient, within its capacity and the pool's limits. */
    acceptOffer: (
      request: LeaseRequest,
      { itemId, number }: { readonly itemId: string; readonly number: number },
      beforeCommit: BeforeCommit,
    ) => takeInTransaction(request, beforeCommit, { ids: [itemId], offerNumber: number }),
    /** Whether items that were leased after a time (performance.now) may still be handed out. */
    async canHandOut({ tenantId, poolId, signal }: LeaseRequest, leasedAfterMs: number): Promise<boolean> {
      if (signal.aborted) return false;
      return performance.now() - leasedAfterMs <= ageMaxMs || readQueueActive(db.sql, tenantId, poolId);
    },
    /**
     * Returns items that their worker did not receive. Items in constraint groups and offered items also have places and
     * recipients to give up: they return like those of a crashed worker, which uses up an attempt.
     */
    returnItems,
    /**
     * Has every node give back the items of a pool that it leased ahead. Resolves when this node has done so; after
     * `recallMaxMs` no node hands out such an item.
     */
    recall: ahead.recall,
    /** Ends current and future waits: requests return immediately, possibly without items. Nothing is leased ahead any more. */
    endWaits() {
      waitsEnded = true;
      ahead.stop();
      for (const end of waits) end();
    },
    /** Resolves when no statement is in flight and nothing is leased ahead. */
    async idle() {
      await groups.idle();
      await ahead.idle();
    },
  };
}
