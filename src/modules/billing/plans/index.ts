/**
 * Plans: what tenants can subscribe to.
 *
 * Terms: what a version of a plan costs and grants. Version: terms with a number, which never change. Price: a line of
 * future invoices, flat or by the usage of a meter.
 */
import { planHandlers } from "./handler.ts";
import { createPlanService, type PlanParts } from "./service.ts";

export type { Plan, PlanVersion } from "./domain/plan.ts";
export type { Interval, PlanTerms, Price, PriceTier } from "./domain/terms.ts";
export type { PlanRef } from "./store.ts";

/** The module's public API. */
export type Plans = ReturnType<typeof createPlans>;

export function createPlans(parts: PlanParts) {
  const service = createPlanService(parts);
  return {
    handlers: planHandlers(service, parts.platformTenantId),
    requirePlan: service.requirePlan,
    findVersion: service.findVersion,
    findVersions: service.findVersions,
  };
}
