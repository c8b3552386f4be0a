/**
 * Health: reports whether an environment works as it should, why not, and what to do.
 *
 * source: a part of the service whose state reports read. heartbeat: a source's sign of life on a node, stored by the collector.
 * dependency: something that the service needs. snapshot: the state of a dependency, as a node saw it. signal: a number that the
 * ruleset compares with thresholds. finding: a signal that is not healthy; it has a reason code, and each code has a runbook.
 * verdict: the worst finding; unknown if a report cannot be trusted. ruleset: the pinned thresholds and classifications.
 */
import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { PlatformServices } from "../../area.ts";
import type { HealthSources } from "../../health-source.ts";
import { createCollector, type DependencyChecks } from "./collector.ts";
import type { Report } from "./domain/report.ts";
import { healthHandlers } from "./handler.ts";
import { createHealthPage } from "./page/health-page.ts";
import { createReportCache } from "./report-cache.ts";
import { createHealthService, type HealthEnvironments } from "./service.ts";

/** The module's dependencies on other areas. */
export interface HealthParts {
  readonly environments: HealthEnvironments;
  readonly sources: () => HealthSources;
  readonly dependencies: DependencyChecks;
}

interface Dependencies extends Pick<PlatformServices, "db" | "clock" | "log">, HealthParts {
  readonly metrics: Pick<Metrics, "counter">;
  readonly retentionDays: number;
}

export function createHealth(dependencies: Dependencies) {
  const service = createHealthService({ ...dependencies, cache: createReportCache<Report>() });
  return {
    handlers: healthHandlers(service),
    collector: createCollector(dependencies),
    /** Renders the report for people. */
    page: createHealthPage(),
  };
}
