import { create, type Message } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type CompleteItemRequest,
  CompleteItemResponseSchema,
  type CompleteItemsRequest,
  CompleteItemsResponseSchema,
  type FailItemRequest,
  FailItemResponseSchema,
  type FailItemsRequest,
  FailItemsResponseSchema,
  type HeartbeatItemRequest,
  HeartbeatItemResponseSchema,
  type LeaseItemsRequest,
  type LeaseItemsResponse,
  LeaseItemsResponseSchema,
  type ReportItemProgressRequest,
  ReportItemProgressResponseSchema,
  type WorkService as Rpc,
  type WorkRequest,
  type WorkResult,
} from "../../../../../gen/service/api/work_pb.ts";
import type { Context } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { Failure } from "../../../../errors/index.ts";
import type { Database, Sql } from "../../../../platform/db/index.ts";
import {
  type KeyedCall,
  recordResponse,
  unlessRepeated,
  withIdempotency,
} from "../../../../platform/idempotency/index.ts";
import type { PoolReader, PoolSnapshot } from "../../pools/index.ts";
import type { CompletionService, ReportResult, WorkReport } from "../completion/completion-service.ts";
import type { ProgressReporter } from "../completion/item-progress.ts";
import { fromRow, requireRecipient, toLeaseRequest } from "./lease-message.ts";
import { isBounded } from "./lease-request.ts";
import type { LeaseRequest, LeaseService, OfferFilter } from "./lease-service.ts";
import { type LeasedRow, type OfferedItem, renewLeases } from "./lease-store.ts";
import type { BeforeCommit } from "./limited-lease.ts";
import {
  createReportReader,
  failureOf,
  leaseLost,
  onlyResult,
  type Reports,
  reportOf,
  toResult,
} from "./report-message.ts";
import type { WorkStreams } from "./work-streams.ts";

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
  readonly streams: WorkStreams;
  readonly reportProgress: ProgressReporter;
  /** Selects the items without a recipient that the requesting recipient may take. */
  readonly filterAcceptable: AcceptanceFilter;
}

/** A stream waits this long for items before it reads the pool again. */
const streamWaitS = 20;
const maxInFlightDefault = 10;

type LeaseResponder = (rows: readonly LeasedRow[], results: WorkResult[]) => LeaseItemsResponse;

