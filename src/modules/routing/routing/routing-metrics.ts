import type { Metrics } from "../../../platform/telemetry/index.ts";
import type { OfferEnd } from "../queues/index.ts";
import type { Outcome } from "./outcomes/outcome-store.ts";
import type { RouteOutcome } from "./route-outcome.ts";

export type RoutingMetrics = ReturnType<typeof createRoutingMetrics>;

export function createRoutingMetrics(metrics: Pick<Metrics, "tenantCounter">) {
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
  const offers = metrics.tenantCounter({
    name: "routing_offers_total",
    help: "Offers to recipients that ended, by outcome.",
    labels: ["outcome"],
  });
  return {
    decided: (tenantId: string, outcome: RouteOutcome) => decisions.inc(tenantId, { outcome }),
    /** An item ended. */
    ended: (tenantId: string, status: Outcome["status"]) => outcomes.inc(tenantId, { status }),
    /** A recipient answered an offer, or it ended without an answer. */
    offerEnded: (tenantId: string, outcome: OfferEnd["outcome"]) => offers.inc(tenantId, { outcome }),
  };
}
