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
import type { Finish, Finished, Finishing } from "../completion/completion-service.ts";
import { getsWork, type Keep, type Leasing, type Offered } from "./lease-service.ts";
import { type LeasedRow, type OfferedItem, renewLeases } from "./lease-store.ts";

/** Asks the rules of a pool which items one recipient may have; answers with their ids. */
export type Acceptable = (
  snapshot: PoolSnapshot,
  recipientId: string,
  items: readonly OfferedItem[],
) => Promise<readonly string[]>;

interface Parts {
  readonly db: Database;
  readonly pools: PoolReader;
  readonly leasing: Leasing;
  readonly finishing: Finishing;
  /** Which items a recipient who asks may take, of those that nobody was chosen for. */
  readonly acceptable: Acceptable;
}

/** The operations of WorkService. */
export function workHandlers({ db, pools, leasing, finishing, acceptable }: Parts): Handlers<typeof Rpc> {
  const checkRef = createMessageChecker(LeasedRefSchema);

  /** Runs one call in a transaction of its own, with its idempotency key; "duplicate" when that was used before. */
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

  /** Hands out items together with the key under which they are asked for. The wait for them holds no transaction. */
  async function leaseOnce<T extends Message>(
    keyed: KeyedCall,
    signal: AbortSignal,
    lease: (keep: Keep) => Promise<readonly LeasedRow[]>,
    answer: (rows: readonly LeasedRow[]) => T,
  ): Promise<T | "duplicate"> {
    if ((await readUsedKeys(db.sql, [keyed.claim])).size > 0) return "duplicate";
    const taken = new Error("another call with this key was first");
    try {
      const rows = await lease(async (tx, handedOut) => {
        if (!(await claimKey(tx, keyed.claim))) throw taken;
        await completeRecord(tx, keyed.record(answer(handedOut)));
        // Whoever has gone gets nothing, and may ask again.
        signal.throwIfAborted();
      });
      if (rows.length > 0) return answer(rows);
    } catch (error) {
      if (error === taken) return "duplicate";
      throw error;
    }
    signal.throwIfAborted();
    return once(keyed, async () => ({ response: answer([]), committed: () => {} }));
  }

  /** Where whoever asks first may have an item: what there is to be had besides what recipients were chosen for. */
  function offered(snapshot: PoolSnapshot, recipientId: string): Offered | undefined {
    if (recipientId === "" || snapshot.pool.strategy !== "first_accept") return undefined;
    return (items) => acceptable(snapshot, recipientId, items);
  }

  async function finish<T extends Message>(
    finishes: readonly Finish[],
    keyed: KeyedCall | undefined,
    answer: (results: readonly Finished[]) => T,
  ): Promise<T | "duplicate"> {
    if (keyed === undefined) return answer(await finishing.finish(finishes));
    return once(keyed, async (tx) => {
      const { results, committed } = await finishing.finishIn(tx, finishes);
      return { response: answer(results), committed };
    });
  }

  /** Finishes the valid items of a batch; each item has its own result, in order. */
  function finishEach<T extends Message>(
    items: readonly LeasedRef[],
    toFinish: (item: LeasedRef) => Finish,
    keyed: KeyedCall | undefined,
    answer: (results: WorkResult[]) => T,
  ): Promise<T | "duplicate"> {
    const refusals = items.map(checkRef);
    const valid = items.filter((_, at) => refusals[at] === undefined);
    return finish(valid.map(toFinish), keyed, (finished) => {
      const next = finished.values();
      return answer(items.map(({ queueItemId }, at) => fromResult(queueItemId, refusals[at] ?? next.next().value)));
    });
  }

  return {
    leaseItems: {
      async grouped(context: Context, request: LeaseItemsRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const asked = workAsked(context, request, snapshot);
        const answer = (rows: readonly LeasedRow[]) =>
          create(LeaseItemsResponseSchema, { items: rows.map((row) => fromRow(row, snapshot)) });
        const lease = async (keep?: Keep) =>
          (await leasing.lease(asked, offered(snapshot, asked.recipientId), keep)).rows;
        return keyed === undefined ? answer(await lease()) : leaseOnce(keyed, context.signal, lease, answer);
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
        const done = { ...finishOf(context, snapshot, request), failure: undefined, cost, score };
        return finish([done], keyed, ([result]) =>
          create(CompleteItemResponseSchema, { result: only(request, result) }),
        );
      },
    },

    failItem: {
      async grouped(context: Context, request: FailItemRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const failed = { ...finishOf(context, snapshot, request), failure: failureOf(request) };
        return finish([failed], keyed, ([result]) => create(FailItemResponseSchema, { result: only(request, result) }));
      },
    },

    completeItems: {
      async grouped(context: Context, request: CompleteItemsRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const toFinish = (item: LeasedRef) => ({ ...finishOf(context, snapshot, item), failure: undefined });
        return finishEach(request.items, toFinish, keyed, (results) =>
          create(CompleteItemsResponseSchema, { results }),
        );
      },
    },

    failItems: {
      async grouped(context: Context, request: FailItemsRequest, keyed) {
        const snapshot = await pools.requirePool(context, request.poolId);
        const failure = failureOf(request);
        const toFinish = (item: LeasedRef) => ({ ...finishOf(context, snapshot, item), failure });
        return finishEach(request.items, toFinish, keyed, (results) => create(FailItemsResponseSchema, { results }));
      },
    },
  };
}

function workAsked(context: Context, request: LeaseItemsRequest, { pool, recipients }: PoolSnapshot) {
  const { recipientId, maxItems, waitS, leaseS } = request;
  const recipient = recipients.find(({ id }) => id === recipientId);
  if (recipientId !== "" && recipient === undefined) throw notFound("recipient");
  return {
    tenantId: context.tenantId,
    poolId: pool.id,
    recipientId,
    limits: toLeaseLimits(pool.config.admission),
    environmentId: pool.environmentId,
    recipientIds: recipients.filter(getsWork).map(({ id }) => id),
    // What waits to be assigned by hand is nobody's before.
    unchosen: pool.strategy !== "manual",
    delivery: "pull" as const,
    capacity: recipient?.capacity ?? 0,
    leaseS: leaseS === 0 ? pool.config.lease.durationS : leaseS,
    ageingMs: pool.config.queue.ageingS * 1000,
    max: recipient === undefined || getsWork(recipient) ? Math.max(1, maxItems) : 0,
    waitMs: waitS * 1000,
    signal: context.signal,
    recheckAccess: () => context.recheckAccess(),
    onWaited: (ms: number) => context.waited(ms),
  };
}

function finishOf(
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

function only({ queueItemId }: { queueItemId: string }, result: Finished): WorkResult {
  if (result === undefined) throw leaseLost();
  return fromResult(queueItemId, result);
}

function fromResult(queueItemId: string, result: Finished | Failure): WorkResult {
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
  return fail("LEASE_LOST", { public: "The item is no longer the worker's." });
}

function fromRow(row: LeasedRow, { pool }: PoolSnapshot): LeasedItem {
  // Written out: what create() does for every field costs more than the item.
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
