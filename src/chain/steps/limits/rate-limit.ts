import { type Failure, fail } from "../../../errors/index.ts";
import type { TenantId } from "../../../platform/access/index.ts";
import type { RateLimiter, Verdict } from "../../../platform/ratelimit/index.ts";
import type { Call, Interceptor } from "../../call.ts";
import { ownLimit } from "../tenant.ts";
import { spentBuckets } from "./spent-buckets.ts";

interface Parts {
  /** Nothing is limited without one. */
  readonly limiter: RateLimiter | undefined;
  /** Tokens a second for the whole instance; 0 for no limit. */
  readonly globalRps: number;
  /** Tokens a second for each tenant; 0 for no limit. */
  readonly tenantRps: number;
  readonly burstS: number;
  /** Takes one call from a tenant's daily quota, or throws. */
  readonly takeQuota: (tenantId: TenantId, operation: string, limit: number) => Promise<unknown>;
}

interface RateLimit {
  /** Step 11: nobody takes more than their share: of this second, by cost, and of this day, by count. */
  readonly step: Interceptor;
  /** The refusal of a call whose bucket is known to be spent; asked before its body is read. */
  refusal(call: Call): Failure | undefined;
  /** Takes what a body costs by its size, or throws. */
  chargeBytes(call: Call, bytes: number): Promise<void> | undefined;
}

/** A large body costs a token more for each such part of it. */
const bytesPerToken = 64 * 1024;

/** Limits how fast calls come. */
export function rateLimit({ limiter, globalRps, tenantRps, burstS, takeQuota }: Parts): RateLimit {
  const spent = spentBuckets();

  async function take(call: Call, key: string, rps: number, cost: number): Promise<void> {
    const verdict = await limiter!.take(key, cost, { rps, burst: rps * burstS });
    const told = call.responseHeaders["x-ratelimit-remaining"];
    // Of two limits the one that ends sooner is worth telling.
    if (!verdict.allowed || told === undefined || verdict.remaining < Number(told)) tell(call, verdict, rps);
    if (verdict.allowed) return;
    spent.note(key, cost, rps, verdict);
    throw limited(verdict);
  }

  async function takeTokens(call: Call, cost: number): Promise<void> {
    const { tenantId, standing } = call;
    // The tenant's own first: what one tenant is refused must not be taken from everybody's.
    const rps = ownLimit(tenantRps, standing, "ratelimit.tenant_rps");
    if (rps > 0 && tenantId !== undefined) await take(call, tenantKey(tenantId), rps, cost);
    if (globalRps > 0) await take(call, globalKey, globalRps, cost);
  }

  async function takeAll(call: Call, quota: number | undefined): Promise<void> {
    if (limiter !== undefined) await takeTokens(call, call.operation.tokenCost);
    if (quota !== undefined) await takeQuota(call.tenantId!, "api.call", quota);
  }

  return {
    step: (call, next) => {
      const quota = call.standing?.quotas["api.call"];
      if (limiter === undefined && quota === undefined) return next(call);
      return takeAll(call, quota).then(() => next(call));
    },
    refusal(call) {
      if (spent.size === 0) return undefined;
      const { tokenCost } = call.operation;
      const known =
        (call.tenantId !== undefined && spent.find(tenantKey(call.tenantId), tokenCost)) ||
        spent.find(globalKey, tokenCost);
      if (!known) return undefined;
      tell(call, known.verdict, known.rps);
      return limited(known.verdict);
    },
    chargeBytes(call, bytes) {
      const cost = Math.floor(bytes / bytesPerToken);
      return limiter === undefined || cost === 0 ? undefined : takeTokens(call, cost);
    },
  };
}

const globalKey = "global";

function tenantKey(tenantId: TenantId): string {
  return `tenant:${tenantId}`;
}

/** Says how much is left: the headers that are in use, and beside them those of the IETF. */
function tell({ responseHeaders }: Call, { limit, remaining, resetS }: Verdict, rps: number): void {
  responseHeaders["x-ratelimit-limit"] = String(limit);
  responseHeaders["x-ratelimit-remaining"] = String(remaining);
  responseHeaders["ratelimit-policy"] = `"default";q=${limit};w=${Math.ceil(limit / rps)}`;
  responseHeaders.ratelimit = `"default";r=${remaining};t=${resetS}`;
}

function limited({ retryAfterS }: Verdict): Failure {
  return fail("RATE_LIMITED", {
    public: `Too many requests: try again in ${retryAfterS} s.`,
    headers: { "retry-after": String(retryAfterS) },
  });
}
