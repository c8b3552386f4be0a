import { type Failure, fail } from "../../../errors/index.ts";
import type { Call, Interceptor } from "../../call.ts";
import { watch } from "../../stream.ts";
import { ownLimit } from "../tenant.ts";

interface Limits {
  /** How many calls at once on this node; 0 for no limit. */
  readonly global: number;
  /** How many calls of one tenant at once on this node; 0 for no limit. */
  readonly perTenant: number;
}

interface Concurrency {
  /** Step 10: no more calls run at once than the settings allow; a stream counts until its end. */
  readonly step: Interceptor;
  /** The refusal of a call that would find no place now; asked before its body is read. */
  refusal(call: Call): Failure | undefined;
}

/** The calls of a tenant that run, and how many may. */
interface Running {
  count: number;
  max: number;
}

/** Counts the calls that run on this node. */
export function concurrency({ global, perTenant }: Limits): Concurrency {
  let running = 0;
  const runningByTenant = new Map<string, Running>();

  function refusalFor(ofTenant: Running | undefined): Failure | undefined {
    if (global > 0 && running >= global) return busy("The instance is at its limit of concurrent requests.");
    if (ofTenant !== undefined && ofTenant.max > 0 && ofTenant.count >= ofTenant.max) {
      return busy("The tenant is at its limit of concurrent requests.");
    }
    return undefined;
  }

  return {
    refusal: (call) => refusalFor(runningByTenant.get(call.tenantId ?? "")),
    step: async (call, next) => {
      const tenant = call.tenantId ?? "";
      const max = ownLimit(perTenant, call.standing, "api.max_concurrent_requests_per_tenant");
      if (global === 0 && max === 0) return next(call);
      const ofTenant = runningByTenant.get(tenant) ?? { count: 0, max };
      ofTenant.max = max;
      const refusal = refusalFor(ofTenant);
      if (refusal !== undefined) throw refusal;
      running++;
      ofTenant.count++;
      runningByTenant.set(tenant, ofTenant);
      const release = () => {
        running--;
        ofTenant.count--;
        if (ofTenant.count === 0) runningByTenant.delete(tenant);
      };
      try {
        return watch(await next(call), { onEnd: release });
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

function busy(why: string): Failure {
  return fail("UNAVAILABLE", { public: why, headers: { "retry-after": "1" } });
}
