import type { Clock } from "../../../platform/clock/clock.ts";
import { deleteBatch, type Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { findEnded, markForgotten } from "./retention-store.ts";

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly platformTenantId: () => string;
}

const dayMs = 86_400_000;
const everyMs = 10 * 60_000;
const experimentsMax = 100;
const batchSize = 2000;

/** Deletes exposures and scores of experiments that ended before the retention period. */
export function deleteUnitsOfEndedJob({ sql, clock, retentionDays, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "experiment.delete_expired",
    every: { ms: everyMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const endedBefore = new Date(clock.now() - retentionDays * dayMs);
      await runInBatches(signal, experimentsMax, async (limit) => {
        const ended = await findEnded(sql, endedBefore, limit);
        for (const { tenantId, id } of ended) {
          // Without exposures no score is accepted, so none is recorded behind the removal.
          for (const table of ["experiment_exposures", "experiment_scores"]) {
            const rows = { table, where: sql`tenant_id = ${tenantId} and experiment_id = ${id}` };
            await runInBatches(signal, batchSize, (size) => deleteBatch(sql, rows, size));
          }
          await markForgotten(sql, tenantId, id, new Date(clock.now()));
        }
        return ended.length;
      });
    },
  };
}
