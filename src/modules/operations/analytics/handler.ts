import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AnalyticsService as Rpc } from "../../../../gen/service/api/analytics_pb.ts";
import type { Handlers } from "../../../chain/handlers.ts";
import { limits } from "./domain/limits.ts";
import { aggregations, functions } from "./domain/promql/vocabulary.ts";
import type { AnalyticsService } from "./service.ts";

export function analyticsHandlers(service: AnalyticsService): Handlers<typeof Rpc> {
  return {
    async queryAnalytics(context, { query, start, end, stepS }) {
      const requested = { startMs: start && timestampMs(start), endMs: end && timestampMs(end), stepS };
      const { executedQuery, range, series } = await service.query(context, query, requested);
      return {
        result: {
          executedQuery,
          start: new Date(range.startMs),
          end: new Date(range.endMs),
          stepS: range.stepS,
          series: series.map(({ points, ...rest }) => ({
            ...rest,
            points: points.map(({ atMs, value }) => ({ at: new Date(atMs), value })),
          })),
        },
      };
    },

    async getAnalyticsCatalog() {
      const { metrics } = service.readCatalogue();
      return {
        catalog: {
          metrics: metrics.map((metric) => ({
            ...metric,
            description: metric.help,
            scope: metric.tenantLabel === undefined ? "deployment" : "tenant",
          })),
          functions: [...functions.keys()].sort(),
          aggregations: [...aggregations.keys()].sort(),
          limits: { ...limits, windowSMax: limits.windowMsMax / 1000, timeoutS: limits.timeoutMs / 1000 },
        },
      };
    },
  };
}