/** Creates the handlers of WorkService. */
export function workHandlers({
  db,
  pools,
  leaseService,
  completion,
  streams,
  reportProgress,
  filterAcceptable,
}: Dependencies): Handlers<typeof Rpc> {
  const { readBatch, readReports } = createReportReader();

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
  async function leaseOnce(
    keyed: KeyedCall,
    signal: AbortSignal,
    reports: Reports,
    lease: (beforeCommit: BeforeCommit) => Promise<readonly LeasedRow[]>,
    respond: LeaseResponder,
  ): Promise<LeaseItemsResponse | "duplicate"> {
    return unlessRepeated(db.sql, keyed, async () => {
      const results = reports.toResults(await completion.finishItems(reports.valid));
      const rows = await lease(async (tx, leased) => {
        await recordResponse(tx, keyed, respond(leased, results));
        // A disconnected caller leases nothing, so that it can retry with the same key.
        signal.throwIfAborted();
      });
      const response = respond(rows, results);
      if (rows.length > 0) return response;
      signal.throwIfAborted();
      await recordResponse(db.sql, keyed, response);
      return response;
    });
  }

  /**
   * Applies the reports and leases items. The first scan runs beside the commit of the reports if no report can make room
   * for an item: in pools without limits, for workers without a capacity. The reports are committed before any wait.
   */
  async function reportAndLease(
    reports: readonly WorkReport[],
    request: LeaseRequest,
    lease: (request: LeaseRequest) => Promise<readonly LeasedRow[]>,
  ): Promise<{ rows: readonly LeasedRow[]; finished: readonly ReportResult[] }> {
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
  async function leaseWhileUnchanged(
    context: Context,
    snapshot: PoolSnapshot,
    request: LeaseRequest,
  ): Promise<readonly LeasedRow[]> {
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

  function finishEach<T extends Message>(
    reports: Reports,
    keyed: KeyedCall | undefined,
    respond: (results: WorkResult[]) => T,
  ): Promise<T | "duplicate"> {
    return finish(reports.valid, keyed, (finished) => respond(reports.toResults(finished)));
  }

  return {
    leaseItems: {
      async grouped(context: Context, request: LeaseItemsRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        requireRecipient(snapshot, request.recipientId);
        const reports = readReports(context, snapshot, request);
        const respond: LeaseResponder = (rows, results) =>
          create(LeaseItemsResponseSchema, { items: rows.map((row) => fromRow(row, snapshot)), results });
        if (request.reportOnly) return finishEach(reports, keyed, (results) => respond([], results));
        const leaseRequest = toLeaseRequest(context, request, snapshot);
        const filter = offerFilter(snapshot, leaseRequest);
        const lease = async (asked: LeaseRequest, beforeCommit?: BeforeCommit) =>
          (await leaseService.lease(asked, filter, beforeCommit)).rows;
        if (keyed !== undefined) {
          const leaseKeyed = (beforeCommit: BeforeCommit) => lease(leaseRequest, beforeCommit);
          return leaseOnce(keyed, context.signal, reports, leaseKeyed, respond);
        }
        const { rows, finished } = await reportAndLease(reports.valid, leaseRequest, lease);
        return respond(rows, reports.toResults(finished));
      },
    },

    async work(context: Context, request: WorkRequest) {
      const { tenantId, signal } = context;
      const { poolId, recipientId, leaseS, maxInFlight } = request;
      const toRequest = (snapshot: PoolSnapshot, maxItems: number) =>
        toLeaseRequest(context, { recipientId, leaseS, maxItems, waitS: streamWaitS }, snapshot);
      // An unknown pool or recipient is rejected before the stream starts.
      let last = toRequest(await pools.requirePool(context, poolId), 1);
      return streams.open({
        tenantId,
        signal,
        maxInFlight: maxInFlight || maxInFlightDefault,
        hasCapacity: () => isBounded(last),
        returnItems: (leases) => leaseService.returnItems(last, leases),
        async lease(max, whileWanted) {
          const snapshot = await pools.requirePool(context, poolId);
          last = { ...toRequest(snapshot, max), signal: whileWanted };
          const rows = await leaseWhileUnchanged(context, snapshot, last);
          return rows.map((row) => fromRow(row, snapshot));
        },
      });
    },

    heartbeatItem: {
      async grouped(context: Context, request: HeartbeatItemRequest, keyed) {
        const { pool } = await pools.requirePool(context, request.poolId);
        const { queueItemId: id, poolId, leaseToken: token, leaseS } = request;
        const { tenantId } = context;
        const renew = async (sql: Sql) => {
          const renewal = { tenantId, poolId, id, token, leaseS: leaseS === 0 ? pool.config.lease.durationS : leaseS };
          const [lease] = await renewLeases(sql, [renewal]);
          if (lease === undefined) throw leaseLost();
          const leaseExpiresAt = timestampFromDate(lease.leaseUntil);
          return create(HeartbeatItemResponseSchema, { lease: { queueItemId: id, leaseExpiresAt } });
        };
        if (keyed === undefined) return renew(db.sql);
        return once(keyed, renew);
      },
    },

    reportItemProgress: {
      async grouped(context: Context, request: ReportItemProgressRequest, keyed) {
        const { pool } = await pools.requirePool(context, request.poolId);
        const { queueItemId: id, leaseToken: token, leaseS, percent, note } = request;
        const report = { tenantId: context.tenantId, poolId: pool.id, id, token, percent, note };
        const options = { leaseS: leaseS || pool.config.lease.durationS, itemEvents: pool.config.itemEvents };
        const run = async (tx: Sql) => {
          const leaseUntil = await reportProgress(tx, report, options);
          const lease = { queueItemId: id, leaseExpiresAt: timestampFromDate(leaseUntil) };
          return create(ReportItemProgressResponseSchema, { lease });
        };
        if (keyed !== undefined) return once(keyed, run);
        return options.itemEvents ? db.transaction(run) : run(db.sql);
      },
    },

    completeItem: {
      async grouped(context: Context, request: CompleteItemRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const { cost, score } = request;
        const result = toResult(request);
        if (result instanceof Failure) throw result;
        const done = { ...reportOf(context, snapshot)(request), failure: undefined, cost, score, result };
        return finish([done], keyed, ([result]) =>
          create(CompleteItemResponseSchema, { result: onlyResult(request, result) }),
        );
      },
    },

    failItem: {
      async grouped(context: Context, request: FailItemRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const failed = { ...reportOf(context, snapshot)(request), failure: failureOf(request) };
        return finish([failed], keyed, ([result]) =>
          create(FailItemResponseSchema, { result: onlyResult(request, result) }),
        );
      },
    },

    completeItems: {
      async grouped(context: Context, request: CompleteItemsRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const reports = readBatch(context, snapshot, request.items, undefined);
        return finishEach(reports, keyed, (results) => create(CompleteItemsResponseSchema, { results }));
      },
    },

    failItems: {
      async grouped(context: Context, request: FailItemsRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const reports = readBatch(context, snapshot, request.items, failureOf(request));
        return finishEach(reports, keyed, (results) => create(FailItemsResponseSchema, { results }));
      },
    },
  };
}
