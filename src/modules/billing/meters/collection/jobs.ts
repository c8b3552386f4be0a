import { type JobKind, type RetentionDependencies, retentionJob } from "../../../../platform/jobs/index.ts";
import { ageMsMax } from "../domain/usage.ts";
import type { Collector } from "./collector.ts";

const minuteMs = 60_000;

/** The jobs that count the service's own usage, and delete usage that is too old to be invoiced. */
export function usageJobs(collector: Collector, dependencies: RetentionDependencies): JobKind[] {
  const { clock, platformTenantId } = dependencies;
  return [
    {
      kind: "billing.collect_usage",
      every: { ms: minuteMs, tenantId: platformTenantId },
      handler: ({ signal }) => collector.collect(clock.now(), signal),
    },
    retentionJob(dependencies, {
      ...{ kind: "billing.delete_expired_usage", everyMs: 60 * minuteMs, batchSize: 5000 },
      rows: [
        { ageMs: ageMsMax, table: "billing_usage", column: "at" },
        { ageMs: ageMsMax, table: "billing_service_usage", column: "window_start" },
      ],
    }),
  ];
}
