import type { Metrics } from "../../../../platform/telemetry/index.ts";

export type DeadLetterMetrics = ReturnType<typeof createDeadLetterMetrics>;

/** Creates the metrics of changes of dead letters. */
export function createDeadLetterMetrics(metrics: Pick<Metrics, "counter">) {
  const changes = metrics.counter({
    name: "workflow_dead_letter_changes_total",
    help: "Changes of dead letters of workflow runs, by kind of change.",
    labels: ["change"],
  });
  return {
    changed(change: "replayed" | "skipped" | "quarantined" | "released" | "discarded", count = 1) {
      if (count > 0) changes.inc({ change }, count);
    },
  };
}
