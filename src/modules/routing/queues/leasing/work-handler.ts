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
import type { KeyedCall } from "../../../../platform/idempotency/index.ts";
import type { PoolReader, PoolSnapshot } from "../../pools/index.ts";
import type { ReportResult } from "../completion/completion-service.ts";
import type { ProgressReporter } from "../completion/item-progress.ts";
import { fromRow, requireRecipient, toLeaseRequest } from "./lease-message.ts";
import { isBounded } from "./lease-request.ts";
import type { LeaseService } from "./lease-service.ts";
import { type LeasedRow, renewLeases } from "./lease-store.ts";
import {
  createReportReader,
  failureOf,
  leaseLost,
  onlyResult,
  type Reports,
  reportOf,
  toResult,
} from "./report-message.ts";
import type { WorkService } from "./work-service.ts";
import type { WorkStreams } from "./work-streams.ts";

interface Dependencies {
  readonly db: Database;
  readonly pools: PoolReader;
  readonly leaseService: LeaseService;
  readonly service: WorkService;
  readonly streams: WorkStreams;
  readonly reportProgress: ProgressReporter;
}

/** A stream waits this long for items before it reads the pool again. */
const streamWaitS = 20;
const maxInFlightDefault = 10;

export function workHandlers(dependencies: Dependencies): Handlers<typeof Rpc> {
  const { db, pools, leaseService, service, streams, reportProgress } = dependencies;
  const { once, finish } = service;
  const { readBatch, readReports } = createReportReader();

  function finishEach<T extends Message>(
    reports: Reports,
    keyed: KeyedCall | undefined,
    respond: (results: WorkResult[]) => T,
  ): Promise<T | "duplicate"> {
    return finish(reports.valid, keyed, (finished) => respond(reports.toResults(finished)));
  }

  return {
    leaseItems: {
      async ownCommit(context: Context, request: LeaseItemsRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        requireRecipient(snapshot, request.recipientId);
        const reports = readReports(context, snapshot, request);
        const respond = (rows: readonly LeasedRow[], finished: readonly ReportResult[]) =>
          create(LeaseItemsResponseSchema, {
            items: rows.map((row) => fromRow(row, snapshot)),
            results: reports.toResults(finished),
          });
        if (request.reportOnly) return finish(reports.valid, keyed, (finished) => respond([], finished));
        return service.lease(snapshot, toLeaseRequest(context, request, snapshot), reports.valid, keyed, respond);
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
          const rows = await service.leaseWhileUnchanged(context, snapshot, last);
          return rows.map((row) => fromRow(row, snapshot));
        },
      });
    },

    heartbeatItem: {
      async ownCommit(context: Context, request: HeartbeatItemRequest, keyed) {
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
        return keyed === undefined ? renew(db.sql) : once(keyed, renew);
      },
    },

    reportItemProgress: {
      async ownCommit(context: Context, request: ReportItemProgressRequest, keyed) {
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
      async ownCommit(context: Context, request: CompleteItemRequest, keyed) {
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
      async ownCommit(context: Context, request: FailItemRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const failed = { ...reportOf(context, snapshot)(request), failure: failureOf(request) };
        return finish([failed], keyed, ([result]) =>
          create(FailItemResponseSchema, { result: onlyResult(request, result) }),
        );
      },
    },

    completeItems: {
      async ownCommit(context: Context, request: CompleteItemsRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const reports = readBatch(context, snapshot, request.items, undefined);
        return finishEach(reports, keyed, (results) => create(CompleteItemsResponseSchema, { results }));
      },
    },

    failItems: {
      async ownCommit(context: Context, request: FailItemsRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const reports = readBatch(context, snapshot, request.items, failureOf(request));
        return finishEach(reports, keyed, (results) => create(FailItemsResponseSchema, { results }));
      },
    },
  };
}
