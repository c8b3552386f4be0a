import type { TenantId } from "../../../platform/access/index.ts";
import { BoundedCache } from "../../../platform/cache/bounded-cache.ts";
import { type Definitions, defaultRetry } from "../definitions/index.ts";
import { createPlan, type Plan } from "./domain/engine/plan.ts";

/** The compiled plans of published versions. */
export type PlanCache = ReturnType<typeof createPlanCache>;

const plansMax = 2000;

/** Creates the cache. A published version never changes, so its plan is valid forever. */
export function createPlanCache(definitions: Pick<Definitions, "resolve">) {
  const plans = new BoundedCache<string, Plan>(plansMax);
  return {
    /** The plan of a version, whether it is active or not. */
    async get(tenantId: TenantId, definitionId: string, version: number): Promise<Plan> {
      const key = `${tenantId}:${definitionId}:${version}`;
      const known = plans.get(key);
      if (known !== undefined) return known;
      const published = await definitions.resolve(tenantId, definitionId, version);
      if (published === undefined) throw new Error(`The version ${version} of ${definitionId} does not exist.`);
      const plan = createPlan(published.definition, definitionId, version, defaultRetry);
      plans.set(key, plan);
      return plan;
    },
  };
}
