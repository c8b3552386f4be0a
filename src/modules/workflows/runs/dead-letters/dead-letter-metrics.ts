import type { Metrics } from "../../../../platform/telemetry/index.ts";
import type { deadLetterStore } from "./dead-letter-store.ts";

export type DeadLetterMetrics = ReturnType<typeof createDeadLetterMetrics>;

/** The gauge counts up to this number, so that a scrape stays cheap. */
const countMax = 10_000;

/** Creates the metrics of dead letters. The number of open ones is read at every scrape. */
export function createDeadLetterMetrics(
  metrics: Pick<Metrics, "counter" | "gauge">,
  store: () => Pick<ReturnType<typeof deadLetterStore>, "countOpen">,
) {
  metrics.gauge({
    name: "workflow_dead_letters_open",
    help: "Dead letters of workflow runs that are neither replayed nor quarantined nor discarded, up to 10,000.",
    isShared: true,
    async collect(gauge) {
      // Without a database the other metrics are still shown.
      const count = await store()
        .countOpen(countMax)
        .catch(() => undefined);
      if (count !== undefined) gauge.set(count);
    },
  });
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
