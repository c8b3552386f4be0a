import type { Config } from "../config/index.ts";
import { fail } from "../errors/index.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { Audit } from "../platform/audit/index.ts";
import type { Log } from "../platform/log/log.ts";
import type { RateLimiter } from "../platform/ratelimit/index.ts";
import type { Metrics, Tracing } from "../platform/telemetry/index.ts";
import type { Call, Interceptor, Plane } from "./call.ts";
import { composeChain } from "./compose.ts";
import type { EntitlementCheck } from "./entitlement.ts";
import type { FindKeyedRecords } from "./reference-correction.ts";
import { apiVersion } from "./steps/api-version.ts";
import { type Authenticator, authentication } from "./steps/authentication.ts";
import { authorization, scopesAndRoles } from "./steps/authorization.ts";
import { bodyDecoder } from "./steps/body-decoder.ts";
import { createChallenge } from "./steps/challenge.ts";
import { deprecation } from "./steps/deprecation.ts";
import { errorMask } from "./steps/error-mask.ts";
import { concurrency } from "./steps/limits/concurrency.ts";
import { rateLimit } from "./steps/limits/rate-limit.ts";
import { createRefusalThrottle } from "./steps/limits/refusal-throttle.ts";
import { recovery } from "./steps/recovery.ts";
import { requestId } from "./steps/request-id.ts";
import { slowRequest } from "./steps/slow-request.ts";
import { statusMap } from "./steps/status-map.ts";
import { telemetry } from "./steps/telemetry.ts";
import { tenantExtraction } from "./steps/tenant.ts";
import { validation } from "./steps/validation.ts";
import type { TenantStateReader } from "./tenant-state.ts";

/** The dependencies of the steps. */
export interface ChainParts {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly audit: Audit | undefined;
  readonly authenticators: Readonly<Record<Plane, readonly Authenticator[]>>;
  readonly readTenantState: TenantStateReader;
  /** Undefined if entitlements are not checked at all. */
  readonly checkEntitlement?: EntitlementCheck | undefined;
  readonly limiter: RateLimiter | undefined;
  readonly takeQuota: (tenantId: TenantId, operation: string, limit: number) => Promise<unknown>;
  readonly observeDeprecated: (operation: string) => void;
  readonly findKeyedRecords: FindKeyedRecords;
}

/** Creates a plane's chain, outermost step first. The order is part of the contract. The internal plane has no rate limit and no quota. */
export function createChain(plane: Plane, parts: ChainParts): readonly Interceptor[] {
  const { config, log } = parts;
  const [authenticate, authorize, extractTenant] = accessSteps(plane, parts);
  const places = concurrency({
    global: config["api.max_concurrent_requests"],
    perTenant: config["api.max_concurrent_requests_per_tenant"],
  });
  const throttle = createRefusalThrottle({ perSecond: 100, delayMsMax: 1000, delayedMax: 5000 });
  const rate = plane === "internal" ? undefined : rateLimit({ ...rateLimitParts(parts), throttle });
  return [
    recovery(log, createChallenge(plane, config), parts.findKeyedRecords),
    telemetry({ calls: parts.metrics.calls, tracing: parts.tracing, audit: parts.audit }),
    requestId(),
    apiVersion(),
    authenticate,
    authorize,
    extractTenant,
    deprecation(config["api.sunset_dates"], parts.observeDeprecated),
    // ---- the steps above need only the method and the headers; the body is read and parsed here ----
    bodyDecoder({
      refusals: rate === undefined ? [places.refusal] : [places.refusal, rate.refusal],
      throttle,
      chargeBytes: rate?.chargeBytes,
      bodyBytesMax: config["api.max_request_body_size"],
      recheckAccess: createAccessRecheck(plane, parts),
    }),
    validation(),
    places.step,
    ...(rate === undefined ? [] : [rate.step]),
    errorMask(log),
    statusMap(),
    slowRequest(config["api.slow_request_ms"], log),
  ];
}

/** The steps that decide whether a caller may make a call. */
function accessSteps(plane: Plane, { config, authenticators, readTenantState, checkEntitlement }: ChainParts) {
  const authorizer = config["authz.provider"] === "builtin" ? scopesAndRoles : undefined;
  return [
    authentication(authenticators[plane], createChallenge(plane, config)),
    authorization(authorizer, config["authz.allow_when_unconfigured"], checkEntitlement),
    tenantExtraction(readTenantState),
  ] as const;
}

/** Creates a check that repeats the access steps for a running call and rejects if the call would be refused now. */
export function createAccessRecheck(plane: Plane, parts: ChainParts): (call: Call) => Promise<void> {
  const { checkEntitlement } = parts;
  const recheckEntitlement: EntitlementCheck | undefined =
    checkEntitlement && ((tenantId, operation) => checkEntitlement(tenantId, operation, { isRepeated: true }));
  const steps = accessSteps(plane, { ...parts, checkEntitlement: recheckEntitlement });
  const check = composeChain(steps, (call) => Promise.resolve(call.message!));
  return async (call) => {
    const before = call.principal?.environmentMode;
    await check(call);
    // The handler has read data for the previous mode.
    if (call.principal?.environmentMode !== before) {
      throw fail("PERMISSION_DENIED", {
        public: "The caller's environment mode changed during the call. Send the request again.",
      });
    }
  };
}

function rateLimitParts({ config, limiter, takeQuota }: ChainParts) {
  return {
    limiter,
    takeQuota,
    globalRps: config["ratelimit.global_rps"],
    tenantRps: config["ratelimit.tenant_rps"],
    burstS: config["ratelimit.burst_s"],
  };
}
