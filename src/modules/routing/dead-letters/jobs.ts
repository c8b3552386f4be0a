import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { type RetentionPool, retentionStore } from "./retention-store.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const poolBatchSize = 500;
const letterBatchSize = 1000;
/** The default of the pool config. */
const retentionDaysDefault = 14;

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  /** The tenant that instance-wide jobs run under. */
  readonly platformTenantId: () => string;
}

/**
 * Deletes letters that are older than their pool's retention, and letters of retried items that have ended. Quarantined
 * letters stay until they are purged or released.
 */
export function deleteExpiredLettersJob({ sql, clock, platformTenantId }: Dependencies): JobKind {
  const store = retentionStore(sql);
  return {
    kind: "dead_letters.delete_expired",
    every: { ms: hourMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const now = clock.now();
      let pools: readonly RetentionPool[];
      let last: RetentionPool | undefined;
      do {
        pools = await store.poolsAfter(last, retentionDaysDefault, poolBatchSize);
        const cutoffs = pools.map(({ tenantId, poolId, retentionDays }) => ({
          tenantId,
          poolId,
          failedBefore: new Date(now - retentionDays * dayMs),
        }));
        for (const remove of [store.removeFailed, store.removeEnded]) {
          await runInBatches(signal, letterBatchSize, (limit) => remove(cutoffs, limit));
        }
        last = pools.at(-1);
      } while (pools.length === poolBatchSize);
    },
  };
}
