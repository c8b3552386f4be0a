import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { AppendOutcome } from "./append/record-appender.ts";

/** The metrics of streams. They carry no payload. */
export interface StreamMetrics {
  /** Appends were carried out or refused. */
  appended(outcome: AppendOutcome["kind"], bytes: number, count?: number): void;
  /** A subscription started (1) or ended (-1). */
  subscribed(change: 1 | -1): void;
  /** Records were read from the database for subscriptions. */
  fetched(source: "tail" | "backfill", count: number): void;
  /** Records were sent to subscribers. */
  sent(count: number): void;
  /** An event of an input record was delivered to its run, or could not be. */
  delivered(outcome: "delivered" | "run_ended" | "deferred"): void;
  /** Retention removed records. */
  pruned(count: number): void;
}

export function createStreamMetrics(metrics: Pick<Metrics, "counter" | "gauge">): StreamMetrics {
  const appends = metrics.counter({
    name: "workflow_stream_appends_total",
    help: "Appends to workflow streams, by outcome.",
    labels: ["outcome"],
  });
  const bytes = metrics.counter({
    name: "workflow_stream_appended_bytes_total",
    help: "Bytes appended to workflow streams.",
    labels: [],
  });
  let open = 0;
  metrics.gauge({
    name: "workflow_stream_subscriptions",
    help: "Open subscriptions of workflow streams on this node.",
    labels: [],
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
    labels: [],
  });
  const delivered = metrics.counter({
    name: "workflow_stream_deliveries_total",
    help: "Events of input records for workflow runs, by outcome.",
    labels: ["outcome"],
  });
  const pruned = metrics.counter({
    name: "workflow_stream_pruned_records_total",
    help: "Records of workflow streams that retention removed.",
    labels: [],
  });
  return {
    appended(outcome, size, count = 1) {
      appends.inc({ outcome }, count);
      if (outcome === "appended") bytes.inc({}, size);
    },
    subscribed(change) {
      open += change;
    },
    fetched: (source, count) => fetched.inc({ source }, count),
    sent: (count) => sent.inc({}, count),
    delivered: (outcome) => delivered.inc({ outcome }),
    pruned: (count) => pruned.inc({}, count),
  };
}
