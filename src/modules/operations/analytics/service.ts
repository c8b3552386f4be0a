import type { Context } from "../../../chain/call.ts";
import type { Metrics } from "../../../platform/telemetry/index.ts";
import { type Catalogue, createCatalogue } from "./domain/catalogue.ts";
import { type ResultSeries, toResultSeries } from "./domain/result.ts";
import { scopeQuery } from "./domain/scoped-query.ts";
import { type RequestedRange, resolveRange, type TimeRange } from "./domain/time-range.ts";
import type { PrometheusClient } from "./prometheus-client.ts";

interface Dependencies {
  readonly metrics: Pick<Metrics, "describe" | "histogram">;
  readonly prometheus: PrometheusClient;
  readonly allowUnscoped: boolean;
}

/** The result of a query. */
export interface AnalyticsResult {
  readonly executedQuery: string;
  readonly range: TimeRange;
  readonly series: readonly ResultSeries[];
}

export type AnalyticsService = ReturnType<typeof createAnalyticsService>;

export function createAnalyticsService({ metrics, prometheus, allowUnscoped }: Dependencies) {
  const durations = metrics.histogram({
    name: "analytics_query_seconds",
    help: "Queries to the metrics store, by outcome.",
    labels: ["outcome"],
    buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
  });

  /** Metrics are registered while the node is composed, so the catalogue is read when it is needed. */
  const readCatalogue = (): Catalogue => createCatalogue(metrics.describe(), allowUnscoped);

  return {
    readCatalogue,

    async query(
      { tenantId, nowMs, signal }: Pick<Context, "tenantId" | "nowMs" | "signal">,
      query: string,
      requested: RequestedRange,
    ): Promise<AnalyticsResult> {
      const range = resolveRange(requested, nowMs);
      const catalogue = readCatalogue();
      const executedQuery = scopeQuery(query, tenantId, catalogue);
      const end = durations.startTimer();
      try {
        const series = toResultSeries(await prometheus.queryRange(executedQuery, range, signal), tenantId, catalogue);
        end({ outcome: "succeeded" });
        return { executedQuery, range, series };
      } catch (error) {
        end({ outcome: "failed" });
        throw error;
      }
    },
  };
}
