import { create } from "@bufbuild/protobuf";
import { DeadLetterService, RetryDeadLettersRequestSchema } from "../../../../../gen/service/api/dead_letter_pb.ts";
import type { OperationCaller } from "../../../../chain/operation-caller.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import type { PlatformServices } from "../../../area.ts";
import type { EventEntry, EventRecorder } from "../../../operations/index.ts";
import type { EndedItem } from "../transitions/transition-store.ts";
import { type BatchResult, bulkStore } from "./bulk-store.ts";
import { deadLetterScan } from "./dead-letter-scan.ts";
import { type BulkOperation, isEnded, remainingItems } from "./domain/bulk-operation.ts";
import { changeItems, itemEvents } from "./item-batch.ts";
import { itemScan } from "./item-scan.ts";

export interface BulkRunnerParts extends Pick<PlatformServices, "db" | "clock"> {
  readonly events: EventRecorder;
  readonly call: OperationCaller;
  /** Waits until recently leased items of a pool are with a worker or wait again. */
  readonly settleRecentLeases: (sql: Sql, tenantId: TenantId, poolId: string) => Promise<void>;
  /** Signals that a pool has ready items; called after the commit. */
  readonly wakeReady: (tenantId: TenantId, poolId: string) => void;
  /** Called after the commit with items that were cancelled. */
  readonly onEnded: (items: readonly EndedItem[]) => void;
}

/** Executes bulk operations batch by batch. */
export type BulkRunner = ReturnType<typeof createBulkRunner>;

const scanSize = 1000;
const retrySize = 500;

/**
 * Creates the runner. A batch of items and the progress are stored in one commit. A batch of dead letters is noted before it is
 * retried under an idempotency key. So a node that takes over neither repeats nor miscounts a batch.
 */
export function createBulkRunner({ db, clock, events, call, settleRecentLeases, wakeReady, onEnded }: BulkRunnerParts) {
  /** Runs in a transaction if nobody else has continued or ended the operation since it was read. */
  async function continueIn<T>(operation: BulkOperation, run: (tx: Sql) => Promise<T>): Promise<T | undefined> {
    return db.transaction(async (tx) => {
      const current = await bulkStore(tx).lock(operation.tenantId, operation.id);
      if (current === undefined || isEnded(current) || current.position !== operation.position) return undefined;
      return run(tx);
    });
  }

  async function runItemBatch(operation: BulkOperation & { readonly action: "cancel" | "requeue" }): Promise<void> {
    const { tenantId, id, poolId, action, filter, position, createdAt } = operation;
    await settleRecentLeases(db.sql, tenantId, poolId);
    const range = { tenantId, poolId, after: position, enqueuedBeforeMs: createdAt.getTime() + 1 };
    const page = await itemScan(db.sql, action, filter).readPage(range, scanSize);
    const remaining = remainingItems(operation);
    const items = page.items.slice(0, remaining);
    const nowMs = clock.now();
    const done = await continueIn(operation, async (tx) => {
      const changed = await changeItems(tx, operation, items, nowMs);
      const ended = page.lastId === undefined || changed.items.length >= remaining;
      const result = {
        position: items.length < page.items.length ? items.at(-1)!.id : (page.lastId ?? position),
        changed: changed.items.length,
        skipped: items.length - changed.items.length,
        ended,
      };
      const advanced = await bulkStore(tx).advance(tenantId, id, result, new Date(nowMs));
      const entries = [...itemEvents(operation, changed.items), ...endEvents(advanced)];
      await events.recordMany(tx, entries, nowMs);
      return changed;
    });
    if (done === undefined) return;
    onEnded(done.ended);
    for (const each of new Set(done.poolIds)) wakeReady(tenantId, each);
  }

  async function runRetryBatch(operation: BulkOperation & { readonly action: "retry" }): Promise<void> {
    const { tenantId, id, poolId, filter, position, createdAt } = operation;
    const size = Math.min(retrySize, remainingItems(operation));
    const range = { tenantId, poolId, after: position, failedBeforeMs: createdAt.getTime() + 1 };
    const ids = operation.batch ?? (size === 0 ? [] : await deadLetterScan(db.sql, filter).readPage(range, size));
    if (ids.length === 0) return finishRetry(operation, { position, changed: 0, skipped: 0, ended: true });
    if (operation.batch === null) {
      const begin = (tx: Sql) =>
        bulkStore(tx)
          .beginBatch(tenantId, id, ids, new Date(clock.now()))
          .then(() => true);
      if ((await continueIn(operation, begin)) === undefined) return;
    }
    const key = `bulk:${id}:${ids[0]}`;
    const origin = { tenantId, subject: `bulk_operation:${id}`, idempotencyKey: key, requestId: key };
    const request = create(RetryDeadLettersRequestSchema, { poolId, queueItemIds: [...ids] });
    const { retriedCount, skipped } = await call(DeadLetterService.method.retryDeadLetters, origin, request);
    const changed = Number(retriedCount);
    await finishRetry(operation, { position: ids.at(-1)!, changed, skipped: skipped.length, ended: false });
  }

  async function finishRetry({ tenantId, id, position }: BulkOperation, result: BatchResult): Promise<void> {
    const nowMs = clock.now();
    await db.transaction(async (tx) => {
      const store = bulkStore(tx);
      const current = await store.lock(tenantId, id);
      // A cancelled operation counts its last batch too.
      if (current === undefined || current.position !== position) return;
      const advanced = await store.advance(tenantId, id, result, new Date(nowMs));
      await events.recordMany(tx, isEnded(current) ? [] : endEvents(advanced), nowMs);
    });
  }

  return {
    /** Executes the next batch; returns whether the operation has ended. */
    async runBatch(tenantId: TenantId, id: string): Promise<boolean> {
      const operation = await bulkStore(db.sql).find(tenantId, id);
      if (operation === undefined || isEnded(operation)) return true;
      if (operation.action === "retry") await runRetryBatch(operation);
      else await runItemBatch(operation);
      return false;
    },

    /** Ends an operation that cannot be continued. */
    async abandon(tenantId: TenantId, id: string, error: string): Promise<void> {
      const nowMs = clock.now();
      await db.transaction(async (tx) => {
        const store = bulkStore(tx);
        const current = await store.lock(tenantId, id);
        if (current === undefined || isEnded(current)) return;
        const failed = await store.end(tenantId, id, "failed", error, new Date(nowMs));
        await events.recordMany(tx, endEvents(failed), nowMs);
      });
    },
  };
}

/** The event about the end of an operation; none while it runs. */
function endEvents(operation: BulkOperation): EventEntry[] {
  const { tenantId, id, poolId, action, state, changedCount, skippedCount, error } = operation;
  if (state === "queued" || state === "running") return [];
  const counts = { changed_count: changedCount, skipped_count: skippedCount };
  const data = { pool_id: poolId, action, ...counts, ...(state === "failed" && { error }) };
  return [{ tenantId, subject: id, type: `queue.operation.${state}`, data }];
}
