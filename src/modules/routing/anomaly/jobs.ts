import { type JobKind, retentionJob } from "../../../platform/jobs/index.ts";
import { type PauseEndDependencies, resumeEndedPauses } from "./pause-end.ts";
import { createPoolMonitor, type PoolMonitorDependencies } from "./pool-monitor.ts";

const scanIntervalMs = 60_000;
const resumeIntervalMs = 15_000;
const dayMs = 86_400_000;
/** How long anomalies are stored. */
const retentionDays = 90;

export interface AnomalyJobDependencies extends PoolMonitorDependencies {
  readonly pools: PoolMonitorDependencies["pools"] & PauseEndDependencies["pools"];
  /** The tenant that instance-wide jobs run under. */
  readonly platformTenantId: () => string;
}

/** Background jobs: detecting anomalies, ending pauses, and deleting expired anomalies. */
export function anomalyJobs(dependencies: AnomalyJobDependencies): JobKind[] {
  const { clock, platformTenantId } = dependencies;
  const monitor = createPoolMonitor(dependencies);
  let lastScanAtMs: number | undefined;
  return [
    {
      kind: "anomalies.detect",
      every: { ms: scanIntervalMs, tenantId: platformTenantId },
      async handler({ signal }) {
        const nowMs = clock.now();
        // Another node may have run the last scan. A window that is scanned twice is reported once.
        await monitor.scan(lastScanAtMs ?? nowMs - 2 * scanIntervalMs, signal);
        lastScanAtMs = nowMs;
      },
    },
    {
      kind: "anomalies.resume",
      every: { ms: resumeIntervalMs, tenantId: platformTenantId },
      async handler({ signal }) {
        await resumeEndedPauses(dependencies, signal);
      },
    },
    retentionJob(dependencies, {
      ...{ kind: "anomalies.delete_expired", everyMs: dayMs, batchSize: 5000 },
      rows: [{ ageMs: retentionDays * dayMs, table: "anomalies", column: "detected_at" }],
    }),
  ];
}
