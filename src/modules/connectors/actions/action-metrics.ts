import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { AnswerClass } from "../manifests/index.ts";
import type { ExecutionStatus } from "./domain/execution.ts";

/** The metrics of executions. */
export type ActionMetrics = ReturnType<typeof createActionMetrics>;

/** Creates the metrics of executions. */
export function createActionMetrics(metrics: Pick<Metrics, "counter" | "tenantCounter" | "histogram">) {
  const requests = metrics.histogram({
    name: "connector_request_seconds",
    help: "Requests to providers of connector actions, by the class of the answer.",
    labels: ["class"],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const executions = metrics.tenantCounter({
    name: "connector_executions_total",
    help: "Executions of connector actions that ended, by status and origin.",
    labels: ["status", "origin"],
  });
  const limits = metrics.counter({
    name: "connector_rate_limits_total",
    help: "Requests that a provider's limit delayed or refused before they were sent.",
    labels: ["outcome"],
  });
  const abandoned = metrics.counter({
    name: "connector_executions_abandoned_total",
    help: "Executions of connector actions whose node stopped before it stored their outcome.",
    labels: [],
  });
  return {
    /** A request to a provider was answered, or failed. */
    requested: (answerClass: AnswerClass, seconds: number) => requests.observe({ class: answerClass }, seconds),
    ended: (tenantId: string, status: ExecutionStatus, origin: string) => executions.inc(tenantId, { status, origin }),
    /** A provider's limit delayed or refused a request. */
    limited: (outcome: "delayed" | "refused") => limits.inc({ outcome }),
    /** Executions of nodes that died were ended. */
    swept: (count: number) => abandoned.inc({}, count),
  };
}
