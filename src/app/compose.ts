import type { Plane } from "../chain/call.ts";
import { composeChain } from "../chain/compose.ts";
import { createExecutor } from "../chain/execute.ts";
import { createAccessRecheck, createChain } from "../chain/order.ts";
import { currentVersion } from "../chain/steps/api-version.ts";
import type { Config } from "../config/index.ts";
import { type Operation, readOperations } from "../definitions/index.ts";
import { createConnectors } from "../modules/connectors/index.ts";
import { createNotifications } from "../modules/notifications/index.ts";
import { createOperations } from "../modules/operations/index.ts";
import { createRouting } from "../modules/routing/index.ts";
import { createTenancy, type Tenant } from "../modules/tenancy/index.ts";
import { grantableScopes } from "../platform/access/index.ts";
import type { Audit } from "../platform/audit/index.ts";
import type { Clock } from "../platform/clock/clock.ts";
import { createCursors } from "../platform/cursor/index.ts";
import { createSignals, createTenantChanges, type Database } from "../platform/db/index.ts";
import { createEgress } from "../platform/egress/index.ts";
import { createJobRunner } from "../platform/jobs/index.ts";
import type { Log } from "../platform/log/log.ts";
import type { RateLimiter } from "../platform/ratelimit/index.ts";
import { createEventLoopShares } from "../platform/scheduling/index.ts";
import type { Metrics, Tracing } from "../platform/telemetry/index.ts";
import { createAuthenticators } from "./authenticators.ts";
import { createCapabilitySources } from "./capabilities.ts";
import { createIdempotencyCleanupJob } from "./idempotency-job.ts";
import { openKeyring } from "./keyring.ts";
import { readInstanceSecret } from "./storage.ts";

/** The open resources that a node is built on. */
export interface Foundation {
  readonly config: Config;
  readonly db: Database;
  /** A small connection pool for reads into memory during calls. */
  readonly side: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly audit: Audit | undefined;
  readonly limiter: RateLimiter | undefined;
  readonly isCacheReachable: (() => Promise<boolean>) | undefined;
  readonly areTracesLost: () => boolean;
}

/** A node's parts, composed but not started. */
export type Node = Awaited<ReturnType<typeof compose>>;

/** Composes the areas into a node. Only this function connects instances of different areas. */
export async function compose(foundation: Foundation) {
  const { config, db, clock, log, metrics } = foundation;
  const signals = createSignals(db);
  const changes = createTenantChanges(db, signals);
  const jobs = createJobRunner({ db, signals, clock, log });
  const keyring = openKeyring(config);
  const egress = createEgress({
    mode: config["egress.mode"],
    allowedDomains: config["egress.allowed_domains"],
    allowedIpNets: config["egress.allowed_ip_nets"],
    log,
    metrics,
    clock,
  });
  const definitions = readOperations();
  const operationsOf = (plane: Plane): readonly Operation[] =>
    plane === "internal" ? definitions : definitions.filter(({ governance }) => !governance.internalOnly);
  let platform: Tenant | undefined;
  const parts = {
    ...foundation,
    signals,
    changes,
    shares: createEventLoopShares(),
    jobs,
    cursors: createCursors(await readInstanceSecret(db.sql, "cursor_secret")),
    keyring,
    egress,
    platformTenantId: () => platform!.id,
  };

  const operations = createOperations({
    ...parts,
    discovery: {
      capabilities: createCapabilitySources({ ...foundation, keyring }),
      operationsOf,
      apiVersion: currentVersion,
    },
  });
  const { events } = operations;
  const connectors = createConnectors({
    ...parts,
    events,
    check: (providerKey, settings, credentials) =>
      notifications.providers.check(providerKey, undefined, settings, credentials),
  });
  const { connections } = connectors;
  const tenancy = createTenancy({
    ...parts,
    events,
    scopes: grantableScopes(definitions.flatMap(({ scopes }) => scopes)),
    sealed: [...operations.sealed, ...connectors.sealed],
  });
  const { tenants, members, apiKeys, secrets } = tenancy;
  const routing = createRouting({
    ...parts,
    events,
    admissionSecret: await readInstanceSecret(db.sql, "admission_secret"),
    secret: async (sql, tenantId, name) => (await secrets.read(sql, tenantId, name))?.value,
  });
  const notifications = createNotifications({ ...parts, events, connections, quotas: tenants.quotas });

  const areas = [tenancy, connectors, routing, notifications, operations];
  const ttlHours = config["idempotency.ttl_hours"];
  for (const kind of [
    ...areas.flatMap((area) => area.jobs),
    createIdempotencyCleanupJob({ ...parts, sql: db.sql, ttlHours }),
  ]) {
    jobs.register(kind);
  }

  const deprecatedCalls = metrics.counter({
    name: "deprecated_calls_total",
    help: "Calls to deprecated operations.",
    labels: ["operation"],
  });
  const takeQuota = tenants.quotas.take;
  const chainParts = {
    ...foundation,
    authenticators: createAuthenticators({ ...parts, apiKeys: apiKeys.verifier, members }),
    readTenantState: tenants.readTenantState,
    takeQuota,
    observeDeprecated: (operation: string) => deprecatedCalls.inc({ operation }),
  };
  const execute = createExecutor(definitions, {
    ...parts,
    handlers: Object.assign({}, ...areas.map((area) => area.handlers)),
    takeQuota,
    timeoutMs: config["api.request_timeout_s"] * 1000,
    recheckAccess: {
      external: createAccessRecheck("external", chainParts),
      internal: createAccessRecheck("internal", chainParts),
    },
    fingerprintSecret: (await readInstanceSecret(db.sql, "fingerprint_secret")).toString("base64"),
  });

  return {
    ...{ signals, changes, jobs, egress, operationsOf, tenancy, routing, notifications, operations },
    /** Background loops, in start order. */
    workers: [jobs, ...areas.flatMap((area) => area.workers)],
    invoke: {
      external: composeChain(createChain("external", chainParts), execute),
      internal: composeChain(createChain("internal", chainParts), execute),
    },
    /** Loads the platform tenant. The first start creates it. */
    async loadPlatformTenant(): Promise<Tenant> {
      platform = await tenants.ensurePlatform();
      return platform;
    },
  };
}
