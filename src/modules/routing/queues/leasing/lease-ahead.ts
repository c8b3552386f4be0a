import { setTimeout as delay } from "node:timers/promises";
import type { TenantId } from "../../../../platform/access/index.ts";
import { createBatcher, type TenantChanges } from "../../../../platform/db/index.ts";
import type { Log } from "../../../../platform/log/log.ts";
import type { PlatformServices } from "../../../area.ts";
import type { PoolConfig } from "../../pools/index.ts";
import { shardCount } from "../transitions/queue-counts.ts";
import { createDrainRate } from "./drain-rate.ts";
import { ageMaxMs, type BufferedLease, bufferItemsMax, createLeaseBuffer, createMemoryBudget } from "./lease-buffer.ts";
import { type LeaseRequest, needsManyScans, servesRecipient } from "./lease-request.ts";
import { giveBackLeases, type LeasedRow, type ReturnedLease } from "./lease-store.ts";

/** Leases that a statement is about to make. */
export interface AheadClaim {
  readonly sentAtMs: number;
  /** The number of items to lease beyond those that workers have requested. */
  readonly extra: number;
  /** Recalls before the claim. Leases of an earlier generation are not buffered. */
  readonly generation: number;
}

/** A node's leases ahead for one class of requests. */
export interface AheadBuffer {
  /** Removes up to `max` leases that this request may receive. */
  take(request: LeaseRequest, max: number): BufferedLease[];
  /** Removes as many leases as the request wants; undefined when there are fewer. */
  takeAll(request: LeaseRequest): BufferedLease[] | undefined;
  /** Begins a statement; the caller always calls `end`. */
  begin(): AheadClaim;
  /** Ends a statement and buffers the leases that no worker received. */
  end(claim: AheadClaim, unused: readonly BufferedLease[]): void;
  /** Whether the next leases should be claimed before the buffer is empty. */
  isLow(): boolean;
  /** Records the leases that a worker received. */
  record(rows: readonly LeasedRow[]): void;
  close(): void;
}

export interface LeaseAheadParts extends Pick<PlatformServices, "db" | "signals"> {
  readonly changes: Pick<TenantChanges, "onChange">;
  readonly log: Pick<Log, "warn">;
  /** Called with each pool whose items became ready. */
  readonly wake: (tenantId: TenantId, poolId: string) => void;
  /** A monotonic clock. */
  readonly nowMs: () => number;
}

/** How long draining is covered by one statement. Less than `ageMaxMs`, so that few leases become too old. */
const coveredMs = 50;
/** Fewer items would save few statements, and a slow drain would leave many of them to be given back. */
const aheadMin = 4;
/** After a recall, a pool is not leased ahead for this long, so that an operator's call finds all waiting items. */
const suspendedMs = 2000;
/** Leases that cannot be given back expire like those of a crashed node. */
const giveBackTries = 3;
const giveBackRetryMs = 200;

/** A request for more items leases with a statement: it shares one among many items anyway. */
const requestItemsMax = 32;

const recallPrefix = "lease.recall:";

/** Whether items of a pool may be leased before a worker requests them. */
export function canLeaseAhead({ retry, admission }: Pick<PoolConfig, "retry" | "admission">): boolean {
  // A crash of the node uses up an attempt of each buffered item, and these items would have no other.
  if (retry.maxAttempts === 1) return false;
  // These modes treat a leased item as running.
  return admission.singleton === undefined || admission.singleton.mode === "skip";
}

/** Whether a request may be served from a buffer. */
export function canBeBuffered(request: LeaseRequest): boolean {
  const { leaseAhead = false, limits, delivery, max } = request;
  return (
    leaseAhead && max <= requestItemsMax && limits === undefined && delivery === "pull" && !needsManyScans(request)
  );
}

/** A lease that no worker knows of. */
interface UnreceivedLease extends Pick<BufferedLease, "ageingMs"> {
  readonly row: Pick<LeasedRow, "id" | "leaseToken">;
}

/** Leases that this node holds without a worker. */
export type LeaseAhead = ReturnType<typeof createLeaseAhead>;

/**
 * Creates this node's buffers. A buffered item is leased like any other: if the node crashes, its lease expires. Items
 * that no worker requests within `ageMaxMs` are given back.
 */
