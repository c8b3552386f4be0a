import type { Clock } from "../platform/clock/clock.ts";
import type { Sql } from "../platform/db/index.ts";
import { deleteExpiredRecords } from "../platform/idempotency/index.ts";
import { type JobKind, runInBatches } from "../platform/jobs/index.ts";

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ttlHours: number;
  readonly platformTenantId: () => string;
}

const hourMs = 3_600_000;
const rowsAtOnce = 5000;

/** Creates the job that deletes expired idempotency records. */
export function createIdempotencyCleanupJob({ sql, clock, ttlHours, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "idempotency.delete_expired",
    every: { ms: hourMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const before = new Date(clock.now() - ttlHours * hourMs);
      await runInBatches(signal, rowsAtOnce, (limit) => deleteExpiredRecords(sql, before, limit));
    },
  };
}
