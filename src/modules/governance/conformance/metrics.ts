import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { CaseResult } from "./domain/case-result.ts";
import type { ConformanceRun } from "./domain/run.ts";

/** The metrics of conformance runs. */
export type ConformanceMetrics = ReturnType<typeof createConformanceMetrics>;

export function createConformanceMetrics(metrics: Metrics) {
  const runs = metrics.counter({
    name: "conformance_runs_total",
    help: "Conformance runs that ended, by suite and state.",
    labels: ["suite", "state"],
  });
  const cases = metrics.counter({
    name: "conformance_cases_total",
    help: "Conformance cases of completed runs, by suite and status.",
    labels: ["suite", "status"],
  });
  return {
    ended({ suiteId, state }: ConformanceRun): void {
      runs.inc({ suite: suiteId, state });
    },
    decided({ suiteId }: ConformanceRun, results: readonly CaseResult[]): void {
      for (const { status } of results) cases.inc({ suite: suiteId, status });
    },
  };
}
