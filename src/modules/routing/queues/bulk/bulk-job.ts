import { Failure } from "../../../../errors/index.ts";
import type { TenantId } from "../../../../platform/access/index.ts";
import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { enqueueJobs, type Job, type JobKind, type NewJob } from "../../../../platform/jobs/index.ts";
import type { BulkRunner } from "./bulk-runner.ts";

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly runner: BulkRunner;
}

const kind = "queues.bulk_operation";
const attemptsMax = 20;
const nodeEnded =
  "The node that ran the operation ended in its last attempt. Items that were changed stay changed. Start it again for the rest.";
/** A longer operation continues in another job, so that the jobs of other tenants get their turn. */
const batchesPerJob = 20;

/** The job that executes an operation. */
export function bulkJobOf(tenantId: TenantId, operationId: string, nowMs: number): NewJob {
  return { tenantId, kind, payload: { operationId }, runAt: new Date(nowMs), maxAttempts: attemptsMax };
}

/** Executes bulk operations. */
export function bulkOperationJob({ sql, clock, runner }: Dependencies): JobKind {
  async function run(tenantId: TenantId, operationId: string, signal: AbortSignal): Promise<void> {
    for (let batches = 0; batches < batchesPerJob; batches++) {
      signal.throwIfAborted();
      if (await runner.runBatch(tenantId, operationId)) return;
    }
    const nowMs = clock.now();
    await enqueueJobs(sql, [bulkJobOf(tenantId, operationId, nowMs)], nowMs);
  }

  return {
    kind,
    async handler({ tenantId, payload, attempt, signal }: Job) {
      const { operationId } = payload as { readonly operationId: string };
      try {
        await run(tenantId as TenantId, operationId, signal);
      } catch (error) {
        signal.throwIfAborted();
        const isPermanent = error instanceof Failure && !error.entry.retryable;
        if (!isPermanent && attempt < attemptsMax) throw error;
        const reason = error instanceof Failure ? error.message : "The operation failed too often. Start it again.";
        await runner.abandon(tenantId as TenantId, operationId, reason);
      }
    },
    // An operation that this node abandoned already keeps its reason.
    async onExhausted({ tenantId, payload }) {
      const { operationId } = payload as { readonly operationId: string };
      await runner.abandon(tenantId as TenantId, operationId, nodeEnded);
    },
  };
}
