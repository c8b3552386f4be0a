import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { Outcome } from "./outcomes/outcome-store.ts";
import type { RouteOutcome } from "./route-outcome.ts";

/** The metrics of routing. */
export interface RoutingMetrics {
  decided(tenantId: string, outcome: RouteOutcome): void;
  /** An item ended. */
  ended(tenantId: string, status: Outcome["status"]): void;
}

/** Creates the metrics of routing. */
export function createRoutingMetrics(metrics: Pick<Metrics, "tenantCounter">): RoutingMetrics {
  const decisions = metrics.tenantCounter({
    name: "routing_decisions_total",
    help: "Stored routing decisions, by outcome.",
    labels: ["outcome"],
  });
  const outcomes = metrics.tenantCounter({
    name: "routing_outcomes_total",
    help: "Items that workers ended, by status.",
    labels: ["status"],
  });
  return {
    decided: (tenantId, outcome) => decisions.inc(tenantId, { outcome }),
    ended: (tenantId, status) => outcomes.inc(tenantId, { status }),
  };
}
