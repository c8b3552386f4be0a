import { currentVersion } from "../chain/api-version.ts";
import type { Plane, ServiceHandlers } from "../chain/call.ts";
import { composeChain } from "../chain/compose.ts";
import { execution } from "../chain/execute.ts";
import { chainOf, recheckOf } from "../chain/order.ts";
import type { Config } from "../config/index.ts";
import { type Operation, readOperations } from "../definitions/index.ts";
import { createApiKeys } from "../modules/api-keys/index.ts";
import { createDiscovery } from "../modules/discovery/index.ts";
import { createDynamicConfig } from "../modules/dynamic-config/index.ts";
import { createEnvironments } from "../modules/environments/index.ts";
import { createEvents } from "../modules/events/index.ts";
import { createMembers } from "../modules/members/index.ts";
import { createSecrets } from "../modules/secrets/index.ts";
import { createTenants, type Tenant } from "../modules/tenants/index.ts";
import type { Audit } from "../platform/audit/index.ts";
import type { Clock } from "../platform/clock/clock.ts";
import { createCursors } from "../platform/cursor/index.ts";
import { createSignals, createTenantChanges, type Database } from "../platform/db/index.ts";
import { createJobRunner } from "../platform/jobs/index.ts";
import type { Log } from "../platform/log/log.ts";
import type { RateLimiter } from "../platform/ratelimit/index.ts";
import type { Metrics, Tracing } from "../platform/telemetry/index.ts";
import { authenticatorsOf } from "./authenticators.ts";
import { capabilitiesOf } from "./capabilities.ts";
import { idempotencyJob } from "./idempotency-job.ts";
import { keyringOf } from "./keyring.ts";
import { instanceSecret } from "./storage.ts";

/** What the parts of a node stand on; everything here is open already. */
export interface Foundation {
  readonly config: Config;
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly audit: Audit | undefined;
  readonly limiter: RateLimiter | undefined;
  readonly cacheAnswers: (() => Promise<boolean>) | undefined;
  readonly tracesLost: () => boolean;
}

/** A node's parts, wired together and not started yet. */
export type Node = Awaited<ReturnType<typeof compose>>;

/** Builds every part of a node and hands each what it needs. This is the only place where parts meet. */
export async function compose(foundation: Foundation) {
  const { config, db, clock, log, metrics } = foundation;
  const signals = createSignals(db);
  const changes = createTenantChanges(db, signals);
  const jobs = createJobRunner({ db, signals, clock, log });
  const cursors = createCursors(await instanceSecret(db.sql, "cursor_secret"));
  const keyring = keyringOf(config);
  const operations = readOperations();
  const operationsOf = (plane: Plane): readonly Operation[] =>
    plane === "internal" ? operations : operations.filter(({ governance }) => !governance.internalOnly);

  let platform: Tenant | undefined;
  const platformTenantId = () => platform!.id;

  const events = createEvents({
    db,
    signals,
    cursors,
    clock,
    retentionDays: config["events.retention_days"],
    ownSettings: config["dynamic_config.enabled"],
    platformTenantId,
  });
  const { recorder } = events;
  const environments = createEnvironments({ events: recorder, cursors });
  const apiKeys = createApiKeys({
    db,
    clock,
    cursors,
    log,
    changes,
    events: recorder,
    bcryptCost: config["auth.bcrypt_cost"],
  });
  const tenants = createTenants({
    db,
    clock,
    cursors,
    changes,
    events: recorder,
    apiKeys,
    environments,
    purgeAfterDays: config["tenant.purge_after_days"],
    ownSettings: config["dynamic_config.enabled"],
  });
  const members = createMembers({ db, changes, events: recorder, cursors });
  const secrets = createSecrets({ db, keyring, events: recorder, cursors, platformTenantId });
  const dynamicConfig = createDynamicConfig({
    instance: { "events.retention_days": config["events.retention_days"] },
    enabled: config["dynamic_config.enabled"],
    changes,
    events: recorder,
    cursors,
  });
  const discovery = createDiscovery({
    capabilities: capabilitiesOf({
      config,
      keyring,
      cacheAnswers: foundation.cacheAnswers,
      tracesLost: foundation.tracesLost,
    }),
    operationsOf,
    apiVersion: currentVersion,
    cursors,
  });

  const handlers: Record<string, ServiceHandlers> = {
    "service.api.TenantService": tenants.handlers,
    "service.api.EnvironmentService": environments.handlers,
    "service.api.MemberService": members.handlers,
    "service.api.ApiKeyService": apiKeys.handlers,
    "service.api.SecretService": secrets.handlers,
    "service.api.ConfigService": dynamicConfig.handlers,
    "service.api.EventService": events.handlers,
    "service.api.DiscoveryService": discovery.handlers,
  };
  for (const kind of [
    ...tenants.jobs,
    ...events.jobs,
    ...secrets.jobs,
    idempotencyJob({ sql: db.sql, clock, ttlHours: config["idempotency.ttl_hours"], platformTenantId }),
  ]) {
    jobs.register(kind);
  }

  const deprecatedCalls = metrics.counter({
    name: "deprecated_calls_total",
    help: "Calls of deprecated operations.",
    labels: ["operation"],
  });
  const chainParts = {
    ...foundation,
    authenticators: authenticatorsOf({ config, apiKeys: apiKeys.verifier, members, platformTenantId }),
    standings: tenants.standings,
    takeQuota: tenants.quotas.take,
    observeDeprecated: (operation: string) => deprecatedCalls.inc({ operation }),
  };
  const execute = execution(operations, {
    db,
    clock,
    keyring,
    handlers,
    timeoutMs: config["api.request_timeout_s"] * 1000,
    recheck: { external: recheckOf("external", chainParts), internal: recheckOf("internal", chainParts) },
    fingerprintSecret: (await instanceSecret(db.sql, "fingerprint_secret")).toString("base64"),
  });

  return {
    signals,
    changes,
    jobs,
    apiKeys,
    events,
    secrets,
    operationsOf,
    invoke: {
      external: composeChain(chainOf("external", chainParts), execute),
      internal: composeChain(chainOf("internal", chainParts), execute),
    },
    /** Makes sure that there is a platform tenant to start from; answers with it. */
    async settle(): Promise<Tenant> {
      platform = await tenants.ensurePlatform();
      return platform;
    },
  };
}
