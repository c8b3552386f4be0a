import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { Verdict } from "./domain/evaluation.ts";

/** The metrics of health reports. */
export interface HealthMetrics {
  computed(verdict: Verdict): void;
}

/** Creates the metrics. Reports from the cache are not counted. */
export function createHealthMetrics(metrics: Pick<Metrics, "counter">): HealthMetrics {
  const reports = metrics.counter({
    name: "operational_health_reports_total",
    help: "Health reports that were computed, by verdict.",
    labels: ["verdict"],
  });
  return { computed: (verdict) => reports.inc({ verdict }) };
}
