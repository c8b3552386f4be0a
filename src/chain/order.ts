import type { Config } from "../config/index.ts";
import { fail } from "../errors/index.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { Audit } from "../platform/audit/index.ts";
import type { Log } from "../platform/log/log.ts";
import type { RateLimiter } from "../platform/ratelimit/index.ts";
import type { Metrics, Tracing } from "../platform/telemetry/index.ts";
import type { Call, Interceptor, Plane } from "./call.ts";
import { composeChain } from "./compose.ts";
import { apiVersion } from "./steps/api-version.ts";
import { type Authenticator, authentication } from "./steps/authentication.ts";
import { authorization, scopesAndRoles } from "./steps/authorization.ts";
import { decoding } from "./steps/body-decoder.ts";
import { challengeOf } from "./steps/challenge.ts";
import { deprecation } from "./steps/deprecation.ts";
import { errorMasking } from "./steps/error-mask.ts";
import { concurrency } from "./steps/limits/concurrency.ts";
import { rateLimit } from "./steps/limits/rate-limit.ts";
import { refusalPace } from "./steps/limits/refusal-pace.ts";
import { recovery } from "./steps/recovery.ts";
import { requestId } from "./steps/request-id.ts";
import { slowRequest } from "./steps/slow-request.ts";
import { statusMapping } from "./steps/status-map.ts";
import { telemetry } from "./steps/telemetry.ts";
import { tenantExtraction } from "./steps/tenant.ts";
import { validation } from "./steps/validation.ts";
import type { TenantStandings } from "./tenant-standing.ts";

/** What the steps stand on. */
export interface ChainParts {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly audit: Audit | undefined;
  readonly authenticators: Readonly<Record<Plane, readonly Authenticator[]>>;
  readonly standings: TenantStandings;
  readonly limiter: RateLimiter | undefined;
  readonly takeQuota: (tenantId: TenantId, operation: string, limit: number) => Promise<unknown>;
  readonly observeDeprecated: (operation: string) => void;
}

/** The chain of a plane, outermost first. The order is part of the contract; only the internal plane has no rate limit and counts against no quota. */
export function chainOf(plane: Plane, parts: ChainParts): readonly Interceptor[] {
  const { config, log } = parts;
  const [authenticate, authorize, extractTenant] = accessSteps(plane, parts);
  const places = concurrency({
    global: config["api.max_concurrent_requests"],
    perTenant: config["api.max_concurrent_requests_per_tenant"],
  });
  const rate = plane === "internal" ? undefined : rateLimit(rateLimitParts(parts));
  return [
    recovery(log, challengeOf(plane, config)),
    telemetry({ calls: parts.metrics.calls, tracing: parts.tracing, audit: parts.audit }),
    requestId(),
    apiVersion(),
    authenticate,
    authorize,
    extractTenant,
    deprecation(config["api.sunset_dates"], parts.observeDeprecated),
    // ---- up to here method and headers are enough; here the body is read and parsed ----
    decoding({
      refusals: rate === undefined ? [places.refusal] : [places.refusal, rate.refusal],
      pace: refusalPace({ perSecond: 100, heldMsMax: 1000, heldMax: 5000 }),
      chargeBytes: rate?.chargeBytes,
      bodyBytesMax: config["api.max_request_body_size"],
    }),
    validation(),
    places.step,
    ...(rate === undefined ? [] : [rate.step]),
    errorMasking(log),
    statusMapping(),
    slowRequest(config["api.slow_request_ms"], log),
  ];
}

/** The steps that decide whether a caller may make a call at all. */
function accessSteps(plane: Plane, { config, authenticators, standings }: ChainParts) {
  const authorizer = config["authz.provider"] === "builtin" ? scopesAndRoles : undefined;
  return [
    authentication(authenticators[plane], challengeOf(plane, config)),
    authorization(authorizer, config["authz.allow_when_unconfigured"]),
    tenantExtraction(standings),
  ] as const;
}

/** Checks the access of a call that is under way once more; rejects when the call would be refused now. */
export function accessRecheck(plane: Plane, parts: ChainParts): (call: Call) => Promise<void> {
  const check = composeChain(accessSteps(plane, parts), (call) => Promise.resolve(call.message!));
  return async (call) => {
    const before = call.principal?.environmentMode;
    await check(call);
    // What the handler has read so far was chosen for the mode that the caller had then.
    if (call.principal?.environmentMode !== before) {
      throw fail("PERMISSION_DENIED", { public: "The caller's environment mode changed: repeat the call." });
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
