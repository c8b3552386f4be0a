import { fail } from "../errors/index.ts";
import type { Interceptor } from "./call.ts";
import { watch } from "./stream.ts";
import { ownLimit } from "./tenant.ts";

interface Limits {
  /** How many calls at once on this node; 0 for no limit. */
  readonly global: number;
  /** How many calls of one tenant at once on this node; 0 for no limit. */
  readonly perTenant: number;
}

/** Step 10: no more calls run at once than the settings allow; a stream counts until its end. */
export function concurrency({ global, perTenant }: Limits): Interceptor {
  let running = 0;
  const runningByTenant = new Map<string, number>();
  return async (call, next) => {
    const tenant = call.tenantId ?? "";
    const tenantMax = ownLimit(perTenant, call.standing, "api.max_concurrent_requests_per_tenant");
    if (global === 0 && tenantMax === 0) return next(call);
    const ofTenant = runningByTenant.get(tenant) ?? 0;
    if (global > 0 && running >= global) throw busy("The instance is at its limit of concurrent requests.");
    if (tenantMax > 0 && ofTenant >= tenantMax) throw busy("The tenant is at its limit of concurrent requests.");
    running++;
    runningByTenant.set(tenant, ofTenant + 1);
    const release = () => {
      running--;
      const left = runningByTenant.get(tenant)! - 1;
      if (left === 0) runningByTenant.delete(tenant);
      else runningByTenant.set(tenant, left);
    };
    try {
      return watch(await next(call), { onEnd: release });
    } catch (error) {
      release();
      throw error;
    }
  };
}

function busy(why: string) {
  return fail("UNAVAILABLE", { public: why, headers: { "retry-after": "1" } });
}
