import { type Failure, fail } from "../../../errors/index.ts";
import type { Principal, TenantId } from "../../../platform/access/index.ts";
import type { RateLimitDecision, RateLimiter } from "../../../platform/ratelimit/index.ts";
import type { Call, Next } from "../../call.ts";
import { effectiveLimit } from "../tenant.ts";
import { createExhaustedBuckets } from "./exhausted-buckets.ts";
import type { RefusalThrottle } from "./refusal-throttle.ts";

interface Dependencies {
  /** Undefined disables the rate limit. */
  readonly limiter: RateLimiter | undefined;
  /** Tokens per second for the whole instance; 0 means no limit. */
  readonly globalRps: number;
  /** Tokens per second for each tenant; 0 means no limit. */
  readonly tenantRps: number;
  readonly burstS: number;
  readonly throttle: RefusalThrottle;
  /** Charges one call to a tenant's daily quota, or throws. */
  readonly takeQuota: (tenantId: TenantId, operation: string, limit: number) => Promise<unknown>;
}

/** A body costs one additional token for each full 64 KiB. */
const bytesPerToken = 64 * 1024;

export function rateLimit({ limiter, globalRps, tenantRps, burstS, throttle, takeQuota }: Dependencies) {
  const exhausted = createExhaustedBuckets();

  async function take(call: Call, key: string, rps: number, cost: number): Promise<void> {
    const verdict = await limiter!.take(key, cost, { rps, burst: rps * burstS });
    const reported = call.responseHeaders["x-ratelimit-remaining"];
    // The headers report the strictest of the limits.
    if (!verdict.allowed || reported === undefined || verdict.remaining < Number(reported)) {
      setHeaders(call, verdict, rps);
    }
    if (verdict.allowed) return;
    exhausted.add(key, cost, rps, verdict);
    throw limited(verdict);
  }

  async function takeTokens(call: Call, cost: number): Promise<void> {
    const { tenantId, tenantState, principal } = call;
    const keyRps = principal?.maxRps;
    if (keyRps !== undefined) await take(call, keyOf(principal!), limiter!.shareOf(keyRps), cost);
    // The tenant's bucket comes first: a call that it refuses must not consume the shared bucket.
    const rps = effectiveLimit(tenantRps, tenantState, "ratelimit.tenant_rps", limiter!.shareOf);
    if (rps > 0 && tenantId !== undefined) await take(call, tenantKey(tenantId), rps, cost);
    if (globalRps > 0) await take(call, globalKey, globalRps, cost);
  }

  /** The refusal of a call by a bucket that cannot have refilled since it refused another one. */
  function knownRefusal(call: Call): Failure | undefined {
    if (exhausted.size === 0) return undefined;
    const { tokenCost } = call.operation;
    const known =
      (call.principal?.maxRps !== undefined && exhausted.find(keyOf(call.principal), tokenCost)) ||
      (call.tenantId !== undefined && exhausted.find(tenantKey(call.tenantId), tokenCost)) ||
      exhausted.find(globalKey, tokenCost);
    if (!known) return undefined;
    setHeaders(call, known.verdict, known.rps);
    return limited(known.verdict);
  }

  async function takeAll(call: Call, quota: number | undefined): Promise<void> {
    const refusal = knownRefusal(call);
    if (refusal !== undefined) {
      await throttle(call.tenantId ?? "");
      throw refusal;
    }
    if (limiter !== undefined) await takeTokens(call, call.operation.tokenCost);
    if (quota !== undefined) await takeQuota(call.tenantId!, "api.call", quota);
  }

  return {
    /** Step 11: enforces the rate limit (by cost per second) and the daily quota (by number of calls). */
    step: (call: Call, next: Next) => {
      const quota = call.tenantState?.quotas["api.call"];
      if (limiter === undefined && quota === undefined) return next(call);
      return takeAll(call, quota).then(() => next(call));
    },
    /** The refusal of a call with a large body whose bucket is known to be exhausted. It is checked before the body is read. */
    refusal: (call: Call) => (hasLargeBody(call) ? knownRefusal(call) : undefined),
    /** Charges the rate limit for a body's size, or throws. */
    chargeBytes(call: Call, bytes: number) {
      const cost = Math.floor(bytes / bytesPerToken);
      return limiter === undefined || cost === 0 ? undefined : takeTokens(call, cost);
    },
  };
}

/** Whether the body costs tokens itself. A body of unknown length is charged once it was read. */
function hasLargeBody(call: Call): boolean {
  return Number(call.header("content-length")) >= bytesPerToken;
}

const globalKey = "global";

/** The bucket of an API key. */
function keyOf({ tenantId, subject }: Principal): string {
  return `${tenantKey(tenantId)}:${subject}`;
}

function tenantKey(tenantId: TenantId): string {
  return `tenant:${tenantId}`;
}

/** Reports the remaining tokens, in the common X-RateLimit headers and in the IETF draft's headers. */
function setHeaders({ responseHeaders }: Call, { limit, remaining, resetS }: RateLimitDecision, rps: number): void {
  responseHeaders["x-ratelimit-limit"] = String(limit);
  responseHeaders["x-ratelimit-remaining"] = String(remaining);
  responseHeaders["ratelimit-policy"] = `"default";q=${limit};w=${Math.ceil(limit / rps)}`;
  responseHeaders.ratelimit = `"default";r=${remaining};t=${resetS}`;
}

function limited({ retryAfterS }: RateLimitDecision): Failure {
  return fail("RATE_LIMITED", {
    public: `Too many requests. Try again in ${retryAfterS} s.`,
    headers: { "retry-after": String(retryAfterS) },
  });
}
