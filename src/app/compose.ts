import { currentVersion } from "../chain/api-version.ts";
import type { Plane, ServiceHandlers } from "../chain/call.ts";
import { composeChain } from "../chain/compose.ts";
import { execution } from "../chain/execute.ts";
import { accessRecheck, chainOf } from "../chain/order.ts";
import type { Config } from "../config/index.ts";
import { type Operation, readOperations } from "../definitions/index.ts";
import { createAnomalies } from "../modules/anomaly/index.ts";
import { createApiKeys } from "../modules/api-keys/index.ts";
import { createConnectors } from "../modules/connectors/index.ts";
import { createDeadLetters } from "../modules/dead-letters/index.ts";
import { createDiscovery } from "../modules/discovery/index.ts";
import { createDynamicConfig } from "../modules/dynamic-config/index.ts";
import { createEnvironments } from "../modules/environments/index.ts";
import { createEvents } from "../modules/events/index.ts";
import { createIntegrations } from "../modules/integrations/index.ts";
import { createLayouts } from "../modules/layouts/index.ts";
import { createMembers } from "../modules/members/index.ts";
import { createNotifications } from "../modules/notifications/index.ts";
import { createPools, storedLoads, storedWork } from "../modules/pools/index.ts";
import { compiledTemplate, createPreferences, storedLayout } from "../modules/preferences/index.ts";
import { createProviders } from "../modules/providers/index.ts";
import { createAdmissionKeys, createQueues } from "../modules/queues/index.ts";
import { createAcceptance, createLivePools, createOutcomeSink, createRouting } from "../modules/routing/index.ts";
import { createSecrets } from "../modules/secrets/index.ts";
import { createSubscribers } from "../modules/subscribers/index.ts";
import { createTenants, type Tenant } from "../modules/tenants/index.ts";
import { createTopics } from "../modules/topics/index.ts";
import { createWebhooks } from "../modules/webhooks/index.ts";
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
import { authenticatorsOf } from "./authenticators.ts";
import { capabilitiesOf } from "./capabilities.ts";
import { idempotencyJob } from "./idempotency-job.ts";
import { keyringOf } from "./keyring.ts";
import { instanceSecret } from "./storage.ts";

