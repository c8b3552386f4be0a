import type { TenantId } from "../../../platform/access/index.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { HistoryRecorder } from "../../history-source.ts";
import type { EndStatus } from "./domain/run.ts";

interface CountedRun {
  readonly tenantId: TenantId;
  readonly definitionId: string;
}

/** What the history counts an ended run as. Nobody waits for a cancelled one. */
const results = { succeeded: "completed", failed: "failed", timed_out: "failed", cancelled: undefined } as const;

export type RunMetrics = ReturnType<typeof createRunMetrics>;

/** Counts runs in metrics, and for charts in the history of their definitions. */
export function createRunMetrics(
  metrics: Pick<Metrics, "counter" | "tenantCounter" | "histogram">,
  history: HistoryRecorder,
) {
  const starts = metrics.tenantCounter({ name: "workflow_runs_started_total", help: "Workflow runs that started." });
  const ends = metrics.tenantCounter({
    name: "workflow_runs_ended_total",
    help: "Workflow runs that ended, by status.",
    labels: ["status"],
  });
  const advances = metrics.counter({
    name: "workflow_advances_total",
    help: "Stored advances of workflow runs.",
  });
  const lateness = metrics.histogram({
    name: "workflow_wake_lateness_seconds",
    help: "How late workflow runs were advanced whose time had come.",
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 5, 30],
  });
  return {
    started({ tenantId, definitionId }: CountedRun): void {
      starts.inc(tenantId);
      history.count(tenantId, "workflow", definitionId, "started");
    },
    ended({ tenantId, definitionId }: CountedRun, status: EndStatus): void {
      ends.inc(tenantId, { status });
      const result = results[status];
      if (result !== undefined) history.count(tenantId, "workflow", definitionId, result);
    },
    advanced: (count: number) => advances.inc({}, count),
    /** A run was advanced by time, this long after its time had come. */
    woken: (lateSeconds: number) => lateness.observe({}, lateSeconds),
  };
}
