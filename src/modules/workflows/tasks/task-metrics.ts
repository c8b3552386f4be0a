import type { Metrics } from "../../../platform/telemetry/index.ts";

/** The changes of tasks that are counted. */
type TaskChange =
  | "leased"
  | "dispatched"
  | "completed"
  | "failed"
  | "lost"
  | "incompatible"
  | "released"
  | "returned"
  | "stale";

export type TaskMetrics = ReturnType<typeof createTaskMetrics>;

export function createTaskMetrics(metrics: Pick<Metrics, "counter" | "histogram">) {
  const changes = metrics.counter({
    name: "workflow_task_changes_total",
    help: "Changes of workflow tasks, by kind of change.",
    labels: ["change"],
  });
  const heartbeats = metrics.counter({
    name: "workflow_task_heartbeats_total",
    help: "Heartbeats of workflow tasks, by status.",
    labels: ["status"],
  });
  const polls = metrics.histogram({
    name: "workflow_task_poll_duration_seconds",
    help: "Time from a poll to its response, including the wait for tasks, by whether it returned tasks.",
    labels: ["result"],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 10, 20],
  });
  return {
    /**
     * leased: a worker received it. dispatched: it was leased when it was created. returned: it was leased for a worker that
     * did not receive it. stale: a report came after its attempt had ended.
     */
    changed(change: TaskChange, count = 1) {
      if (count > 0) changes.inc({ change }, count);
    },
    heartbeat: (status: string) => heartbeats.inc({ status }),
    polled: (seconds: number, hasTasks: boolean) => polls.observe({ result: hasTasks ? "tasks" : "empty" }, seconds),
  };
}
