import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { EndStatus } from "./domain/run.ts";

export type RunMetrics = ReturnType<typeof createRunMetrics>;

export function createRunMetrics(metrics: Pick<Metrics, "counter" | "tenantCounter" | "histogram">) {
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
    started: (tenantId: string) => starts.inc(tenantId),
    ended: (tenantId: string, status: EndStatus) => ends.inc(tenantId, { status }),
    advanced: (count: number) => advances.inc({}, count),
    /** A run was advanced by time, this long after its time had come. */
    woken: (lateSeconds: number) => lateness.observe({}, lateSeconds),
  };
}
