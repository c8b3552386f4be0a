import { create, type Message } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
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
  type LeasedItem,
  type LeasedRef,
  LeasedRefSchema,
  type LeaseItemsRequest,
  LeaseItemsResponseSchema,
  type WorkService as Rpc,
  type WorkResult,
  WorkResultSchema,
} from "../../../../../gen/service/api/work_pb.ts";
import type { Context, KeyedCall } from "../../../../chain/call.ts";
import type { Handlers } from "../../../../chain/handlers.ts";
import { Failure, fail } from "../../../../errors/index.ts";
import { type Database, notFound, type Sql } from "../../../../platform/db/index.ts";
import { claimKey, completeRecord, readUsedKeys } from "../../../../platform/idempotency/index.ts";
import { ulidMs } from "../../../../platform/ids/ulid.ts";
import { createMessageChecker } from "../../../../platform/validation/index.ts";
import { toLeaseLimits } from "../../admission/index.ts";
import type { PoolReader, PoolSnapshot } from "../../pools/index.ts";
import type { CompletionService, ReportResult, WorkReport } from "../completion/completion-service.ts";
import { canLeaseAhead } from "./lease-ahead.ts";
import { canReceiveWork, type LeaseService, type OfferFilter } from "./lease-service.ts";
import { type LeasedRow, type OfferedItem, renewLeases } from "./lease-store.ts";
import type { BeforeCommit } from "./limited-lease.ts";

/** Applies a pool's rules: returns the ids of the items that a recipient may take. */
export type AcceptanceFilter = (
  snapshot: PoolSnapshot,
  recipientId: string,
  items: readonly OfferedItem[],
) => Promise<readonly string[]>;

interface Parts {
  readonly db: Database;
  readonly pools: PoolReader;
  readonly leaseService: LeaseService;
  readonly completion: CompletionService;
  /** Selects the items without a recipient that the requesting recipient may take. */
  readonly filterAcceptable: AcceptanceFilter;
}

/** Creates the handlers of WorkService. */
export function workHandlers({ db, pools, leaseService, completion, filterAcceptable }: Parts): Handlers<typeof Rpc> {
  const checkRef = createMessageChecker(LeasedRefSchema);

  /** Runs a call in its own transaction with its idempotency key; "duplicate" when the key was used before. */
  async function once<T extends Message>(
    keyed: KeyedCall,
    run: (tx: Sql) => Promise<{ response: T; committed: () => void }>,
  ): Promise<T | "duplicate"> {
    const done = await db.transaction(async (tx) => {
      if (!(await claimKey(tx, keyed.claim))) return "duplicate";
      const result = await run(tx);
      await completeRecord(tx, keyed.record(result.response));
      return result;
    });
    if (done === "duplicate") return done;
    done.committed();
    return done.response;
  }

  /** Leases items and records the idempotency key in one transaction. No transaction is open during the wait. */
  async function leaseOnce<T extends Message>(
    keyed: KeyedCall,
    signal: AbortSignal,
    lease: (beforeCommit: BeforeCommit) => Promise<readonly LeasedRow[]>,
    respond: (rows: readonly LeasedRow[]) => T,
  ): Promise<T | "duplicate"> {
    if ((await readUsedKeys(db.sql, [keyed.claim])).size > 0) return "duplicate";
    const keyUsed = new Error("a concurrent call used this idempotency key");
    try {
      const rows = await lease(async (tx, leased) => {
        if (!(await claimKey(tx, keyed.claim))) throw keyUsed;
        await completeRecord(tx, keyed.record(respond(leased)));
        // A disconnected caller leases nothing, so that it can retry with the same key.
        signal.throwIfAborted();
      });
      if (rows.length > 0) return respond(rows);
    } catch (error) {
      if (error === keyUsed) return "duplicate";
      throw error;
    }
    signal.throwIfAborted();
    return once(keyed, async () => ({ response: respond([]), committed: () => {} }));
  }

  /** In a first_accept pool, selects the items that a recipient may take besides its own. */
  function offerFilter(snapshot: PoolSnapshot, recipientId: string): OfferFilter | undefined {
    if (recipientId === "" || snapshot.pool.strategy !== "first_accept") return undefined;
    return (items) => filterAcceptable(snapshot, recipientId, items);
  }

  async function finish<T extends Message>(
    reports: readonly WorkReport[],
    keyed: KeyedCall | undefined,
    respond: (results: readonly ReportResult[]) => T,
  ): Promise<T | "duplicate"> {
    if (keyed === undefined) return respond(await completion.finishItems(reports));
    return once(keyed, async (tx) => {
      const { results, committed } = await completion.finishItemsIn(tx, reports);
      return { response: respond(results), committed };
    });
  }

  /** Finishes the valid items of a batch; returns one result per item, in order. */
  function finishEach<T extends Message>(
    items: readonly LeasedRef[],
    toReport: (item: LeasedRef) => WorkReport,
    keyed: KeyedCall | undefined,
    respond: (results: WorkResult[]) => T,
  ): Promise<T | "duplicate"> {
    const refusals = items.map(checkRef);
    const valid = items.filter((_, at) => refusals[at] === undefined);
    return finish(valid.map(toReport), keyed, (finished) => {
      const next = finished.values();
      return respond(items.map(({ queueItemId }, at) => fromResult(queueItemId, refusals[at] ?? next.next().value)));
    });
  }

  return {
    leaseItems: {
      async grouped(context: Context, request: LeaseItemsRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const leaseRequest = toLeaseRequest(context, request, snapshot);
        const respond = (rows: readonly LeasedRow[]) =>
          create(LeaseItemsResponseSchema, { items: rows.map((row) => fromRow(row, snapshot)) });
        const lease = async (beforeCommit?: BeforeCommit) =>
          (await leaseService.lease(leaseRequest, offerFilter(snapshot, leaseRequest.recipientId), beforeCommit)).rows;
        return keyed === undefined ? respond(await lease()) : leaseOnce(keyed, context.signal, lease, respond);
      },
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
        return once(keyed, async (tx) => ({ response: await renew(tx), committed: () => {} }));
      },
    },

    completeItem: {
      async grouped(context: Context, request: CompleteItemRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const { cost, score } = request;
        const done = { ...reportOf(context, snapshot, request), failure: undefined, cost, score };
        return finish([done], keyed, ([result]) =>
          create(CompleteItemResponseSchema, { result: onlyResult(request, result) }),
        );
      },
    },

    failItem: {
      async grouped(context: Context, request: FailItemRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const failed = { ...reportOf(context, snapshot, request), failure: failureOf(request) };
        return finish([failed], keyed, ([result]) =>
          create(FailItemResponseSchema, { result: onlyResult(request, result) }),
        );
      },
    },

    completeItems: {
      async grouped(context: Context, request: CompleteItemsRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const toReport = (item: LeasedRef) => ({ ...reportOf(context, snapshot, item), failure: undefined });
        return finishEach(request.items, toReport, keyed, (results) =>
          create(CompleteItemsResponseSchema, { results }),
        );
      },
    },

    failItems: {
      async grouped(context: Context, request: FailItemsRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const failure = failureOf(request);
        const toReport = (item: LeasedRef) => ({ ...reportOf(context, snapshot, item), failure });
        return finishEach(request.items, toReport, keyed, (results) => create(FailItemsResponseSchema, { results }));
      },
    },
  };
}

