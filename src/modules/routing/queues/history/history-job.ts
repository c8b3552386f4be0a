import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Database } from "../../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../../platform/jobs/index.ts";
import { createPartitions, deleteExpiredHistory, dropExpiredPartitions } from "./history-partitions.ts";

interface Parts {
  readonly db: Database;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

const dayMs = 86_400_000;
const everyMs = 10 * 60_000;
const batchSize = 2000;

/** Creates the job that creates the history partitions of the coming days and deletes rows older than the retention period. */
export function maintainHistoryJob({ db, clock, retentionDays, platformTenantId }: Parts): JobKind {
  return {
    kind: "queue.maintain_history",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const nowMs = clock.now();
      // Whole days only, so that a day's rows are dropped with their partition instead of being deleted.
      const beforeMs = Math.floor((nowMs - retentionDays * dayMs) / dayMs) * dayMs;
      await dropExpiredPartitions(db, beforeMs);
      await runInBatches(signal, batchSize, (limit) => deleteExpiredHistory(db.sql, new Date(beforeMs), limit));
      await createPartitions(db, nowMs);
    },
  };
}
