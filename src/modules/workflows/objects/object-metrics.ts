import type { Metrics } from "../../../platform/telemetry/index.ts";

/** The metrics of large objects. */
export type ObjectMetrics = ReturnType<typeof createObjectMetrics>;

export function createObjectMetrics(metrics: Pick<Metrics, "counter">) {
  const ends = metrics.counter({
    name: "workflow_objects_ended_total",
    help: "Deliveries of large objects that ended, by outcome.",
    labels: ["outcome"],
  });
  const uploads = metrics.counter({
    name: "workflow_object_uploads_total",
    help: "Uploads of large objects, by outcome: stored, or why their bytes were refused.",
    labels: ["outcome"],
  });
  const bytesIn = metrics.counter({
    name: "workflow_object_uploaded_bytes_total",
    help: "Bytes of large objects that were stored.",
  });
  const bytesOut = metrics.counter({
    name: "workflow_object_downloaded_bytes_total",
    help: "Bytes of large objects that were sent to clients.",
  });
  const removals = metrics.counter({
    name: "workflow_objects_removed_total",
    help: "Large objects whose bytes were removed.",
  });
  return {
    ended: (outcome: "committed" | "aborted" | "expired", count = 1) => ends.inc({ outcome }, count),
    /** An upload ended: stored, or refused because of its bytes. */
    uploaded(outcome: "stored" | "too_long" | "too_short" | "digest", bytes: number) {
      uploads.inc({ outcome });
      if (outcome === "stored") bytesIn.inc(bytes);
    },
    downloaded: (bytes: number) => bytesOut.inc(bytes),
    removed: (count: number) => removals.inc(count),
  };
}
