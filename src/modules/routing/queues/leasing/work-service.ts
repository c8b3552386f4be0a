import type { Message } from "@bufbuild/protobuf";
import type { Context } from "../../../../chain/call.ts";
import type { Database, Sql } from "../../../../platform/db/index.ts";
import {
  type KeyedCall,
  recordResponse,
  unlessRepeated,
  withIdempotency,
} from "../../../../platform/idempotency/index.ts";
import type { PoolReader, PoolSnapshot } from "../../pools/index.ts";
import type { CompletionService, ReportResult, WorkReport } from "../completion/completion-service.ts";
import { isBounded } from "./lease-request.ts";
import type { LeaseRequest, LeaseService, OfferFilter } from "./lease-service.ts";
import type { LeasedRow, OfferedItem } from "./lease-store.ts";
import type { BeforeCommit } from "./limited-lease.ts";

/** Applies a pool's rules: returns the ids of the items that a recipient may take. */
export type AcceptanceFilter = (
  snapshot: PoolSnapshot,
  recipientId: string,
  items: readonly OfferedItem[],
) => Promise<readonly string[]>;

interface Dependencies {
  readonly db: Database;
  readonly pools: PoolReader;
  readonly leaseService: LeaseService;
  readonly completion: CompletionService;
  /** Selects the items without a recipient that the requesting recipient may take. */
  readonly filterAcceptable: AcceptanceFilter;
}

type Lease = (request: LeaseRequest, beforeCommit?: BeforeCommit) => Promise<readonly LeasedRow[]>;

export type WorkService = ReturnType<typeof createWorkService>;

/** Creates the use cases of workers. They build their response in the transaction that records it under the idempotency key. */
export function createWorkService({ db, pools, leaseService, completion, filterAcceptable }: Dependencies) {
  /** Runs a call in its own transaction with its idempotency key; "duplicate" when the key was used before. */
  async function once<T extends Message>(keyed: KeyedCall, run: (tx: Sql) => Promise<T>): Promise<T | "duplicate"> {
    const done = await db.transaction((tx) => withIdempotency(tx, keyed, async () => ({ response: await run(tx) })));
    return done === "duplicate" ? done : done.response;
  }

  /**
   * Applies the reports, then leases items and records the idempotency key in one transaction. No transaction is open
   * during the wait. The reports have a commit of their own: a retry of a call that was cut off repeats them, and a
   * repeated report gets the first result.
   */
  async function leaseOnce<T extends Message>(
    keyed: KeyedCall,
    request: LeaseRequest,
    reports: readonly WorkReport[],
    lease: Lease,
    respond: (rows: readonly LeasedRow[], finished: readonly ReportResult[]) => T,
  ): Promise<T | "duplicate"> {
    return unlessRepeated(db.sql, keyed, async () => {
      const finished = await completion.finishItems(reports);
      const rows = await lease(request, async (tx, leased) => {
        await recordResponse(tx, keyed, respond(leased, finished));
        // A disconnected caller leases nothing, so that it can retry with the same key.
        request.signal.throwIfAborted();
      });
      const response = respond(rows, finished);
      if (rows.length > 0) return response;
      request.signal.throwIfAborted();
      await recordResponse(db.sql, keyed, response);
      return response;
    });
  }

  /**
   * Applies the reports and leases items. The first scan runs beside the commit of the reports if no report can make room
   * for an item: in pools without limits, for workers without a capacity. The reports are committed before any wait.
   */
  async function reportAndLease(request: LeaseRequest, reports: readonly WorkReport[], lease: Lease) {
    if (reports.length === 0 || request.limits !== undefined || isBounded(request)) {
      const finished = await completion.finishItems(reports);
      return { finished, rows: await lease(request) };
    }
    const startedAtMs = performance.now();
    const [finishing, leasing] = await Promise.allSettled([
      completion.finishItems(reports),
      lease({ ...request, waitMs: 0 }),
    ]);
    if (finishing.status === "rejected") {
      // The call fails, so the caller does not learn of its items.
      if (leasing.status === "fulfilled") await leaseService.returnItems(request, leasing.value);
      throw finishing.reason;
    }
    if (leasing.status === "rejected") throw leasing.reason;
    const finished = finishing.value;
    if (leasing.value.length === 0) return { finished, rows: request.waitMs === 0 ? [] : await lease(request) };
    // The commit of the reports may have taken long. Meanwhile the queue may have been paused.
    if (await leaseService.canHandOut(request, startedAtMs)) return { finished, rows: leasing.value };
    await leaseService.returnItems(request, leasing.value);
    return { finished, rows: [] };
  }

  /** Leases items; returns none if the pool or its recipients changed during the wait. */
  async function leaseWhileUnchanged(context: Context, snapshot: PoolSnapshot, request: LeaseRequest) {
    const changed = new Error("the pool changed during the wait");
    let hasWaited = false;
    const onWaited = () => {
      hasWaited = true;
    };
    const recheckAccess = async () => {
      await context.recheckAccess();
      // Checked after a wait and before the scan, so that no item is leased in vain.
      if (hasWaited && (await pools.requirePool(context, snapshot.pool.id)) !== snapshot) throw changed;
      hasWaited = false;
    };
    try {
      const filter = offerFilter(snapshot, request);
      return (await leaseService.lease({ ...request, onWaited, recheckAccess }, filter)).rows;
    } catch (error) {
      if (error === changed) return [];
      throw error;
    }
  }

  /** In a first_accept pool, selects the items that a recipient may take besides its own. */
  function offerFilter(
    snapshot: PoolSnapshot,
    { recipientId, offered = false }: LeaseRequest,
  ): OfferFilter | undefined {
    return offered ? (items) => filterAcceptable(snapshot, recipientId, items) : undefined;
  }

  async function finish<T extends Message>(
    reports: readonly WorkReport[],
    keyed: KeyedCall | undefined,
    respond: (results: readonly ReportResult[]) => T,
  ): Promise<T | "duplicate"> {
    if (keyed === undefined) return respond(await completion.finishItems(reports));
    return once(keyed, async (tx) => respond(await completion.finishItemsIn(tx, reports)));
  }

  /** Applies the reports and leases items. */
  async function lease<T extends Message>(
    snapshot: PoolSnapshot,
    request: LeaseRequest,
    reports: readonly WorkReport[],
    keyed: KeyedCall | undefined,
    respond: (rows: readonly LeasedRow[], finished: readonly ReportResult[]) => T,
  ): Promise<T | "duplicate"> {
    const filter = offerFilter(snapshot, request);
    const leaseRows: Lease = async (asked, beforeCommit) =>
      (await leaseService.lease(asked, filter, beforeCommit)).rows;
    if (keyed !== undefined) return leaseOnce(keyed, request, reports, leaseRows, respond);
    const { rows, finished } = await reportAndLease(request, reports, leaseRows);
    return respond(rows, finished);
  }

  return { once, lease, leaseWhileUnchanged, finish };
}
