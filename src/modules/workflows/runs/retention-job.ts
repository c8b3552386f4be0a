import type { Clock } from "../../../platform/clock/clock.ts";
import { type Database, maintainPartitions } from "../../../platform/db/index.ts";
import type { JobKind } from "../../../platform/jobs/index.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

const everyMs = 10 * 60_000;

/** Creates the job that keeps the partitions of ended runs and of the history. */
export function maintainRunsJob({ db, clock, retentionDays, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "workflow.maintain_runs",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const nowMs = clock.now();
      for (const table of [
        { name: "workflow_run_archive", column: "ended_at" },
        { name: "workflow_history", column: "at" },
      ]) {
        await maintainPartitions(db, table, { nowMs, retentionDays, signal });
      }
    },
  };
}
