import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { AppendOutcome } from "./append/record-appender.ts";

/** The metrics of streams. They carry no payload. */
export type StreamMetrics = ReturnType<typeof createStreamMetrics>;

export function createStreamMetrics(metrics: Pick<Metrics, "counter" | "gauge">) {
  const appends = metrics.counter({
    name: "workflow_stream_appends_total",
    help: "Appends to workflow streams, by outcome.",
    labels: ["outcome"],
  });
  const bytes = metrics.counter({
    name: "workflow_stream_appended_bytes_total",
    help: "Bytes appended to workflow streams.",
  });
  let open = 0;
  metrics.gauge({
    name: "workflow_stream_subscriptions",
    help: "Open subscriptions of workflow streams on this node.",
    collect: (gauge) => gauge.set(open),
  });
  const fetched = metrics.counter({
    name: "workflow_stream_fetched_records_total",
    help: "Records read from the database for subscriptions: once for all subscribers (tail), or for one (backfill).",
    labels: ["source"],
  });
  const sent = metrics.counter({
    name: "workflow_stream_sent_records_total",
    help: "Records sent to subscribers of workflow streams.",
  });
  const delivered = metrics.counter({
    name: "workflow_stream_deliveries_total",
    help: "Events of input records for workflow runs, by outcome.",
    labels: ["outcome"],
  });
  const pruned = metrics.counter({
    name: "workflow_stream_pruned_records_total",
    help: "Records of workflow streams that retention removed.",
  });
  return {
    /** Appends were carried out or refused. */
    appended(outcome: AppendOutcome["kind"], size: number, count = 1) {
      appends.inc({ outcome }, count);
      if (outcome === "appended") bytes.inc({}, size);
    },
    /** A subscription started (1) or ended (-1). */
    subscribed(change: 1 | -1) {
      open += change;
    },
    /** Records were read from the database for subscriptions. */
    fetched: (source: "tail" | "backfill", count: number) => fetched.inc({ source }, count),
    /** Records were sent to subscribers. */
    sent: (count: number) => sent.inc({}, count),
    /** An event of an input record was delivered to its run, or could not be. */
    delivered: (outcome: "delivered" | "run_ended" | "deferred") => delivered.inc({ outcome }),
    /** Retention removed records. */
    pruned: (count: number) => pruned.inc({}, count),
  };
}
