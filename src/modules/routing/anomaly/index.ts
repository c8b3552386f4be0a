/**
 * Detects anomalies in the outcomes of pools and recipients, and acts on them.
 *
 * window: a time interval with the aggregated outcomes of that time. baseline: the windows that define normal
 * behaviour. finding: a metric that is anomalous in two of the last three windows. anomaly: a reported finding with
 * the actions taken; the same finding is reported again only after a cool-down. pause: the time in which a recipient gets no work
 * because of an anomaly; it ends by itself if the pool says so.
 */
import { anomalyHandlers } from "./handler.ts";
import { type AnomalyJobDependencies, anomalyJobs } from "./jobs.ts";

export type { MonitoredPools } from "./pool-monitor.ts";

/** The public API of the module. */
export type Anomalies = ReturnType<typeof createAnomalies>;

export function createAnomalies(parts: AnomalyJobDependencies) {
  return { handlers: anomalyHandlers(), jobs: anomalyJobs(parts) };
}
