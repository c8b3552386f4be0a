import type { Context } from "../../../../chain/call.ts";
import { fail, invalid } from "../../../../errors/index.ts";
import { requireEnvironmentAccess } from "../../../../platform/access/index.ts";
import { lockFor, notFound, type Sql } from "../../../../platform/db/index.ts";
import { ulid } from "../../../../platform/ids/ulid.ts";
import { enqueueJobs, type JobRunner } from "../../../../platform/jobs/index.ts";
import type { EventRecorder } from "../../../operations/index.ts";
import type { PoolReader } from "../../pools/index.ts";
import { bulkJobOf } from "./bulk-job.ts";
import { bulkStore } from "./bulk-store.ts";
import { deadLetterScan } from "./dead-letter-scan.ts";
import {
  type BulkCount,
  type BulkOperation,
  type BulkSelection,
  isEnded,
  unfinishedMax,
} from "./domain/bulk-operation.ts";
import { itemScan } from "./item-scan.ts";

interface Dependencies {
  readonly pools: Pick<PoolReader, "requirePool" | "requireRetryPool">;
  readonly events: EventRecorder;
  readonly jobs: Pick<JobRunner, "wake">;
}

/** An operation to start. */
export type NewOperation = BulkSelection & {
  readonly poolId: string;
  readonly maxItems: number;
  readonly reason: string;
};

export type BulkService = ReturnType<typeof createBulkService>;

export function createBulkService({ pools, events, jobs }: Dependencies) {
  async function getOperation(context: Context, id: string): Promise<BulkOperation> {
    return requireAccess(context, await bulkStore(context.sql).find(context.tenantId, id));
  }

  function requirePool(context: Context, poolId: string, { action }: BulkSelection) {
    return action === "retry" ? pools.requireRetryPool(context, poolId) : pools.requirePool(context, poolId);
  }

  return {
    getOperation,

    /** Counts the items that an operation would change. */
    async preview(context: Context, poolId: string, selection: BulkSelection): Promise<BulkCount> {
      await requirePool(context, poolId, selection);
      checkSelection(selection);
      return countMatching(context.sql, context, poolId, selection);
    },

    async start(context: Context, { poolId, maxItems, reason, ...selection }: NewOperation): Promise<BulkOperation> {
      const { sql, tenantId, nowMs, principal, afterCommit } = context;
      const { environmentKey } = await requirePool(context, poolId, selection);
      checkSelection(selection);
      const store = bulkStore(sql);
      await lockFor(sql, "bulk_operations", tenantId);
      if ((await store.countUnfinished(tenantId)) >= unfinishedMax) {
        throw fail("FAILED_PRECONDITION", {
          public: `At most ${unfinishedMax} bulk operations can run at a time. Wait until one has ended, or cancel it.`,
        });
      }
      const now = new Date(nowMs);
      await store.removeOld(tenantId, now);
      const { count } = await countMatching(sql, context, poolId, selection);
      const operation = await store.insert({
        ...{ ...selection, tenantId, id: ulid(nowMs), poolId, environmentKey, reason, maxItems, matchedCount: count },
        ...{ state: "queued", position: "", batch: null, changedCount: 0, skippedCount: 0, error: "" },
        ...{ createdBy: principal.subject, createdAt: now, updatedAt: now, endedAt: null },
      });
      await enqueueJobs(sql, [bulkJobOf(tenantId, operation.id, nowMs)], nowMs);
      const data = { pool_id: poolId, action: operation.action, matched_count: count, reason };
      await events.record(context, "queue.operation.started", operation.id, data);
      afterCommit(() => jobs.wake());
      return operation;
    },

    /** Stops an operation. A batch that is being executed is completed. */
    async cancel(context: Context, id: string): Promise<BulkOperation> {
      const { sql, tenantId, nowMs } = context;
      const store = bulkStore(sql);
      const current = requireAccess(context, await store.lock(tenantId, id));
      if (current.state === "cancelled") return current;
      if (isEnded(current))
        throw fail("FAILED_PRECONDITION", { public: `The operation has already ${current.state}.` });
      const operation = await store.end(tenantId, id, "cancelled", "", new Date(nowMs));
      const { poolId, action, changedCount, skippedCount } = operation;
      const data = { pool_id: poolId, action, changed_count: changedCount, skipped_count: skippedCount };
      await events.record(context, "queue.operation.cancelled", id, data);
      return operation;
    },
  };
}

function countMatching(
  sql: Sql,
  { tenantId, nowMs }: Pick<Context, "tenantId" | "nowMs">,
  poolId: string,
  selection: BulkSelection,
): Promise<BulkCount> {
  const range = { tenantId, poolId, after: "" };
  if (selection.action === "retry") {
    return deadLetterScan(sql, selection.filter).count({ ...range, failedBeforeMs: nowMs + 1 });
  }
  return itemScan(sql, selection.action, selection.filter).count({ ...range, enqueuedBeforeMs: nowMs + 1 });
}

function checkSelection(selection: BulkSelection): void {
  if (selection.action !== "requeue") return;
  if (selection.filter.states.some((state) => state !== "leased" && state !== "pending")) {
    throw invalid("filter.states", "in", "must be leased or pending: other items need not be requeued");
  }
}

function requireAccess(context: Context, operation: BulkOperation | undefined): BulkOperation {
  if (operation === undefined) throw notFound("bulk operation");
  requireEnvironmentAccess(context, operation.environmentKey);
  return operation;
}
