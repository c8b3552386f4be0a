import { create } from "@bufbuild/protobuf";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import {
  GetAnalyticsCatalogResponseSchema,
  QueryAnalyticsResponseSchema,
  type AnalyticsService as Rpc,
} from "../../../../gen/service/api/analytics_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { limits } from "./domain/limits.ts";
import { aggregations, functions } from "./domain/promql/vocabulary.ts";
import type { AnalyticsService } from "./service.ts";

export function analyticsHandlers(service: AnalyticsService): Handlers<typeof Rpc> {
  return {
    async queryAnalytics(context, { query, start, end, stepS }) {
      const requested = { startMs: start && timestampMs(start), endMs: end && timestampMs(end), stepS };
      const { executedQuery, range, series } = await service.query(context, query, requested);
      return create(QueryAnalyticsResponseSchema, {
        result: {
          executedQuery,
          start: timestampFromMs(range.startMs),
          end: timestampFromMs(range.endMs),
          stepS: range.stepS,
          series: series.map(({ metric, labels, points }) => ({
            metric,
            labels,
            points: points.map(({ atMs, value }) => ({ at: timestampFromMs(atMs), value })),
          })),
        },
      });
    },

    async getAnalyticsCatalog() {
      const { metrics } = service.readCatalogue();
      return create(GetAnalyticsCatalogResponseSchema, {
        catalog: {
          metrics: metrics.map(({ name, type, help, labels, series, tenantLabel }) => ({
            ...{ name, type, description: help, labels: [...labels], series: [...series] },
            scope: tenantLabel === undefined ? "deployment" : "tenant",
          })),
          functions: [...functions.keys()].sort(),
          aggregations: [...aggregations.keys()].sort(),
          limits: {
            ...limits,
            windowSMax: limits.windowMsMax / 1000,
            timeoutS: limits.timeoutMs / 1000,
          },
        },
      });
    },
  };
}