export function createLeaseAhead({ db, signals, changes, log, wake, nowMs }: LeaseAheadParts) {
  const budget = createMemoryBudget();
  const buffers = new Set<{
    readonly tenantId: TenantId;
    readonly poolId: string;
    recall(suspend: boolean): void;
  }>();
  const pending = new Set<Promise<void>>();
  let isStopped = false;
  let turn = 0;

  const returns = createBatcher<readonly ReturnedLease[], undefined>({
    batchMax: bufferItemsMax,
    weigh: (leases) => leases.length,
    async flush(calls) {
      await giveBackLeases(db.genericPlans.sql, calls.flat(), turn++ % shardCount);
      return calls.map(() => undefined);
    },
  });

  async function returnLeases(leases: readonly ReturnedLease[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        await returns.run(leases);
        return;
      } catch (error) {
        if (tries === giveBackTries) {
          log.warn({ err: error }, "leased items could not be given back; their leases will expire");
          return;
        }
      }
      await delay(giveBackRetryMs);
    }
  }

  function track(work: Promise<void>): void {
    const done = work.finally(() => pending.delete(done));
    pending.add(done);
  }

  /** Makes leased items ready again as if they had not been leased, and wakes workers. */
  async function giveBack(tenantId: TenantId, poolId: string, leases: readonly UnreceivedLease[]): Promise<void> {
    if (leases.length === 0) return;
    const returned = leases.map(({ row: { id, leaseToken }, ageingMs }) => ({ tenantId, id, leaseToken, ageingMs }));
    const parts: Promise<void>[] = [];
    for (let from = 0; from < returned.length; from += bufferItemsMax) {
      parts.push(returnLeases(returned.slice(from, from + bufferItemsMax)));
    }
    const returning = Promise.all(parts).then(() => wake(tenantId, poolId));
    track(returning);
    await returning;
  }

  function recallWhere(matches: (tenantId: TenantId, poolId: string) => boolean, suspend: boolean): void {
    for (const buffer of buffers) if (matches(buffer.tenantId, buffer.poolId)) buffer.recall(suspend);
  }

  signals.onWakeUnder(
    recallPrefix,
    (name) => recallWhere((tenantId, poolId) => name === `${tenantId}:${poolId}`, true),
    () => recallWhere(() => true, false),
  );
  changes.onChange((changed) => recallWhere((tenantId) => tenantId === (changed ?? tenantId), false));

  return {
    giveBack,

    /** Opens the buffer of one class of requests of a pool. */
    open(tenantId: TenantId, poolId: string): AheadBuffer {
      const buffer = createLeaseBuffer(budget, nowMs);
      const rate = createDrainRate(nowMs);
      let claimed = 0;
      let generation = 0;
      let suspendedUntilMs = Number.NEGATIVE_INFINITY;
      let timer: NodeJS.Timeout | undefined;

      const target = () => {
        if (isStopped || nowMs() < suspendedUntilMs) return 0;
        const items = rate.itemsIn(coveredMs);
        return items < aheadMin ? 0 : Math.min(items, bufferItemsMax);
      };
      const giveBackStale = () => {
        timer = undefined;
        const stale = buffer.removeStale();
        rate.recordUnused(stale.length);
        void giveBack(tenantId, poolId, stale);
        schedule();
      };
      const schedule = () => {
        const { staleAtMs } = buffer;
        // A millisecond more, because timers may fire early.
        if (staleAtMs !== undefined) timer ??= setTimeout(giveBackStale, Math.max(0, staleAtMs - nowMs()) + 1);
      };
      const own = {
        tenantId,
        poolId,
        recall(suspend: boolean) {
          generation++;
          if (suspend) suspendedUntilMs = nowMs() + suspendedMs;
          clearTimeout(timer);
          timer = undefined;
          void giveBack(tenantId, poolId, buffer.clear());
        },
      };
      buffers.add(own);

      const take = (request: LeaseRequest, max: number) =>
        buffer.take(max, ({ recipientId }) => servesRecipient(request, recipientId));
      return {
        take,
        takeAll(request) {
          if (buffer.size < request.max) return undefined;
          const taken = take(request, request.max);
          if (taken.length === request.max) return taken;
          void giveBack(tenantId, poolId, buffer.add(taken));
          return undefined;
        },
        begin() {
          const extra = Math.max(0, Math.min(target() - buffer.size, buffer.room()) - claimed);
          claimed += extra;
          return { sentAtMs: nowMs(), extra, generation };
        },
        end(claim, unused) {
          claimed -= claim.extra;
          if (unused.length === 0) return;
          // A lease without spare time was not meant to wait in a buffer, and neither was the only attempt of an item.
          const canWait = ({ spareMs, row }: BufferedLease) =>
            claim.generation === generation && spareMs > 0 && row.retry?.maxAttempts !== 1 && !isStopped;
          const refused = buffer.add(unused.filter(canWait));
          void giveBack(tenantId, poolId, [...refused, ...unused.filter((lease) => !canWait(lease))]);
          schedule();
        },
        isLow: () => claimed === 0 && buffer.size < target() / 2,
        record(rows) {
          if (rows.length === 0) return;
          rate.record(rows.length);
          buffer.sample(rows[0]!);
        },
        close() {
          buffers.delete(own);
          own.recall(false);
        },
      };
    },

    /**
     * Has every node give back the leases of a pool that no worker has received. Resolves when this node has done so,
     * or after `ageMaxMs`. Other nodes follow within milliseconds, or within `ageMaxMs` if the signal is lost.
     */
    async recall(tenantId: TenantId, poolId: string): Promise<void> {
      signals.wake(`${recallPrefix}${tenantId}:${poolId}`);
      await Promise.race([Promise.all(pending), delay(ageMaxMs, undefined, { ref: false })]);
    },

    /** Gives everything back and leases nothing ahead from now on. */
    stop(): void {
      isStopped = true;
      recallWhere(() => true, false);
    },

    /** Resolves when everything has been given back. */
    async idle(): Promise<void> {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}
