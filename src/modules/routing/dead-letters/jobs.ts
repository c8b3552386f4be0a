import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { type KeptPool, retentionStore } from "./retention-store.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const poolsAtOnce = 500;
const lettersAtOnce = 1000;
/** As in the config of a pool that sets none. */
const retentionDaysDefault = 14;

interface Parts {
  readonly sql: Sql;
  readonly clock: Clock;
  /** The tenant that instance-wide jobs run under. */
  readonly platformTenantId: () => string;
}

/**
 * Removes letters that failed longer ago than their pool keeps them, and those that were put back and whose items came
 * to an end. Letters that somebody set aside stay until somebody removes them.
 */
export function forgetDeadLettersJob({ sql, clock, platformTenantId }: Parts): JobKind {
  const store = retentionStore(sql);
  return {
    kind: "dead_letters.forget",
    every: { ms: hourMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const now = clock.now();
      let pools: readonly KeptPool[];
      let last: KeptPool | undefined;
      do {
        pools = await store.poolsAfter(last, retentionDaysDefault, poolsAtOnce);
        const cutoffs = pools.map(({ tenantId, poolId, retentionDays }) => ({
          tenantId,
          poolId,
          failedBefore: new Date(now - retentionDays * dayMs),
        }));
        for (const remove of [store.removeFailed, store.removeEnded]) {
          await runInBatches(signal, lettersAtOnce, (limit) => remove(cutoffs, limit));
        }
        last = pools.at(-1);
      } while (pools.length === poolsAtOnce);
    },
  };
}
