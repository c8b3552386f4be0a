import type { Clock } from "../../../platform/clock/clock.ts";
import type { Sql } from "../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../platform/jobs/index.ts";
import { importStore } from "./import-store.ts";
import { subscriptionStore } from "./subscription-store.ts";

const hourMs = 3_600_000;
/** Ended subscriptions and imports are kept this long. No broadcast takes longer. */
const retentionMs = 7 * 24 * hourMs;
const batchSize = 5000;

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  /** The tenant that instance-wide jobs run under. */
  readonly platformTenantId: () => string;
}

/** Deletes ended subscriptions once no broadcast can need them, and ended imports. Ends imports whose job has been lost. */
export function deleteEndedSubscriptionsJob({ sql, clock, platformTenantId }: Dependencies): JobKind {
  return {
    kind: "topics.delete_left",
    every: { ms: hourMs, tenantId: platformTenantId },
    async handler({ signal }) {
      const nowMs = clock.now();
      const before = new Date(nowMs - retentionMs);
      await importStore(sql).failStale(before, new Date(nowMs));
      await runInBatches(signal, batchSize, (limit) => subscriptionStore(sql).deleteEnded(before, limit));
      await runInBatches(signal, batchSize, (limit) => importStore(sql).deleteEnded(before, limit));
    },
  };
}
