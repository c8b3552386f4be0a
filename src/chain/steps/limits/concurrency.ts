import { type Failure, fail } from "../../../errors/index.ts";
import { shareOf } from "../../../platform/process-share/process-share.ts";
import type { Call, Next } from "../../call.ts";
import { observeResponse } from "../../stream.ts";
import { effectiveLimit } from "../tenant.ts";

interface Limits {
  /** Concurrent calls on this node; 0 means no limit. */
  readonly global: number;
  /** Concurrent calls of one tenant on this node; 0 means no limit. */
  readonly perTenant: number;
}

/** A tenant's running calls and its limit. */
interface Running {
  count: number;
  max: number;
}

/** Limits the concurrent calls on this node. */
export function concurrency({ global, perTenant }: Limits) {
  let running = 0;
  const runningByTenant = new Map<string, Running>();

  function refusalFor(ofTenant: Running | undefined): Failure | undefined {
    if (global > 0 && running >= global) return busy("The instance has reached its limit of concurrent requests.");
    if (ofTenant !== undefined && ofTenant.max > 0 && ofTenant.count >= ofTenant.max) {
      return busy("The tenant has reached its limit of concurrent requests.");
    }
    return undefined;
  }

  return {
    /** The refusal of a call that exceeds the limit now. It is checked before the body is read. */
    refusal: (call: Call) => refusalFor(runningByTenant.get(call.tenantId ?? "")),
    /** Step 10: limits the concurrent calls. A stream counts until it ends. */
    step: async (call: Call, next: Next) => {
      const tenant = call.tenantId ?? "";
      const max = effectiveLimit(perTenant, call.tenantState, "api.max_concurrent_requests_per_tenant", shareOf);
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
        return observeResponse(await next(call), { onEnd: release });
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

function busy(reason: string): Failure {
  return fail("UNAVAILABLE", { public: reason, headers: { "retry-after": "1" } });
}