function toLeaseRequest(context: Context, request: LeaseItemsRequest, { pool, recipients }: PoolSnapshot) {
  const { recipientId, maxItems, waitS, leaseS } = request;
  const recipient = recipients.find(({ id }) => id === recipientId);
  if (recipientId !== "" && recipient === undefined) throw notFound("recipient");
  return {
    tenantId: context.tenantId,
    poolId: pool.id,
    recipientId,
    limits: toLeaseLimits(pool.config.admission),
    environmentId: pool.environmentId,
    recipientIds: recipients.filter(canReceiveWork).map(({ id }) => id),
    // In a manual pool, operators assign the items.
    unassigned: pool.strategy !== "manual",
    delivery: "pull" as const,
    capacity: recipient?.capacity ?? 0,
    leaseS: leaseS === 0 ? pool.config.lease.durationS : leaseS,
    ageingMs: pool.config.queue.ageingS * 1000,
    max: recipient === undefined || canReceiveWork(recipient) ? Math.max(1, maxItems) : 0,
    waitMs: waitS * 1000,
    leaseAhead: canLeaseAhead(pool.config),
    signal: context.signal,
    recheckAccess: () => context.recheckAccess(),
    onWaited: (ms: number) => context.waited(ms),
  };
}

function reportOf(
  { tenantId }: Context,
  { pool }: PoolSnapshot,
  { queueItemId, leaseToken }: { queueItemId: string; leaseToken: string },
) {
  const { retry, dlq, itemEvents } = pool.config;
  const { maxRetries } = dlq;
  return {
    tenantId,
    poolId: pool.id,
    id: queueItemId,
    token: leaseToken,
    phase: "work" as const,
    retry,
    maxRetries,
    itemEvents,
  };
}

function failureOf({ retryable = true, reasonCode, reason }: FailItemRequest | FailItemsRequest) {
  return { retryable, reasonCode: reasonCode === "" ? "failed" : reasonCode, reason };
}

function onlyResult({ queueItemId }: { queueItemId: string }, result: ReportResult): WorkResult {
  if (result === undefined) throw leaseLost();
  return fromResult(queueItemId, result);
}

function fromResult(queueItemId: string, result: ReportResult | Failure): WorkResult {
  if (result === undefined) return fromResult(queueItemId, leaseLost());
  if (result instanceof Failure) {
    const { code, message, violations } = result;
    return create(WorkResultSchema, {
      queueItemId,
      errorCode: code,
      errorMessage: message,
      violations: [...violations],
    });
  }
  return {
    $typeName: "service.api.WorkResult",
    queueItemId,
    state: result.state,
    retryAt: result.retryAtMs === undefined ? undefined : timestampFromMs(result.retryAtMs),
    errorCode: "",
    errorMessage: "",
    violations: [],
  };
}

function leaseLost() {
  return fail("LEASE_LOST", {
    public: "The lease has expired or its token does not match. Lease items again to get current tokens.",
  });
}

function fromRow(row: LeasedRow, { pool }: PoolSnapshot): LeasedItem {
  // A plain literal: create() costs more per field than the rest of the item.
  return {
    $typeName: "service.api.LeasedItem",
    queueItemId: row.id,
    poolId: row.poolId,
    recipientId: row.recipientId,
    type: row.type,
    key: row.key,
    attributes: row.attributes,
    payload: row.payload,
    priority: row.priority,
    attempt: row.attempt,
    maxAttempts: pool.config.retry.maxAttempts,
    leaseToken: row.leaseToken,
    leaseExpiresAt: timestampFromDate(row.leaseUntil),
    enqueuedAt: timestampFromMs(ulidMs(row.id)),
  };
}
