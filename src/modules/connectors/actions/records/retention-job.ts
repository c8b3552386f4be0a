import type { Clock } from "../../../../platform/clock/clock.ts";
import { type Database, maintainPartitions } from "../../../../platform/db/index.ts";
import type { JobKind } from "../../../../platform/jobs/index.ts";

interface Dependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

const everyMs = 10 * 60_000;

/** Creates the job that keeps the partitions of executions. */
export function maintainExecutionsJob({ db, clock, retentionDays, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "connector.maintain_executions",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const table = { name: "connector_executions", column: "started_at" };
      await maintainPartitions(db, table, { nowMs: clock.now(), retentionDays, signal });
    },
  };
}
