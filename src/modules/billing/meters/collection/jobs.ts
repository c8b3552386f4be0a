import type { Clock } from "../../../../platform/clock/clock.ts";
import type { Sql } from "../../../../platform/db/index.ts";
import { type JobKind, runInBatches } from "../../../../platform/jobs/index.ts";
import { ageMsMax } from "../domain/usage.ts";
import { serviceUsageStore, usageStore } from "../store.ts";
import type { Collector } from "./collector.ts";

interface Dependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly platformTenantId: () => string;
  readonly collector: Collector;
}

const minuteMs = 60_000;
const batchSize = 5000;

/** The jobs that count the service's own usage, and delete usage that is too old to be invoiced. */
export function usageJobs({ sql, clock, platformTenantId, collector }: Dependencies): JobKind[] {
  return [
    {
      kind: "billing.collect_usage",
      every: { ms: minuteMs, tenantId: platformTenantId },
      handler: ({ signal }) => collector.collect(clock.now(), signal),
    },
    {
      kind: "billing.delete_expired_usage",
      every: { ms: 60 * minuteMs, tenantId: platformTenantId },
      async handler({ signal }) {
        const before = new Date(clock.now() - ageMsMax);
        await runInBatches(signal, batchSize, (limit) => usageStore(sql).deleteExpired(before, limit));
        await runInBatches(signal, batchSize, (limit) => serviceUsageStore(sql).deleteExpired(before, limit));
      },
    },
  ];
}