/** What the parts of a node stand on; everything here is open already. */
export interface Foundation {
  readonly config: Config;
  readonly db: Database;
  /** A few connections for what is read into memory in the middle of calls. */
  readonly side: Database;
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
  const { config, db, side, clock, log, metrics } = foundation;
  const signals = createSignals(db);
  const shares = createEventLoopShares();
  const changes = createTenantChanges(db, signals);
  const jobs = createJobRunner({ db, signals, clock, log });
  const cursors = createCursors(await instanceSecret(db.sql, "cursor_secret"));
  const keyring = keyringOf(config);
  const egress = createEgress({
    mode: config["egress.mode"],
    allowedDomains: config["egress.allowed_domains"],
    allowedIpNets: config["egress.allowed_ip_nets"],
    log,
    metrics,
    clock,
  });
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
    scopes: grantableScopes(operations.flatMap(({ scopes }) => scopes)),
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
  const webhooks = createWebhooks({
    db,
    signals,
    cursors,
    clock,
    log,
    metrics,
    keyring,
    egress,
    events,
    retentionDays: config["webhooks.retention_days"],
    platformTenantId,
    wakeJobs: () => jobs.wake(),
  });
  const providers = createProviders({ egress, clock, log });
  const connectors = createConnectors({
    db,
    side,
    clock,
    cursors,
    changes,
    keyring,
    events: recorder,
    check: (providerKey, settings, credentials) => providers.check(providerKey, undefined, settings, credentials),
  });
  const integrations = createIntegrations({ side, cursors, changes, events: recorder, connectors, providers });
  const secrets = createSecrets({
    db,
    keyring,
    events: recorder,
    cursors,
    platformTenantId,
    furtherTables: [webhooks.sealed, connectors.sealed],
  });
  const pools = createPools({
    db: side,
    changes,
    events: recorder,
    cursors,
    loads: storedLoads,
    hasWork: storedWork,
    urlRefusal: egress.urlRefusal,
  });
  const live = createLivePools({ db, clock, log, events: recorder });
  const keys = createAdmissionKeys(await instanceSecret(db.sql, "admission_secret"));
  const deadLetters = createDeadLetters({
    sql: db.sql,
    clock,
    cursors,
    platformTenantId,
    events: recorder,
    pools,
    wake: (tenantId, poolId) => queues.wakeReady(tenantId, poolId),
    readmission: () => queues.readmission,
  });
  const queues = createQueues({
    db,
    clock,
    log,
    signals,
    cursors,
    events: recorder,
    pools,
    deadLetters,
    keys,
    shares,
    outcomes: createOutcomeSink(live),
    acceptable: createAcceptance({ live, clock, shares }),
    egress,
    secret: async (sql, tenantId, name) => (await secrets.read(sql, tenantId, name))?.value,
    onReady: (tenantId, poolId) => routing.assigning.itemReady(tenantId, poolId),
    retentionHours: config["queue.ended_retention_hours"],
    platformTenantId,
  });
  const routing = createRouting({
    db,
    signals,
    changes,
    shares,
    clock,
    log,
    cursors,
    events: recorder,
    pools,
    queues,
    live,
    assignPollMs: config["routing.assign_poll_ms"],
    retentionDays: config["routing.retention_days"],
    platformTenantId,
  });
  const subscribers = createSubscribers({ events: recorder, cursors, checkConnection: integrations.checkConnection });
  const topics = createTopics({ sql: db.sql, clock, cursors, events: recorder, subscribers, platformTenantId });
  const preferences = createPreferences({
    db: side,
    changes,
    events: recorder,
    cursors,
    subscribers,
    checkTemplate: compiledTemplate,
    hasLayout: storedLayout,
  });
  const layouts = createLayouts({ side, cursors, changes, events: recorder, usesOf: preferences.layoutUses });
  const notifications = createNotifications({
    db,
    signals,
    shares,
    cursors,
    clock,
    log,
    metrics,
    events: recorder,
    subscribers,
    topics,
    preferences,
    layouts,
    integrations,
    connectors,
    providers,
    quotas: tenants.quotas,
    settings: {
      enabled: config["notification.dispatch.enabled"],
      queue: config["notification.dispatch.queue"],
      verifiedOnly: config["notification.verified_endpoints_only"],
      outbox: config["notification.outbox.enabled"],
      payloadRetentionDays: config["notification.payload_retention_days"],
      retentionDays: config["notification.retention_days"],
    },
    platformTenantId,
  });
  const anomalies = createAnomalies({ db, clock, log, shares, events: recorder, pools, cursors, platformTenantId });
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
    "service.api.WebhookService": webhooks.handlers,
    "service.api.ConnectionService": connectors.handlers,
    "service.api.IntegrationService": integrations.handlers,
    "service.api.PoolService": pools.handlers.pools,
    "service.api.RecipientService": pools.handlers.recipients,
    "service.api.RuleService": pools.handlers.rules,
    "service.api.RoutingService": routing.handlers.routing,
    "service.api.OutcomeService": routing.handlers.outcomes,
    "service.api.QueueService": queues.handlers.queues,
    "service.api.WorkService": queues.handlers.work,
    "service.api.AdmissionService": queues.handlers.admission,
    "service.api.DeadLetterService": deadLetters.handlers,
    "service.api.AnomalyService": anomalies.handlers,
    "service.api.SubscriberService": {
      ...subscribers.handlers,
      ...topics.handlers.subscriptions,
      ...preferences.handlers.subscribers,
    },
    "service.api.NotificationWorkflowService": preferences.handlers.workflows,
    "service.api.TopicService": topics.handlers.topics,
    "service.api.LayoutService": layouts.handlers,
    "service.api.NotificationService": notifications.handlers.notifications,
    "service.api.InboxService": notifications.handlers.inbox,
    "service.api.OutboxService": notifications.handlers.outbox,
    "service.api.DiscoveryService": discovery.handlers,
  };
  for (const kind of [
    ...tenants.jobs,
    ...events.jobs,
    ...secrets.jobs,
    ...webhooks.jobs,
    ...deadLetters.jobs,
    ...anomalies.jobs,
    ...queues.jobs,
    ...routing.jobs,
    ...topics.jobs,
    ...notifications.jobs,
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
    authenticators: authenticatorsOf({ config, clock, apiKeys: apiKeys.verifier, members, platformTenantId }),
    standings: tenants.standings,
    takeQuota: tenants.quotas.take,
    observeDeprecated: (operation: string) => deprecatedCalls.inc({ operation }),
  };
  const execute = execution(operations, {
    db,
    clock,
    keyring,
    handlers,
    takeQuota: tenants.quotas.take,
    timeoutMs: config["api.request_timeout_s"] * 1000,
    recheckAccess: { external: accessRecheck("external", chainParts), internal: accessRecheck("internal", chainParts) },
    fingerprintSecret: (await instanceSecret(db.sql, "fingerprint_secret")).toString("base64"),
  });

  return {
    signals,
    changes,
    jobs,
    apiKeys,
    events,
    secrets,
    webhooks,
    egress,
    providers,
    live,
    queues,
    routing,
    notifications,
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
