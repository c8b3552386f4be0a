/**
 * Analytics: queries of tenants to the metrics store that scrapes the nodes.
 *
 * catalogue: the metrics of the registry that can be queried. series: the values of one metric and one combination of labels.
 * selector: the part of a query that names series. scoped: restricted to the series of one tenant. window: the time before each
 * point from which a selector takes values.
 */

import type { PlatformServices } from "../../area.ts";
import { analyticsHandlers } from "./handler.ts";
import { createPrometheusClient } from "./prometheus-client.ts";
import { createAnalyticsService } from "./service.ts";

export { isPrometheusReachable } from "./prometheus-client.ts";

type Dependencies = Pick<PlatformServices, "config" | "metrics" | "log">;

export function createAnalytics({ config, metrics, log }: Dependencies) {
  const prometheus = createPrometheusClient({
    url: config["analytics.prometheus_url"],
    token: config["analytics.prometheus_token"],
    log,
  });
  const allowUnscoped = config["analytics.allow_unscoped_metrics"];
  return { handlers: analyticsHandlers(createAnalyticsService({ metrics, prometheus, allowUnscoped })) };
}
