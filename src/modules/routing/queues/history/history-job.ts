import type { Clock } from "../../../../platform/clock/clock.ts";
import { type Database, maintainPartitions } from "../../../../platform/db/index.ts";
import type { JobKind } from "../../../../platform/jobs/index.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

const table = { name: "routing_history", column: "ended_at" };
const everyMs = 10 * 60_000;

/** Creates the job that creates the history partitions of the coming days and deletes rows older than the retention period. */
export function maintainHistoryJob({ db, clock, retentionDays, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "queue.maintain_history",
    every: { ms: everyMs, tenantId: platformTenantId },
    handler: ({ signal }) => maintainPartitions(db, table, { nowMs: clock.now(), retentionDays, signal }),
  };
}
