import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../../platform/jobs/index.ts";
import { deleteEndedItems } from "./sweep-store.ts";

interface Parts {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly retentionHours: number;
  readonly platformTenantId: () => string;
}

const everyMs = 60_000;
const batchSize = 2000;

/** Creates the job that deletes items, with their decisions, after the retention period. */
export function deleteEndedItemsJob({ sql, clock, retentionHours, platformTenantId }: Parts): JobKind {
  return {
    kind: "queue.forget_ended",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const before = new Date(clock.now() - retentionHours * 3_600_000);
      await runInBatches(signal, batchSize, (limit) => deleteEndedItems(sql, before, limit));
    },
  };
}
