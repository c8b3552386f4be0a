import type { Config } from "../config/index.ts";
import type { TenantId } from "../platform/access/index.ts";
import type { Audit } from "../platform/audit/index.ts";
import type { Log } from "../platform/log/log.ts";
import type { RateLimiter } from "../platform/ratelimit/index.ts";
import type { Metrics, Tracing } from "../platform/telemetry/index.ts";
import { apiVersion } from "./api-version.ts";
import { type Authenticator, authentication } from "./authentication.ts";
import { authorization, scopesAndRoles } from "./authorization.ts";
import type { Interceptor, Plane } from "./call.ts";
import { concurrency } from "./concurrency.ts";
import { decoding } from "./decoding.ts";
import { deprecation } from "./deprecation.ts";
import { errorMasking } from "./error-masking.ts";
import { rateLimit } from "./rate-limit.ts";
import { recovery } from "./recovery.ts";
import { requestId } from "./request-id.ts";
import { slowRequest } from "./slow-request.ts";
import { statusMapping } from "./status-mapping.ts";
import { telemetry } from "./telemetry.ts";
import { type TenantStandings, tenantExtraction } from "./tenant.ts";
import { validation } from "./validation.ts";

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
  readonly takeQuota: (tenantId: TenantId, operation: string, limit: number) => Promise<void>;
  readonly observeDeprecated: (operation: string) => void;
}

/** The chain of a plane, outermost first. The order is part of the contract; only the internal plane has no rate limit. */
export function chainOf(plane: Plane, parts: ChainParts): readonly Interceptor[] {
  const { config, log } = parts;
  return [
    recovery(log),
    telemetry({ calls: parts.metrics.calls, tracing: parts.tracing, audit: parts.audit }),
    requestId(),
    apiVersion(),
    authentication(parts.authenticators[plane]),
    authorization(
      config["authz.provider"] === "builtin" ? scopesAndRoles : undefined,
      config["authz.allow_when_unconfigured"],
    ),
    tenantExtraction(parts.standings),
    deprecation(config["api.sunset_dates"], parts.observeDeprecated),
    // ---- up to here method and headers are enough; here the body is read and parsed ----
    decoding(),
    validation(),
    concurrency({
      global: config["api.max_concurrent_requests"],
      perTenant: config["api.max_concurrent_requests_per_tenant"],
    }),
    ...(plane === "internal" ? [] : [rateLimit(rateLimitParts(parts))]),
    errorMasking(log),
    statusMapping(),
    slowRequest(config["api.slow_request_ms"], log),
  ];
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
