import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { Verdict } from "./domain/evaluation.ts";

/** The metrics of health reports. */
export type HealthMetrics = ReturnType<typeof createHealthMetrics>;

/** Creates the metrics. Reports from the cache are not counted. */
export function createHealthMetrics(metrics: Pick<Metrics, "counter">) {
  const reports = metrics.counter({
    name: "operational_health_reports_total",
    help: "Health reports that were computed, by verdict.",
    labels: ["verdict"],
  });
  return { computed: (verdict: Verdict) => reports.inc({ verdict }) };
}
