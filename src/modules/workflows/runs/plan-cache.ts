import type { TenantId } from "../../../platform/access/index.ts";
import { type Definitions, defaultRetry } from "../definitions/index.ts";
import { createPlan, type Plan } from "./domain/engine/plan.ts";

/** The compiled plans of published versions. */
export interface PlanCache {
  /** The plan of a version, whether it is active or not. */
  get(tenantId: TenantId, definitionId: string, version: number): Promise<Plan>;
}

const plansMax = 2000;

/** Creates the cache. A published version never changes, so its plan is valid forever. */
export function createPlanCache(definitions: Pick<Definitions, "resolve">): PlanCache {
  const plans = new Map<string, Plan>();
  return {
    async get(tenantId, definitionId, version) {
      const key = `${tenantId}:${definitionId}:${version}`;
      let plan = plans.get(key);
      // Moves the entry to the end: the first entry is the one that was not used for longest.
      if (plan !== undefined) plans.delete(key);
      if (plan === undefined) {
        const published = await definitions.resolve(tenantId, definitionId, version);
        if (published === undefined) throw new Error(`The version ${version} of ${definitionId} does not exist.`);
        plan = createPlan(published.definition, definitionId, version, defaultRetry);
        if (plans.size >= plansMax) plans.delete(plans.keys().next().value!);
      }
      plans.set(key, plan);
      return plan;
    },
  };
}
