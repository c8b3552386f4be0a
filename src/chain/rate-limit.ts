import { fail } from "../errors/index.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { RateLimiter, Verdict } from "../platform/ratelimit/index.ts";
import type { Call, Interceptor } from "./call.ts";
import { ownLimit } from "./tenant.ts";

interface Parts {
  /** Nothing is limited without one. */
  readonly limiter: RateLimiter | undefined;
  /** Tokens a second for the whole instance; 0 for no limit. */
  readonly globalRps: number;
  /** Tokens a second for each tenant; 0 for no limit. */
  readonly tenantRps: number;
  readonly burstS: number;
  /** Takes one call from a tenant's daily quota, or throws. */
  readonly takeQuota: (tenantId: TenantId, operation: string, limit: number) => Promise<void>;
}

/** Step 11: nobody takes more than their share: of this second, by cost, and of this day, by count. */
export function rateLimit({ limiter, globalRps, tenantRps, burstS, takeQuota }: Parts): Interceptor {
  const take = async (call: Call, key: string, rps: number) => {
    const verdict = await limiter!.take(key, call.operation.tokenCost, { rps, burst: rps * burstS });
    const told = call.responseHeaders["x-ratelimit-remaining"];
    // Of two limits the one that ends sooner is worth telling.
    if (!verdict.allowed || told === undefined || verdict.remaining < Number(told)) tell(call, verdict, rps);
    if (!verdict.allowed) throw limited(verdict);
  };
  const takeAll = async (call: Call, quota: number | undefined) => {
    const { tenantId, standing } = call;
    if (limiter !== undefined) {
      // The tenant's own first: what one tenant is refused must not be taken from everybody's.
      const rps = ownLimit(tenantRps, standing, "ratelimit.tenant_rps");
      if (rps > 0 && tenantId !== undefined) await take(call, `tenant:${tenantId}`, rps);
      if (globalRps > 0) await take(call, "global", globalRps);
    }
    if (quota !== undefined) await takeQuota(tenantId!, "api.call", quota);
  };
  return (call, next) => {
    const quota = call.standing?.quotas["api.call"];
    if (limiter === undefined && quota === undefined) return next(call);
    return takeAll(call, quota).then(() => next(call));
  };
}

/** Says how much is left: the headers that are in use, and beside them those of the IETF. */
function tell({ responseHeaders }: Call, { limit, remaining, resetS }: Verdict, rps: number): void {
  responseHeaders["x-ratelimit-limit"] = String(limit);
  responseHeaders["x-ratelimit-remaining"] = String(remaining);
  responseHeaders["ratelimit-policy"] = `"default";q=${limit};w=${Math.ceil(limit / rps)}`;
  responseHeaders.ratelimit = `"default";r=${remaining};t=${resetS}`;
}

function limited({ retryAfterS }: Verdict) {
  return fail("RATE_LIMITED", {
    public: `Too many requests: try again in ${retryAfterS} s.`,
    headers: { "retry-after": String(retryAfterS) },
  });
}
